package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
)

func writes(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// names returns what is in a folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

func TestWriteWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "b")
	content := func(want string) {
		t.Helper()
		if got, err := os.ReadFile(path); string(got) != want || err != nil {
			t.Errorf("the file is %q, %v; want %q", got, err, want)
		}
	}
	if err := writeWhole(path, false, writes("one")); err != nil {
		t.Fatal(err)
	}
	content("one")
	if st, err := os.Stat(path); err != nil || st.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read it: %v, %v", st.Mode(), err)
	}
	if err := writeWhole(path, false, writes("two")); errs.KindOf(err) != errs.Conflict {
		t.Errorf("over a file: %v", err)
	}
	content("one")
	broke := errs.New(errs.Unavailable, "broke off")
	for _, force := range []bool{false, true} {
		err := writeWhole(filepath.Join(dir, map[bool]string{false: "new", true: "b"}[force]), force, func(w io.Writer) error {
			_ = writes("half")(w)
			return broke
		})
		if !errors.Is(err, broke) {
			t.Errorf("half a file: %v", err)
		}
	}
	content("one")
	if err := writeWhole(path, true, writes("two")); err != nil {
		t.Fatal(err)
	}
	content("two")
	// One that came to be there while the other was written stays.
	other := filepath.Join(dir, "c")
	err := writeWhole(other, false, func(w io.Writer) error { return os.WriteFile(other, []byte("theirs"), 0o600) })
	if got, _ := os.ReadFile(other); errs.KindOf(err) != errs.Conflict || string(got) != "theirs" {
		t.Errorf("a race: %v, %q", err, got)
	}
	if got := names(t, dir); got != "b c" {
		t.Errorf("the folder holds %q", got)
	}
}

func TestWriteWholeRefuses(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	target := filepath.Join(dir, "target")
	if err := os.WriteFile(target, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	for path, kind := range map[string]errs.Kind{dir: errs.Invalid, os.DevNull: errs.Invalid, filepath.Join(dir, "no", "x"): errs.Unavailable, filepath.Join(target, "x"): errs.Unavailable} {
		if err := writeWhole(path, true, writes("y")); errs.KindOf(err) != kind {
			t.Errorf("%s: %v", path, err)
		}
	}
	if st, err := os.Stat(os.DevNull); err != nil || st.Mode().IsRegular() {
		t.Fatalf("%s is %v, %v", os.DevNull, st, err)
	}
	if err := writeWhole(link, true, writes("y")); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(target); string(got) != "y" {
		t.Errorf("behind the link is %q", got)
	}
	if st, err := os.Lstat(link); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", st.Mode(), err)
	}
}

func TestBackupPrints(t *testing.T) {
	ta := newTestApp(t)
	path := filepath.Join(t.TempDir(), "b")
	if out := ta.wantRun(t, "backup", path); !strings.Contains(out, " triples, ") || !strings.Contains(out, ", commit ") {
		t.Errorf("on a terminal: %q", out)
	}
	opened := ta.opened
	if code := ta.run(t, "backup", path); code != 1 || ta.opened != opened {
		t.Errorf("exit code %d, %d engines for nothing", code, ta.opened-opened)
	}
	ta.tty = false
	out := ta.wantRun(t, "backup", "-")
	m := kg.NewBackupMeter(io.Discard)
	if _, err := io.WriteString(m, out); err != nil {
		t.Fatal(err)
	}
	if rep, err := m.Report(); err != nil || !strings.Contains(ta.err.String(), backupText(rep)) {
		t.Errorf("to standard output: %v, %s", err, ta.err.String())
	}
	data := filepath.Join(t.TempDir(), "data")
	ta.tty = true
	if out := ta.wantRun(t, "restore", path, "--data", data); !strings.HasPrefix(out, "restored ") {
		t.Errorf("restored: %q", out)
	}
	if out := ta.wantRun(t, "restore", "--force", path, "--data", data); !strings.Contains(out, "the former store is kept in graph.before-") {
		t.Errorf("restored again: %q", out)
	}
}
