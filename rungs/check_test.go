package rungs_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
)

func wantInvalid(t *testing.T, err error, texts ...string) {
	t.Helper()
	if errs.KindOf(err) != errs.Invalid || err == nil {
		t.Fatalf("error = %v, want Invalid", err)
	}
	for _, text := range texts {
		if !strings.Contains(errs.Public(err), text) {
			t.Errorf("error %q does not say %q", errs.Public(err), text)
		}
	}
}

func files(paths ...string) []rungs.File {
	fs := make([]rungs.File, len(paths))
	for i, p := range paths {
		fs[i] = rungs.File{Path: p, Data: []byte("x")}
	}
	return fs
}

func TestB26_FileNamesThatAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		paths []string
		says  string
	}{
		"parent":            {[]string{"../x"}, `"../x"`},
		"absolute":          {[]string{"/abs"}, `"/abs"`},
		"parent inside":     {[]string{"a/../../x"}, `"a/../../x"`},
		"parent harmless":   {[]string{"a/../x"}, `"a/../x"`},
		"dot dot":           {[]string{".."}, `".."`},
		"dot":               {[]string{"."}, `"."`},
		"dot first":         {[]string{"./x"}, `"./x"`},
		"empty":             {[]string{""}, `""`},
		"NUL":               {[]string{"a\x00b"}, `"a\x00b"`},
		"newline":           {[]string{"a\nb"}, `"a\nb"`},
		"delete":            {[]string{"a\x7fb"}, "control"},
		"C1 control":        {[]string{"a\u0085b"}, "control"},
		"not UTF-8":         {[]string{"a\xffb"}, "UTF-8"},
		"trailing slash":    {[]string{"d/"}, `"d/"`},
		"double slash":      {[]string{"d//x"}, `"d//x"`},
		"long name":         {[]string{strings.Repeat("n", 300)}, "nnnn"},
		"name of 256":       {[]string{"d/" + strings.Repeat("n", 256)}, "256 bytes"},
		"long path":         {[]string{strings.Repeat("d/", 600) + "x"}, "d/d/"},
		"deep":              {[]string{strings.Repeat("d/", 16) + "x"}, "levels deep"},
		"twice":             {[]string{"a", "b", "a"}, `"a" is given twice`},
		"file is directory": {[]string{"d", "d/x"}, `"d/x"`},
		"other order":       {[]string{"d/x/y", "d"}, `"d/x/y"`},
		"far above":         {[]string{"d", "d-", "d/x/y/z"}, `"d/x/y/z"`},
	} {
		t.Run(name, func(t *testing.T) {
			wantInvalid(t, rungs.CheckFiles(files(tt.paths...)), tt.says)
		})
	}
}

func TestB26_FileNamesThatAreGood(t *testing.T) {
	good := []string{
		"dir/a.py", "a b.txt", "ünï.txt", "..hidden", "a..b", "...", "back\\slash", "-rf", "~", "$HOME",
		strings.Repeat("n", 255), strings.Repeat("e/", 15) + "x", "dir/b", "dir2/a.py", "d", "d-", "漢字/😀",
	}
	if err := rungs.CheckFiles(files(good...)); err != nil {
		t.Errorf("CheckFiles = %v", err)
	}
	for _, p := range good {
		if err := rungs.CheckPath(p); err != nil {
			t.Errorf("CheckPath(%q) = %v", p, err)
		}
	}
}

func TestCheckFilesBounds(t *testing.T) {
	many := make([]rungs.File, rungs.MaxFiles+1)
	for i := range many {
		many[i].Path = fmt.Sprint("f", i)
	}
	wantInvalid(t, rungs.CheckFiles(many), "1025 files")
	if err := rungs.CheckFiles(many[1:]); err != nil {
		t.Errorf("%d files: %v", rungs.MaxFiles, err)
	}
	half := make([]byte, rungs.MaxFileBytes/2)
	two := []rungs.File{{Path: "small", Data: half}, {Path: "large", Data: half}}
	if err := rungs.CheckFiles(two); err != nil {
		t.Errorf("just the bound: %v", err)
	}
	two[1].Data = append(half, 0)
	wantInvalid(t, rungs.CheckFiles(two), `"large"`, "67108865")
	wantInvalid(t, rungs.CheckFiles([]rungs.File{{Path: "x", Mode: 0o4755}}), `"x"`, "mode")
}

func TestErrorsAreBounded(t *testing.T) {
	bad := make([]rungs.File, rungs.MaxFiles)
	for i := range bad {
		bad[i].Path = "/" + strings.Repeat("x", 900) + fmt.Sprint(i)
	}
	var e *errs.Error
	if err := rungs.CheckFiles(bad); !errors.As(err, &e) {
		t.Fatalf("error = %v", err)
	}
	if len(e.Parts) != 16 || len(e.Msg) > 300 || !strings.Contains(e.Msg, "1023 more") {
		t.Errorf("%d parts, sentence %q", len(e.Parts), e.Msg)
	}
	if e.Parts[3].Pointer != "/files/3/path" {
		t.Errorf("pointer %q", e.Parts[3].Pointer)
	}
}

func TestCheckPathNeverLeavesTheDirectory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"..", ".", "", "a", "b c", "..x", "\\", "\x00", "é", "/"})).Draw(t, "parts")
		p := strings.Join(parts, "/")
		if rungs.CheckPath(p) != nil {
			return
		}
		if p == "" || p[0] == '/' || strings.HasSuffix(p, "/") || strings.Contains("/"+p+"/", "/../") || strings.Contains("/"+p+"/", "/./") || strings.Contains(p, "//") {
			t.Fatalf("%q was accepted", p)
		}
	})
}

func TestCheckArgs(t *testing.T) {
	for _, ok := range [][]string{nil, {""}, {"-x", "a b", "ü", "--"}, {strings.Repeat("a", rungs.MaxArgBytes)}} {
		if err := rungs.CheckArgs(ok); err != nil {
			t.Errorf("CheckArgs: %v", err)
		}
	}
	wantInvalid(t, rungs.CheckArgs([]string{"a", "b\x00"}), "argument 2", "NUL")
	wantInvalid(t, rungs.CheckArgs([]string{"\xff"}), "argument 1", "UTF-8")
	wantInvalid(t, rungs.CheckArgs([]string{strings.Repeat("a", rungs.MaxArgBytes+1)}), "argument 1")
	wantInvalid(t, rungs.CheckArgs(make([]string, rungs.MaxArgs+1)), "257 arguments")
	big := strings.Repeat("a", rungs.MaxArgBytes)
	wantInvalid(t, rungs.CheckArgs([]string{big, big, big, big, "a"}), "together")
}

func TestCheckEnv(t *testing.T) {
	ok := map[string]string{"A": "", "PATH": "/x:/y", "ü": "=\n\t", "lower.case-1": strings.Repeat("v", rungs.MaxEnvValueBytes)}
	if err := rungs.CheckEnv(ok); err != nil {
		t.Errorf("CheckEnv: %v", err)
	}
	for name, value := range map[string]string{"": "x", "A=B": "x", "A\x00": "x", "A\n": "x", "\xff": "x", "A": "\x00", "B": "\xff", "C": strings.Repeat("v", rungs.MaxEnvValueBytes+1), strings.Repeat("N", 257): ""} {
		wantInvalid(t, rungs.CheckEnv(map[string]string{name: value}), "environment variable")
	}
	many := map[string]string{}
	for i := range rungs.MaxEnv + 1 {
		many[fmt.Sprint("V", i)] = "x"
	}
	wantInvalid(t, rungs.CheckEnv(many), "257")
	large := map[string]string{}
	for i := range 9 {
		large[fmt.Sprint("V", i)] = strings.Repeat("v", rungs.MaxEnvValueBytes)
	}
	wantInvalid(t, rungs.CheckEnv(large), "bytes")
}

func TestCheckPatterns(t *testing.T) {
	if err := rungs.CheckPatterns([]string{"*.png", "out/**", "**/x.csv", "a[0-9]?", "plain"}); err != nil {
		t.Errorf("CheckPatterns: %v", err)
	}
	for _, bad := range []string{"", "/etc/*", "../*", "a/../*", "[", "a\x00", "**/a/**", "a/"} {
		wantInvalid(t, rungs.CheckPatterns([]string{bad}), "artifact pattern")
	}
	// Patterns that path.Match takes, or would take whole, and that regular
	// expressions made of them may not: none may make a rung fail.
	for _, bad := range []string{"[b-a]", "x[^z-a]*", "a/[é-à]", "[/]", "[a/b]", `[\d]`, `[a-\d]`, `[\w-z]`, `\[[b-a]`, "[a[9-0]"} {
		wantInvalid(t, rungs.CheckPatterns([]string{bad}), "artifact pattern")
	}
	for _, good := range []string{"[a-a]", `[\]]`, `[\--a]`, `[\^]`, "[a[]", `\[b-a]`, "[^0-9a-f]?", `\d`} {
		if err := rungs.CheckPatterns([]string{good}); err != nil {
			t.Errorf("CheckPatterns(%q): %v", good, err)
		}
	}
	wantInvalid(t, rungs.CheckPatterns(make([]string, rungs.MaxPatterns+1)), "65")
}

func TestMatchArtifact(t *testing.T) {
	for _, tt := range []struct {
		pattern, path string
		want          bool
	}{
		{"*.png", "a.png", true},
		{"*.png", "d/a.png", false},
		{"d/*.png", "d/a.png", true},
		{"**/*.png", "a.png", true},
		{"**/*.png", "d/e/a.png", true},
		{"d/**", "d/e/f", true},
		{"d/**", "d", true},
		{"d/**", "e/f", false},
		{"d/**/x", "d/x", true},
		{"d/**/x", "d/a/b/x", true},
		{"d/**/x", "d/a/b/y", false},
		{"a?", "a/", false},
		{"x", "x", true},
	} {
		if got := rungs.MatchArtifact(tt.pattern, tt.path); got != tt.want {
			t.Errorf("MatchArtifact(%q, %q) = %v", tt.pattern, tt.path, got)
		}
	}
}

func TestLimits(t *testing.T) {
	want := rungs.Limits{
		Wall: 30 * time.Second, CPU: 30 * time.Second, MemoryBytes: 512 << 20,
		PIDs: 64, OutputBytes: 1 << 20, FilesBytes: 64 << 20,
	}
	if diff := cmp.Diff(want, rungs.Limits{}.WithDefaults()); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	own := rungs.Limits{Wall: 1, CPU: 2, MemoryBytes: 3, PIDs: 4, OutputBytes: 5, FilesBytes: 6}
	if got := own.WithDefaults(); got != own {
		t.Errorf("WithDefaults changed %+v to %+v", own, got)
	}
	for _, ok := range []rungs.Limits{{}, want, {Wall: rungs.MaxWall, CPU: rungs.MaxCPU, MemoryBytes: rungs.MaxMemoryBytes, PIDs: 1, OutputBytes: 1, FilesBytes: rungs.MaxFilesBytes}} {
		if err := ok.Validate(); err != nil {
			t.Errorf("%+v: %v", ok, err)
		}
	}
	for name, bad := range map[string]rungs.Limits{
		"wall":         {Wall: -1},
		"cpu":          {CPU: rungs.MaxCPU + 1},
		"memory_bytes": {MemoryBytes: 1},
		"pids":         {PIDs: -1},
		"output_bytes": {OutputBytes: rungs.MaxOutputBytes + 1},
		"files_bytes":  {FilesBytes: 1},
	} {
		wantInvalid(t, bad.Validate(), "limit "+name+" ")
	}
}

func goodJob() rungs.Job { return rungs.Job{ID: ontology.NewRunID(), Code: "print(1)"} }

func TestJobValidate(t *testing.T) {
	if err := goodJob().Validate(); err != nil {
		t.Fatalf("a good job: %v", err)
	}
	for name, breakIt := range map[string]func(*rungs.Job){
		"run id":           func(j *rungs.Job) { j.ID = "ex_../../x" },
		"code":             func(j *rungs.Job) { j.Code = "\xff" },
		"bytes":            func(j *rungs.Job) { j.Code = strings.Repeat("#", rungs.MaxCodeBytes+1) },
		"standard input":   func(j *rungs.Job) { j.Stdin = make([]byte, rungs.MaxStdinBytes+1) },
		"argument":         func(j *rungs.Job) { j.Args = []string{"\x00"} },
		"environment":      func(j *rungs.Job) { j.Env = map[string]string{"=": ""} },
		`"../x"`:           func(j *rungs.Job) { j.Files = files("../x") },
		"artifact pattern": func(j *rungs.Job) { j.Artifacts = []string{"/x"} },
		"limit wall":       func(j *rungs.Job) { j.Limits.Wall = -1 },
		"files_bytes": func(j *rungs.Job) {
			j.Limits.FilesBytes = rungs.MinFilesBytes
			j.Files = []rungs.File{{Path: "x", Data: make([]byte, rungs.MinFilesBytes+1)}}
		},
	} {
		j := goodJob()
		breakIt(&j)
		wantInvalid(t, j.Validate(), name)
	}
	all := goodJob()
	all.Files, all.Args = files("..", "ok", "/x"), []string{"\x00"}
	var e *errs.Error
	if err := all.Validate(); !errors.As(err, &e) || len(e.Parts) != 3 {
		t.Errorf("error = %#v, want three parts", err)
	}
}

func goodSpec() rungs.Spec {
	return rungs.Spec{
		Runtime: rungs.Runtime{ID: "python-3.11", Language: "python", Executable: "/usr/bin/python3"},
		Modules: []rungs.Module{{Capability: "x:numpy", ImportName: "numpy.linalg", Version: "1.24.2"}},
	}
}

func TestSpecValidate(t *testing.T) {
	bare := goodSpec()
	bare.Runtime.Executable = "python3"
	for _, ok := range []rungs.Spec{goodSpec(), bare} {
		if err := ok.Validate(); err != nil {
			t.Fatalf("a good spec: %v", err)
		}
	}
	for name, breakIt := range map[string]func(*rungs.Spec){
		"runtime id":      func(s *rungs.Spec) { s.Runtime.ID = "" },
		"language":        func(s *rungs.Spec) { s.Runtime.Language = "a/b" },
		"no usable":       func(s *rungs.Spec) { s.Runtime.Executable = "" },
		"bare name":       func(s *rungs.Spec) { s.Runtime.Executable = "bin/python" },
		"neither an":      func(s *rungs.Spec) { s.Runtime.Executable = "/usr/../bin/python" },
		"argument":        func(s *rungs.Spec) { s.Runtime.Args = []string{"\x00"} },
		"not a module":    func(s *rungs.Spec) { s.Modules[0].ImportName = "os;import x" },
		`"os@1" is not a`: func(s *rungs.Spec) { s.Modules[0].ImportName = "os@1" },
		"not a version":   func(s *rungs.Spec) { s.Modules[0].Version = "1 2" },
		"set-up code":     func(s *rungs.Spec) { s.Setup = "\xff" },
		"environment":     func(s *rungs.Spec) { s.Env = map[string]string{"": ""} },
		"257 modules":     func(s *rungs.Spec) { s.Modules = make([]rungs.Module, 257) },
	} {
		s := goodSpec()
		breakIt(&s)
		wantInvalid(t, s.Validate(), name)
	}
}
