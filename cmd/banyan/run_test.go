package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
)

func TestExitCodes(t *testing.T) {
	for _, tc := range []struct {
		status rungs.Status
		code   int
		want   int
	}{
		{rungs.StatusOK, 0, 0},
		{rungs.StatusError, 1, 1},
		{rungs.StatusExit, 42, 42},
		{rungs.StatusTimeout, 137, 124},
		{rungs.StatusMemory, 137, 137},
		{rungs.StatusKilled, 0, 137},
		{rungs.StatusOutput, 137, 137},
		{rungs.StatusSignal, 139, 139},
		// What never comes from a rung must not look like success either.
		{rungs.StatusError, 0, 1},
		{rungs.StatusExit, 256, 1},
		{rungs.StatusExit, -1, 255},
		{"from-the-future", 0, 1},
	} {
		if got := exitCode(&banyan.Result{Status: tc.status, ExitCode: tc.code}); got != tc.want {
			t.Errorf("%s %d gives %d; want %d", tc.status, tc.code, got, tc.want)
		}
	}
}

func TestEndIsExplainedOnTerminalsOnly(t *testing.T) {
	ta := newTestApp(t)
	if code := ta.run(t, "run", "-c", "end timeout 137"); code != 124 || !strings.Contains(ta.err.String(), "time ran out") {
		t.Errorf("exit code %d, stderr %q", code, ta.err.String())
	}
	ta.errTTY = false
	ta.vars["BANYAN_HINTS"] = "false"
	if code := ta.run(t, "run", "-c", "end timeout 137"); code != 124 || ta.err.Len() != 0 {
		t.Errorf("exit code %d, stderr %q; want the job's own, nothing", code, ta.err.String())
	}
}

func TestOwnEngineSaysOnceThatNothingStaysWarm(t *testing.T) {
	ta := newTestApp(t)
	ta.errTTY = false
	ta.wantRun(t, "run", "-c", "print x")
	if n := strings.Count(ta.err.String(), "nothing stays warm"); n != 1 || ta.opened != 1 || !ta.eng.closed {
		t.Errorf("said %d times, opened %d, closed %t", n, ta.opened, ta.eng.closed)
	}
}

func TestSignalsEndWithTheirCode(t *testing.T) {
	ta := newTestApp(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(signalError{syscall.SIGTERM})
	if code := ta.runContext(ctx, "run", "-c", "wait"); code != 143 || !strings.Contains(ta.err.String(), "interrupted") {
		t.Errorf("exit code %d, stderr %q", code, ta.err.String())
	}
	if !ta.eng.closed {
		t.Error("the engine was not closed")
	}
}

func TestReadingStandardInputCanBeInterrupted(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ta := newTestApp(t)
	ta.stdin = r
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(signalError{syscall.SIGINT})
	if code := ta.runContext(ctx, "run", "-"); code != 130 {
		t.Errorf("exit code %d; want 130", code)
	}
}

func TestInputsAreBounded(t *testing.T) {
	ta := newTestApp(t)
	big := filepath.Join(t.TempDir(), "big")
	if err := os.WriteFile(big, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, maxFiles+1); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", big}, {"run", "-c", "x", "--stdin", big}, {"run", "-c", "x", "--file", big}} {
		if code := ta.run(t, args...); code != errs.TooLarge.ExitCode() || !strings.Contains(ta.err.String(), "too large") {
			t.Errorf("%v: exit code %d, %s", args, code, ta.err.String())
		}
	}
	ta.stdin = bytes.NewReader(make([]byte, maxCode+1))
	if code := ta.run(t, "run", "-"); code != errs.TooLarge.ExitCode() {
		t.Errorf("standard input: exit code %d", code)
	}
	half := filepath.Join(t.TempDir(), "half")
	if err := os.WriteFile(half, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(half, maxFiles/2+1); err != nil {
		t.Fatal(err)
	}
	if _, err := readFiles([]string{half, half + "=other"}); errs.KindOf(err) != errs.TooLarge {
		t.Errorf("two files that are too large together: %v", err)
	}
}

// JSON has no bytes: what is not UTF-8 is refused and never changed silently.
func TestWhatIsNoTextIsRefused(t *testing.T) {
	ta := newTestApp(t)
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("a\xff"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"run", bad},
		{"run", "-c", "x\xff"},
		{"run", "-c", "x", "--stdin", bad},
		{"run", "-c", "x", "--arg", "\xff"},
		{"run", "-c", "x", "--env", "A=\xff"},
		{"run", "-c", "x", "--need", "\xff"},
	} {
		if code := ta.run(t, args...); code != 2 || !strings.Contains(ta.err.String(), "UTF-8") {
			t.Errorf("%q: exit code %d, %s", args, code, ta.err.String())
		}
	}
	out := ta.wantRun(t, "run", "-c", "echo-job", "--file", bad+"=b.bin")
	if !strings.Contains(out, `"files":[{"path":"b.bin","base64":"Yf8="}]`) {
		t.Errorf("a file of bytes arrives as %s", out)
	}
}

func TestExecutableFilesStayExecutable(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(tool, []byte("#!"), 0o700); err != nil {
		t.Fatal(err)
	}
	files, err := readFiles([]string{tool})
	if err != nil || files[0].Mode != 0o755 || files[0].Path != "tool" {
		t.Errorf("files = %+v, %v", files, err)
	}
}

func TestSplitFile(t *testing.T) {
	for in, want := range map[string][2]string{
		"a.csv": {"a.csv", "a.csv"}, "d/a.csv": {"d/a.csv", "a.csv"}, "a=b": {"a", "b"}, "a=b=c": {"a=b", "c"}, "=b": {"=b", "=b"}, "a=": {"a=", "a="},
	} {
		if path, name := splitFile(in); path != want[0] || name != want[1] {
			t.Errorf("splitFile(%q) = %q, %q", in, path, name)
		}
	}
}

func TestArtifactsThatDidNotArriveWholeAreRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	for _, f := range []banyan.Artifact{{Path: "a", Bytes: 5, Base64: "bGVmdA=="}, {Path: "a", Bytes: 4, Base64: "???"}} {
		if err := writeArtifacts(dir, []banyan.Artifact{f}); errs.KindOf(err) != errs.Unavailable {
			t.Errorf("%+v: %v", f, err)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Error("something was written")
	}
}

func TestRunOptions(t *testing.T) {
	var got *runOptions
	ta := newTestApp(t)
	cmd := newRunCmd(ta.app, func(_ context.Context, o *runOptions) error { got = o; return nil })
	cmd.SetArgs([]string{"x.py", "--need", "a,b", "--need", " c ", "--arg", "p,q", "--json", "--artifacts", "*", "--pids", "3"})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got.job.file != "x.py" || strings.Join(got.job.need.names(), "|") != "a|b|c" || got.job.args[0] != "p,q" || !got.json || got.job.pids != 3 {
		t.Errorf("options = %+v", got)
	}
}

// A close that fails is told, but takes nothing from the job's exit code.
func TestCloseErrors(t *testing.T) {
	ta := newTestApp(t)
	ta.eng.closeErr = errs.New(errs.Corrupt, "the store could not be written out")
	if code := ta.run(t, "run", "-c", "end exit 7"); code != 7 || !strings.Contains(ta.err.String(), "written out") {
		t.Errorf("exit code %d, %s", code, ta.err.String())
	}
	if code := ta.run(t, "export"); code != errs.Corrupt.ExitCode() {
		t.Errorf("export: exit code %d, %s", code, ta.err.String())
	}
}

func TestBrokenStandardOutputIsAnError(t *testing.T) {
	ta := newTestApp(t)
	ta.stdout = failing{}
	for _, args := range [][]string{{"run", "-c", "print x"}, {"status"}, {"snapshots", "--json"}, {"config"}} {
		if code := ta.run(t, args...); code == 0 || !strings.Contains(ta.err.String(), "standard output cannot be written") {
			t.Errorf("%v: exit code %d, %s", args, code, ta.err.String())
		}
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }
