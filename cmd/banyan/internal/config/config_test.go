package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan/internal/errs"
)

func env(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func value(t *testing.T, set *Set, k Key) Value {
	t.Helper()
	for _, v := range set.Values() {
		if v.Key == k {
			return v
		}
	}
	t.Fatalf("no value for %s", k)
	return Value{}
}

func TestPrecedence(t *testing.T) {
	path := writeFile(t, "# mine\nlisten: 127.0.0.1:1\nidle: 1m # short\nnode = 'from file'\nallow_local: true\n")
	set, err := Load(Source{
		Flags: map[Key]string{Listen: "127.0.0.1:3"},
		Env: env(map[string]string{
			"BANYAN_CONFIG": path, "BANYAN_LISTEN": "127.0.0.1:2", "BANYAN_IDLE": "2m", "BANYAN_NODE": "", "HOME": "/home/u",
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []Value{
		{Listen, "127.0.0.1:3", "flag --listen"},
		{Idle, "2m", "environment BANYAN_IDLE"},
		{Node, "from file", "file " + path + ":4"},
		{AllowLocal, "true", "file " + path + ":5"},
		{AllowDegraded, "false", "default"},
		{Data, "/home/u/.local/share/banyan", "default"},
	} {
		if got := value(t, set, want.Key); got != want {
			t.Errorf("%s = %+v; want %+v", want.Key, got, want)
		}
	}
	if !set.Chosen(Idle) || set.Chosen(AllowDegraded) {
		t.Error("Chosen does not tell a set value from a default")
	}
	if set.Duration(Idle) != 2*time.Minute || !set.Bool(AllowLocal) || set.Int(MaxParents) != 0 {
		t.Error("typed values differ from the text")
	}
}

func TestDefaultPlaces(t *testing.T) {
	for _, tc := range []struct {
		name string
		env  map[string]string
		root bool
		data string
		file string
	}{
		{"home", map[string]string{"HOME": "/h"}, false, "/h/.local/share/banyan", "/h/.config/banyan/config.yaml"},
		{"xdg", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c"}, false, "/d/banyan", "/c/banyan/config.yaml"},
		{"relative xdg is ignored", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "d"}, false, "/h/.local/share/banyan", "/h/.config/banyan/config.yaml"},
		{"superuser", map[string]string{"HOME": "/home/su"}, true, "/var/lib/banyan", "/etc/banyan/config.yaml"},
		{"superuser with xdg", map[string]string{"XDG_DATA_HOME": "/d"}, true, "/d/banyan", "/etc/banyan/config.yaml"},
		{"no home", nil, false, "", ""},
	} {
		src := Source{Env: env(tc.env), Root: tc.root}
		if got := defaultData(src); got != tc.data {
			t.Errorf("%s: data = %q; want %q", tc.name, got, tc.data)
		}
		if got := defaultFile(src); got != tc.file {
			t.Errorf("%s: file = %q; want %q", tc.name, got, tc.file)
		}
	}
}

func TestBadFilesAreRefusedWithTheLine(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"unknown key", "listen: a:1\nlissten: b\n", ":2|there is no setting \"lissten\""},
		{"twice", "node: a\nnode: b\n", ":2|already set on line 1"},
		{"nested", "node: a\n  listen: x\n", ":2|not nested"},
		{"no separator", "listen\n", ":1|not of the form"},
		{"no key", ": x\n", ":1|not of the form"},
		{"bool", "allow_local: yes\n", ":1|neither true nor false"},
		{"count", "max_parents: 0\n", ":1|between 1 and"},
		{"duration", "idle: 30\n", ":1|not a duration"},
		{"duration bound", "idle: 8000h\n", ":1|not between"},
		{"url", "url: ftp://x\n", ":1|does not begin with"},
		{"url with password", "url: http://me:secret@host\n", ":1|not of the form"},
		{"url with path", "url: http://host/x\n", ":1|not of the form"},
		{"unix without path", "url: unix://host\n", ":1|not of the form"},
		{"open quote", "node: \"x\n", ":1|does not end"},
		{"behind the quote", "node: \"x\" y\n", ":1|text behind"},
		{"yaml list", "node: [a]\n", ":1|reserves"},
		{"control character", "node: a\x01b\n", ":1|control character"},
		{"level", "log_level: loud\n", ":1|not one of"},
	} {
		_, err := Load(Source{File: writeFile(t, tc.text), Env: env(nil)})
		if errs.KindOf(err) != errs.Invalid {
			t.Errorf("%s: error = %v; want an invalid one", tc.name, err)
			continue
		}
		line, text, _ := strings.Cut(tc.want, "|")
		parts := partsOf(t, err)
		if len(parts) != 1 || !strings.HasSuffix(parts[0].Pointer, line) || !strings.Contains(parts[0].Detail, text) {
			t.Errorf("%s: parts = %v; want %s", tc.name, parts, tc.want)
		}
		if strings.Contains(err.Error()+parts[0].Detail, "secret") {
			t.Errorf("%s: the error shows a password", tc.name)
		}
	}
}

func partsOf(t *testing.T, err error) []errs.Part {
	t.Helper()
	var e *errs.Error
	if !errors.As(err, &e) {
		t.Fatalf("%T is not an *errs.Error", err)
	}
	return e.Parts
}

func TestNamedFileHasToExist(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.yaml")
	for _, src := range []Source{
		{File: missing, Env: env(nil)},
		{Env: env(map[string]string{"BANYAN_CONFIG": missing})},
		{File: t.TempDir(), Env: env(nil)},
	} {
		if _, err := Load(src); errs.KindOf(err) != errs.Invalid {
			t.Errorf("error = %v; want an invalid one", err)
		}
	}
	if _, err := Load(Source{Env: env(map[string]string{"HOME": t.TempDir()})}); err != nil {
		t.Errorf("without a file in the usual place: %v", err)
	}
}

func TestFileIsBounded(t *testing.T) {
	for name, text := range map[string]string{
		"many lines":    strings.Repeat("# x\n", MaxFile/4+1),
		"one long line": strings.Repeat("x", MaxFile+1),
	} {
		if _, err := Load(Source{File: writeFile(t, text), Env: env(nil)}); errs.KindOf(err) != errs.TooLarge {
			t.Errorf("%s: error = %v; want too large", name, err)
		}
	}
}

func TestBadEnvironmentAndFlagsNameTheirOrigin(t *testing.T) {
	_, err := Load(Source{Env: env(map[string]string{"BANYAN_MAX_RUNNING": "many"})})
	if err == nil || !strings.Contains(err.Error(), "environment BANYAN_MAX_RUNNING") {
		t.Errorf("error = %v", err)
	}
	_, err = Load(Source{Flags: map[Key]string{URL: "nonsense"}, Env: env(nil)})
	if err == nil || !strings.Contains(err.Error(), "flag --url") {
		t.Errorf("error = %v", err)
	}
}

func TestParseValue(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a": "a", "a # c": "a", "a#b": "a#b", "# c": "", `"a # b"`: "a # b", `'it' # c`: "it", `"C:\x"`: `C:\x`, `""`: "",
	} {
		if got, err := parseValue(in); err != nil || got != want {
			t.Errorf("parseValue(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
}

// Every key has a sentence of help, a flag and a variable of its own.
func TestKeysAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range specs {
		if Help(s.key) == "" || s.check == nil || seen[s.key.Env()] {
			t.Errorf("%s is incomplete or there twice", s.key)
		}
		seen[s.key.Env()] = true
	}
	if diff := cmp.Diff("allow-local BANYAN_ALLOW_LOCAL", AllowLocal.Flag()+" "+AllowLocal.Env()); diff != "" {
		t.Error(diff)
	}
}

// No text makes the parser panic, and what it accepts is a list of known keys.
func FuzzParseFile(f *testing.F) {
	for _, seed := range []string{"", "node: a\n", "node = 'x'", "---\n#\n", ":", "=", "\x00", "idle: 1m #x", "node:\"", "\xff: \xfe"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseFile("f", data)
		if err != nil {
			return
		}
		for k, e := range entries {
			if Help(k) == "" || e.line < 1 {
				t.Fatalf("%q: key %q on line %d", data, k, e.line)
			}
		}
	})
}
