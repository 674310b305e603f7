package agent_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/agent"
)

// outcome is one cold run as seen from outside.
type outcome struct {
	code           int
	stdout, stderr string
	report         agent.Report
	listenErr      error
}

// runCold runs a job in the agent's cold mode.
func runCold(t *testing.T, job rungs.Job) outcome {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	defer ours.Close()
	source, err := os.CreateTemp(t.TempDir(), "agent")
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	if _, err := source.Write(agent.Source); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(python(t), "-I", agent.SourcePath, agent.ModeCold)
	cmd.Dir, cmd.Env = t.TempDir(), []string{"LANG=C.UTF-8", "PATH=/usr/bin:/bin", "HOME=/nonexistent"}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(job.Stdin), &stdout, &stderr
	cmd.ExtraFiles = []*os.File{theirs, source}
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	if err := agent.WriteJob(ours, job, agent.JobLimits{}); err != nil {
		t.Errorf("write job: %v", err)
	}
	report, listenErr := agent.Listen(ours, job, agent.Signs{})
	_ = cmd.Wait() // the exit code is what is looked at
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String(), report, listenErr}
}

func TestB09_ExitCodesAreCPythons(t *testing.T) {
	for _, tc := range []struct {
		code   string
		exit   int
		stderr string // must be in it
	}{
		{"import sys; sys.exit()", 0, ""},
		{"import sys; sys.exit(3)", 3, ""},
		{"import sys; sys.exit(-1)", 255, ""},
		{"import sys; sys.exit(256 + 7)", 7, ""},
		{"import sys; sys.exit(True)", 1, ""},
		{"import sys; sys.exit(10**30)", 255, ""},
		{"import sys; sys.exit('boom')", 1, "boom\n"},
		{"raise SystemExit([1])", 1, "[1]\n"},
		{"class X(BaseException): pass\nraise X", 1, "X"},
		{"raise KeyboardInterrupt", 130, "KeyboardInterrupt"},
		{"import os; os._exit(5)", 5, ""},
		{"1/0", 1, "ZeroDivisionError: division by zero"},
		{"x = = 1", 1, "SyntaxError"},
		{"class E(Exception):\n    def __str__(self): raise KeyboardInterrupt\nraise E", 1, "E"},
		{"class M(type):\n    __name__ = property(lambda c: 1 / 0)\nclass E(Exception, metaclass=M): pass\nraise E('x')", 1, "E"},
		{"import builtins\nfor n in dir(builtins):\n    if n[0].islower(): delattr(builtins, n)", 1, ""},
		{"open('b\\n.txt', 'w').close()\n1", 0, ""},
		{"import sys; sys.stdout.close()", 0, ""},
		{"import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.05), print('late'))).start()", 0, ""},
	} {
		t.Run(tc.code, func(t *testing.T) {
			t.Parallel()
			got := runCold(t, rungs.Job{Code: tc.code})
			if got.code != tc.exit || !strings.Contains(got.stderr, tc.stderr) {
				t.Errorf("exit %d, stderr %q; want %d, %q", got.code, got.stderr, tc.exit, tc.stderr)
			}
			if strings.Contains(got.stderr, agent.SourcePath) {
				t.Errorf("stderr shows the agent's own frames: %s", got.stderr)
			}
			if got.listenErr != nil {
				t.Errorf("protocol: %v", got.listenErr)
			}
		})
	}
}

func TestColdModeReportsValueExceptionAndArtifacts(t *testing.T) {
	job := rungs.Job{
		Code: `
import os, sys
print(open("d/in.txt").read(), sys.argv[1:], os.environ["A"], sys.stdin.read())
open("out.bin", "wb").write(b"z" * 600000)
os.mkdir("plots")
open("plots/a.png", "wb").write(b"")
os.symlink("/etc/passwd", "link.png")
os.mkfifo("pipe.png")
class V:
    def __repr__(self): return "plain"
    def _repr_html_(self): return "<b>x</b>"
    def _repr_png_(self): return b"\x89PNG"
V()`,
		Args: []string{"a b"}, Env: map[string]string{"A": "1"}, Stdin: []byte("in"),
		Files:     []rungs.File{{Path: "d/in.txt", Data: []byte("file")}},
		Artifacts: []string{"*.bin", "**/*.png"},
	}
	got := runCold(t, job)
	if got.code != 0 || got.listenErr != nil {
		t.Fatalf("exit %d, stderr %s, protocol %v", got.code, got.stderr, got.listenErr)
	}
	if want := "file ['a b'] 1 in\n"; got.stdout != want {
		t.Errorf("stdout %q, want %q", got.stdout, want)
	}
	v := got.report.Value
	if v["text/plain"] != "plain" || v["text/html"] != "<b>x</b>" || v["image/png"] != "iVBORw==" {
		t.Errorf("value %v", v)
	}
	var names []string
	for _, a := range got.report.Artifacts {
		names = append(names, a.Path)
	}
	if strings.Join(names, " ") != "out.bin plots/a.png" || len(got.report.Artifacts[0].Data) != 600000 {
		t.Errorf("artifacts %v", names)
	}
	if s := strings.Join(got.report.Skipped, "; "); s != "link.png: a link; pipe.png: not a regular file" {
		t.Errorf("skipped %q", s)
	}
}

func TestTracebackShowsUserLinesOnly(t *testing.T) {
	got := runCold(t, rungs.Job{Code: "def f():\n    return undefined_name\n\nf()"})
	e := got.report.Exception
	if e == nil || e.Name != "NameError" || !strings.Contains(e.Traceback, "return undefined_name") {
		t.Fatalf("exception %+v", e)
	}
	if n := strings.Count(e.Traceback, "File "); n != 2 {
		t.Errorf("%d frames, want 2:\n%s", n, e.Traceback)
	}
	if got.stderr != e.Traceback {
		t.Errorf("stderr %q differs from the traceback", got.stderr)
	}
}

func TestB08_UserCodeIsMain(t *testing.T) {
	got := runCold(t, rungs.Job{Code: `
from dataclasses import dataclass
import pickle, sys
@dataclass
class P:
    x: int
def f(n): return 1 if n < 2 else n * f(n - 1)
def g(): return f(5)
assert __name__ == '__main__' and sys.modules['__main__'].P is P
print(pickle.loads(pickle.dumps(P(3))).x, g())
import multiprocessing
print(multiprocessing.get_context('fork').Pool(2).map(f, [3, 4]))`})
	if got.code != 0 || got.stdout != "3 120\n[6, 24]\n" {
		t.Errorf("exit %d, stdout %q, stderr %s", got.code, got.stdout, got.stderr)
	}
}

// A fork of the job that falls off the end of the program must not report.
func TestAForkOfTheJobDoesNotReport(t *testing.T) {
	got := runCold(t, rungs.Job{Code: `
import os
pid = os.fork()
if pid: os.waitpid(pid, 0)
"parent" if pid else "child"`})
	if got.listenErr != nil || got.report.Value["text/plain"] != "'parent'" {
		t.Errorf("value %v, protocol %v", got.report.Value, got.listenErr)
	}
}

func TestB13_OutputBeforeAKillIsThere(t *testing.T) {
	got := runCold(t, rungs.Job{Code: `
import os, sys
print('a', flush=True); print('b'); sys.stderr.write('e')
os.kill(os.getpid(), 9)`})
	if got.stdout != "a\nb\n" || got.stderr != "e" {
		t.Errorf("stdout %q, stderr %q", got.stdout, got.stderr)
	}
}
