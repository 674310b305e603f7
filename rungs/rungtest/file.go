package rungtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
)

// fileCases are about files given to a job and brought back from it.
var fileCases = []testCase{
	{"B26_BadNamesStartNothing", nil, b26Bad},
	{"B26_GoodNamesAreReadable", nil, b26Good},
	{"FilesOfTheLastJobAreGone", nil, filesGone},
	{"Artifacts", nil, artifacts},
	{"ArtifactsAreBounded", nil, artifactBounds},
}

func b26Bad(t *testing.T, s *suite) {
	sentinel := filepath.Join(t.TempDir(), "sentinel")
	if err := os.WriteFile(sentinel, []byte("as it was"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := s.plain(t)
	before := p.Stats().Forks
	for _, names := range [][]string{
		{"../x"}, {sentinel}, {"a/../../x"}, {".."}, {"."}, {""}, {"a\x00b"}, {strings.Repeat("n", 300)}, {"d", "d/x"}, {"d/"}, {"x\ny"},
	} {
		job := Job("print('ran')")
		for _, n := range names {
			job.Files = append(job.Files, rungs.File{Path: n, Data: []byte("new")})
		}
		c, err := p.Fork(t.Context(), job)
		if err == nil {
			t.Errorf("%q started: %s", names, show(wait(t, c)))
			continue
		}
		if errs.KindOf(err) != errs.Invalid || !strings.Contains(errs.Public(err), "file ") {
			t.Errorf("%q: %v", names, err)
		}
	}
	if after := p.Stats().Forks; after != before {
		t.Errorf("%d jobs were started", after-before)
	}
	if b, err := os.ReadFile(sentinel); err != nil || string(b) != "as it was" {
		t.Errorf("the sentinel is %q, %v", b, err)
	}
}

func b26Good(t *testing.T, s *suite) {
	names := []string{"dir/a.py", "a b.txt", "ünï.txt", "..hidden", "a..b", "back\\slash", "-rf", "d/e/f/g", strings.Repeat("n", 255)}
	job := Job("import sys\nfor n in sys.argv[1:]:\n    print(ascii(n), open(n).read())\nimport os\nprint(oct(os.stat('run.sh').st_mode & 0o777), os.stat('big').st_size, os.stat('empty').st_size)")
	var want strings.Builder
	for i, n := range names {
		text := strings.Repeat("t", i+1)
		job.Files = append(job.Files, rungs.File{Path: n, Data: []byte(text)})
		job.Args = append(job.Args, n)
		want.WriteString(pyASCII(n) + " " + text + "\n")
	}
	job.Files = append(job.Files,
		rungs.File{Path: "run.sh", Mode: 0o755},
		rungs.File{Path: "big", Data: make([]byte, 3_000_000)},
		rungs.File{Path: "empty"})
	wantOutput(t, run(t, s.plain(t), job), want.String()+"0o755 3000000 0\n")
	// And a job's own modules can be imported.
	job = Job("import mine\nprint(mine.x)")
	job.Files = []rungs.File{{Path: "mine.py", Data: []byte("x = 5\n")}}
	wantOutput(t, run(t, s.plain(t), job), "5\n")
}

// pyASCII is Python's ascii() of a name without quotes and control characters.
func pyASCII(s string) string {
	r := strings.NewReplacer("ü", "\\xfc", "ï", "\\xef", "\\", "\\\\")
	return "'" + r.Replace(s) + "'"
}

func filesGone(t *testing.T, s *suite) {
	job := Job("open('made', 'w').write('x')\nimport os\nprint(sorted(os.listdir('.')))")
	job.Files = []rungs.File{{Path: "given"}}
	wantOutput(t, run(t, s.plain(t), job), "['given', 'made']\n")
	wantOutput(t, runCode(t, s.plain(t), "import os\nprint(os.listdir('.'))"), "[]\n")
}

func artifacts(t *testing.T, s *suite) {
	secret := filepath.Join(t.TempDir(), "secret.png")
	if err := os.WriteFile(secret, []byte("host"), 0o644); err != nil {
		t.Fatal(err)
	}
	job := Job(`
import os, sys
os.makedirs('plots/deep'); os.mkdir('dir.png')
open('a.png', 'wb').write(b'\x89PNG')
open('plots/b.png', 'wb').write(b'x' * 700_000)
open('plots/deep/c.png', 'wb')
open('not.txt', 'w').write('no')
os.symlink(sys.argv[1], 'link.png')
os.symlink('a.png', 'inner.png')
os.symlink(os.path.dirname(sys.argv[1]), 'plots/out')
os.mkfifo('pipe.png')
`)
	job.Args = []string{secret}
	job.Artifacts = []string{"*.png", "plots/**/*.png"}
	r := run(t, s.plain(t), job)
	wantStatus(t, r, rungs.StatusOK)
	got := map[string]int{}
	for _, a := range r.Artifacts {
		got[a.Path] = len(a.Data)
	}
	for path, size := range map[string]int{"a.png": 4, "plots/b.png": 700_000, "plots/deep/c.png": 0} {
		if n, ok := got[path]; !ok || n != size {
			t.Errorf("%s: %d bytes, there %v", path, n, ok)
		}
	}
	if len(got) != 3 {
		t.Errorf("artifacts %v", got)
	}
	for _, name := range []string{"link.png", "inner.png", "pipe.png"} {
		if !slices.ContainsFunc(r.Skipped, func(s string) bool { return strings.HasPrefix(s, name+":") }) {
			t.Errorf("%s is not named among %q", name, r.Skipped)
		}
	}
	// A job that fails brings back what it has.
	job = Job("open('a.png', 'w').write('x')\n1/0")
	job.Artifacts = []string{"*.png"}
	if r := run(t, s.plain(t), job); r.Status != rungs.StatusError || len(r.Artifacts) != 1 {
		t.Errorf("%d artifacts of a job that failed; %s", len(r.Artifacts), show(r))
	}
}

func artifactBounds(t *testing.T, s *suite) {
	job := Job("for i in range(500): open('f%03d' % i, 'w').write('x')\nopen('big', 'wb').truncate(60_000_000)")
	job.Artifacts = []string{"*"}
	r := run(t, s.plain(t), job)
	wantStatus(t, r, rungs.StatusOK)
	var total int
	for _, a := range r.Artifacts {
		total += len(a.Data)
	}
	if n := len(r.Artifacts); n == 0 || n > 256 || total > 64<<20 || len(r.Skipped) == 0 || len(r.Skipped) > 256 {
		t.Errorf("%d artifacts, %d bytes, %d left behind", n, total, len(r.Skipped))
	}
	job = Job("pass")
	job.Artifacts = []string{"../*"}
	if _, err := s.plain(t).Fork(t.Context(), job); errs.KindOf(err) != errs.Invalid {
		t.Errorf("a pattern that leaves the work directory: %v", err)
	}
}
