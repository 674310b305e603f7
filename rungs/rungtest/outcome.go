package rungtest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
)

// outcomeCases are about how a job's end is told.
var outcomeCases = []testCase{
	{"B09_ExitCodes", nil, b09},
	{"B11_MemoryTimeoutAndKillAreToldApart", nil, b11},
	{"B13_OutputBeforeATimeoutIsKept", nil, b13},
	{"CPULimit", nil, cpuLimit},
	{"Exception", nil, exception},
	{"Value", nil, value},
	{"KillWhileRunning", nil, killRunning},
	{"CallerGoesAway", nil, callerGoes},
	{"InvalidJobStartsNothing", nil, invalidJob},
	{"B33_GarbageOnTheBridge", nil, b33},
	{"Figures", nil, figures},
}

func b09(t *testing.T, s *suite) {
	p := s.plain(t)
	for _, tt := range []struct {
		code   string
		exit   int
		status rungs.Status
		stderr string
	}{
		{"import sys; sys.exit()", 0, rungs.StatusOK, ""},
		{"import sys; sys.exit(3)", 3, rungs.StatusExit, ""},
		{"import sys; sys.exit('boom')", 1, rungs.StatusExit, "boom\n"},
		{"raise SystemExit([1])", 1, rungs.StatusExit, "[1]\n"},
		{"class X(BaseException): pass\nraise X", 1, rungs.StatusError, "X"},
		{"raise KeyboardInterrupt", 130, rungs.StatusError, "KeyboardInterrupt"},
		{"import os; os._exit(5)", 5, rungs.StatusExit, ""},
		{"1/0", 1, rungs.StatusError, "ZeroDivisionError"},
		{"x = = 1", 1, rungs.StatusError, "SyntaxError"},
	} {
		r := runCode(t, p, tt.code)
		if r.Status != tt.status || r.ExitCode != tt.exit || !strings.Contains(string(r.Stderr), tt.stderr) {
			t.Errorf("%s: want %s, %d, %q; %s", tt.code, tt.status, tt.exit, tt.stderr, show(r))
		}
		wantOutput(t, runCode(t, p, "print(1+1)"), "2\n")
	}
}

func b11(t *testing.T, s *suite) {
	hog := Job("b = []\nwhile True: b.append(b'x' * (1 << 20))")
	hog.Limits.MemoryBytes = 64 << 20
	r := run(t, s.plain(t), hog)
	switch r.Enforced.Memory {
	case "rlimit": // the interpreter notices, the kernel does not count
		wantStatus(t, r, rungs.StatusError)
	default:
		wantStatus(t, r, rungs.StatusMemory)
		if r.Signal != "SIGKILL" || r.ExitCode != 137 {
			t.Error(show(r))
		}
	}
	slow := Job("import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: pass")
	slow.Limits.Wall = 300 * time.Millisecond
	r = run(t, s.plain(t), slow)
	wantStatus(t, r, rungs.StatusTimeout)
	if r.Run < slow.Limits.Wall {
		t.Errorf("a limit of %v ran out after %v", slow.Limits.Wall, r.Run)
	}
	// A program that is PID 1 of its own namespace cannot kill itself: a child
	// of it can, and then it is a signal like any other.
	r = runCode(t, s.plain(t), "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\nprint('immune')")
	if r.Status != rungs.StatusSignal && string(r.Stdout) != "immune\n" {
		t.Errorf("a job that kills itself: %s", show(r))
	}
	r = runCode(t, s.plain(t), "import ctypes\nctypes.string_at(0)")
	if s.traits.ThirdParty && (r.Status != rungs.StatusSignal || r.Signal != "SIGSEGV" || r.ExitCode != 139) {
		t.Errorf("a job that crashes: %s", show(r))
	}
}

func b13(t *testing.T, s *suite) {
	job := Job("import sys, time\nprint('a', flush=True); print('b'); sys.stderr.write('e')\ntime.sleep(600)")
	job.Limits.Wall = time.Second
	r := run(t, s.plain(t), job)
	wantStatus(t, r, rungs.StatusTimeout)
	if string(r.Stdout) != "a\nb\n" || string(r.Stderr) != "e" {
		t.Error(show(r))
	}
	if r.Run < time.Second || r.Run > 30*time.Second {
		t.Errorf("a limit of 1 s ended the job after %v", r.Run)
	}
}

func cpuLimit(t *testing.T, s *suite) {
	job := Job("while True: pass")
	job.Limits.CPU = time.Second
	r := run(t, s.plain(t), job)
	wantStatus(t, r, rungs.StatusTimeout)
	if r.Run >= job.Limits.Wall {
		t.Error("it was the wall clock that ended it")
	}
}

func exception(t *testing.T, s *suite) {
	r := runCode(t, s.plain(t), "def f():\n    raise ValueError('wrong ü')\n\nf()")
	wantStatus(t, r, rungs.StatusError)
	e := r.Exception
	if e == nil || e.Name != "ValueError" || e.Message != "wrong ü" {
		t.Fatal(show(r))
	}
	if !strings.Contains(e.Traceback, "line 2, in f") || !strings.Contains(e.Traceback, "raise ValueError") || strings.Count(e.Traceback, "File ") != 2 {
		t.Errorf("traceback is not just the user's two frames:\n%s", e.Traceback)
	}
	if r := runCode(t, s.plain(t), "print(1)"); r.Exception != nil {
		t.Error("an exception without one")
	}
	long := runCode(t, s.plain(t), "raise ValueError('x' * 5_000_000)")
	if e := long.Exception; e == nil || len(e.Message)+len(e.Traceback) > 1<<20 {
		t.Error("a long message is not bounded")
	}
}

func value(t *testing.T, s *suite) {
	r := runCode(t, s.plain(t), "x = 3\nx + 4")
	if r.Value["text/plain"] != "7" || len(r.Stdout) != 0 {
		t.Errorf("value %v, %s", r.Value, show(r))
	}
	for _, code := range []string{"x = 3", "None", "pass"} {
		if r := runCode(t, s.plain(t), code); r.Value != nil {
			t.Errorf("%s has a value: %v", code, r.Value)
		}
	}
	r = runCode(t, s.plain(t), "class V:\n  def __repr__(self): return 'plain'\n  def _repr_html_(self): return '<b>h</b>'\nV()")
	if r.Value["text/plain"] != "plain" || r.Value["text/html"] != "<b>h</b>" {
		t.Errorf("value %v", r.Value)
	}
}

func killRunning(t *testing.T, s *suite) {
	c := fork(t, s.plain(t), Job("import time\nprint('in', flush=True)\ntime.sleep(600)"))
	c.Kill("a test")
	r := wait(t, c)
	wantStatus(t, r, rungs.StatusKilled)
	if r.ExitCode != 137 {
		t.Error(show(r))
	}
	c.Kill("again") // after the end: nothing happens
	wantOutput(t, runCode(t, s.plain(t), "print(1)"), "1\n")
}

func callerGoes(t *testing.T, s *suite) {
	c := fork(t, s.plain(t), Job("import time; time.sleep(600)"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := c.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	wantStatus(t, r, rungs.StatusKilled)
	if _, err := s.plain(t).Fork(ctx, Job("print(1)")); err == nil {
		t.Error("a fork for a caller who is gone")
	}
	wantOutput(t, runCode(t, s.plain(t), "print(1)"), "1\n")
}

func invalidJob(t *testing.T, s *suite) {
	p := s.plain(t)
	before := p.Stats()
	for name, breakIt := range map[string]func(*rungs.Job){
		"run id":  func(j *rungs.Job) { j.ID = "../x" },
		"UTF-8":   func(j *rungs.Job) { j.Code = "\xff" },
		"limit":   func(j *rungs.Job) { j.Limits.PIDs = -1 },
		`"a\x00"`: func(j *rungs.Job) { j.Files = []rungs.File{{Path: "a\x00"}} },
	} {
		job := Job("print(1)")
		breakIt(&job)
		c, err := p.Fork(t.Context(), job)
		if err == nil {
			c.Kill("it should not run")
			wait(t, c)
		}
		if errs.KindOf(err) != errs.Invalid || !strings.Contains(errs.Public(err), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after := p.Stats(); after.Forks != before.Forks || after.Children != before.Children {
		t.Errorf("a refused job was counted: %+v, then %+v", before, after)
	}
}

// b33 breaks the protocol from inside a job, through the one descriptor that
// leads out of it. How the job ended is what the kernel says all the same.
func b33(t *testing.T, s *suite) {
	for name, payload := range map[string]string{
		"length beyond the bound": `b'\xff\xff\xff\xff'`,
		"length zero":             `b'\0\0\0\0'`,
		"half a header":           `b'\0\0'`,
		"not JSON":                `b'\0\0\0\3xyz'`,
		"not an object":           `b'\0\0\0\2[]'`,
		"a large claim":           `b'\0\x70\0\0x'`,
		"a false report":          `frame('{"op":"done","value":{"text/plain":"forged"},"exception":{"name":"E","message":"m","traceback":""}}')`,
		"a false failure":         `frame('{"op":"fail","step":"x","errno":1,"message":"m"}')`,
		"a file nobody asked for": `frame('{"op":"artifact","path":"../../x","data":"eA==","more":false}')`,
		"deep nesting":            `frame('{"op":"done","value":' + '[' * 100_000 + ']' * 100_000 + '}')`,
	} {
		r := runCode(t, s.plain(t), `
import os, struct
def frame(text): return struct.pack('>I', len(text)) + text.encode()
data = `+payload+`
try:
    while data: data = data[os.write(3, data):]
except OSError: pass
print('through')
import sys; sys.exit(4)`)
		if r.Status != rungs.StatusExit || r.ExitCode != 4 || string(r.Stdout) != "through\n" || r.Exception != nil || len(r.Artifacts) != 0 {
			t.Errorf("%s: %s", name, show(r))
		}
		wantOutput(t, runCode(t, s.plain(t), "print(1)"), "1\n")
	}
}

func figures(t *testing.T, s *suite) {
	p := s.plain(t)
	before := p.Stats().Forks
	r := runCode(t, p, "x = bytearray(20_000_000)\nfor i in range(0, len(x), 4096): x[i] = 1\nn = 0\nfor i in range(10**6): n += i")
	wantStatus(t, r, rungs.StatusOK)
	if r.Fork <= 0 || r.Run <= 0 || r.CPU <= 0 || r.CPU > r.Run*4+time.Second {
		t.Errorf("fork %v, run %v, CPU %v", r.Fork, r.Run, r.CPU)
	}
	if r.PeakBytes < 20_000_000 || r.PeakBytes > 400<<20 {
		t.Errorf("peak %d bytes for an array of 20 MB", r.PeakBytes)
	}
	if got := p.Stats(); got.Forks != before+1 || got.Children != 0 {
		t.Errorf("%+v, forks before %d", got, before)
	}
	if s.traits.Isolation > 0 && len(r.Enforced.Namespaces) == 0 && r.Enforced.Root == "" {
		t.Errorf("a walled rung reports no wall: %+v", r.Enforced)
	}
	if s.traits.Isolation == 0 && !slices.ContainsFunc(r.Enforced.Missing, func(m string) bool { return strings.Contains(m, "isolation") }) {
		t.Errorf("a rung without walls does not say so: %+v", r.Enforced)
	}
}
