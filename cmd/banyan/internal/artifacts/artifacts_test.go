package artifacts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-ff860830/banyan/internal/errs"
)

func one(name, text string) []File { return []File{{Path: name, Data: []byte(text)}} }

func wantFile(t *testing.T, path, text string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != text {
		t.Errorf("%s = %q, %v; want %q", path, got, err, text)
	}
}

// wantOnly fails if dir holds anything but the names.
func wantOnly(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("%s holds %v; want %v", dir, got, names)
	}
}

func TestWriteMakesFoldersAndReplaces(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "out")
	files := []File{{"plot.png", []byte("\x00\xff")}, {"a/b/c.txt", []byte("1")}, {"a/d.txt", nil}}
	if err := Write(dir, files); err != nil {
		t.Fatal(err)
	}
	wantFile(t, filepath.Join(dir, "plot.png"), "\x00\xff")
	wantFile(t, filepath.Join(dir, "a/b/c.txt"), "1")
	wantFile(t, filepath.Join(dir, "a/d.txt"), "")
	if err := Write(dir, one("a/b/c.txt", "2")); err != nil {
		t.Fatal(err)
	}
	wantFile(t, filepath.Join(dir, "a/b/c.txt"), "2")
	wantOnly(t, dir, "a", "plot.png")
	wantOnly(t, filepath.Join(dir, "a"), "b", "d.txt")
}

var badNames = []string{
	"", ".", "..", "../x", "a/../../x", "/etc/passwd", "a//b", "a/", "./a", "a/./b", `..\x`, `a\b`, "C:x",
	"a\x00b", "a\nb", "\x1b[31m", "a\xffb", strings.Repeat("x", 201), strings.Repeat("d/", 40) + "x",
}

func TestBadNamesWriteNothing(t *testing.T) {
	for _, name := range badNames {
		base := t.TempDir()
		dir := filepath.Join(base, "out")
		err := Write(dir, []File{{"good", []byte("x")}, {name, []byte("x")}})
		if errs.KindOf(err) != errs.Denied {
			t.Errorf("Write(%q) = %v; want it denied", name, err)
		}
		wantOnly(t, base)
	}
	if err := Write(t.TempDir(), append(one("a", ""), one("a", "")...)); errs.KindOf(err) != errs.Invalid {
		t.Errorf("a name that is there twice: %v", err)
	}
}

func TestLinksAreNeverFollowed(t *testing.T) {
	outside := t.TempDir()
	victim := filepath.Join(outside, "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ link, target, write string }{
		{"x", victim, "x"},        // the file itself
		{"x", "nowhere", "x"},     // dangling
		{"d", outside, "d/y"},     // a folder on the way, outside
		{"d", "inside", "d/y"},    // a folder on the way, inside
		{"x", "inside/file", "x"}, // the file itself, inside
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "inside"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(tc.target, filepath.Join(dir, tc.link)); err != nil {
			t.Fatal(err)
		}
		if err := Write(dir, one(tc.write, "evil")); errs.KindOf(err) != errs.Denied {
			t.Errorf("%+v: %v; want it denied", tc, err)
		}
		wantOnly(t, filepath.Join(dir, "inside"))
	}
	wantFile(t, victim, "precious")
	wantOnly(t, outside, "victim")
}

func TestWhatIsNoFileIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir, one("a/b", "x")); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, one("a", "x")); errs.KindOf(err) != errs.Denied {
		t.Errorf("a file over a folder: %v", err)
	}
	if err := Write(dir, one("a/b/c", "x")); errs.KindOf(err) != errs.Denied {
		t.Errorf("a folder over a file: %v", err)
	}
	wantFile(t, filepath.Join(dir, "a/b"), "x")
}

// A hard link's other name keeps its contents, since the file is replaced and
// not written into.
func TestHardLinksKeepTheirContents(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(other, filepath.Join(dir, "x")); err != nil {
		t.Skip("no hard links between these folders: ", err)
	}
	if err := Write(dir, one("x", "new")); err != nil {
		t.Fatal(err)
	}
	wantFile(t, other, "precious")
	wantFile(t, filepath.Join(dir, "x"), "new")
}

// Whatever the name, nothing appears outside the folder; and a name that is
// accepted is there afterwards.
func TestNothingIsWrittenOutside(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		elem := rapid.SampledFrom([]string{"a", "b", "..", ".", "", "/", "c d", "é", "\x00", "…", "..a"})
		name := strings.Join(rapid.SliceOfN(elem, 1, 6).Draw(t, "elements"), "/")
		parent, err := os.MkdirTemp(base, "case")
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(parent, "out")
		werr := Write(dir, one(name, "x"))
		entries, err := os.ReadDir(parent)
		if err != nil || len(entries) > 1 || len(entries) == 1 && entries[0].Name() != "out" {
			t.Fatalf("%q left %v, %v", name, entries, err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, name)); werr == nil && (err != nil || string(got) != "x") {
			t.Fatalf("%q was accepted but is %q, %v", name, got, err)
		}
	})
}
