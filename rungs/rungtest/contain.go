package rungtest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
)

// containCases are about what a job may use and what must not be left of it.
var containCases = []testCase{
	{"B19_GrandchildDoesNotOutliveTheJob", nil, b19},
	{"B19_AfterATimeout", nil, b19Timeout},
	{"B19_AfterAKill", nil, b19Kill},
	{"B24_NothingIsLeftOnAnyPath", nil, b24},
	{"B24_TemporaryFilesAreNotShared", nil, b24Shared},
	{"ForkBombIsContained", nil, forkBomb},
	{"FileSystemIsBounded", []promise{walls}, fileLimit},
}

// daemonise starts a grandchild that has left the job's session and group,
// keeps stdout open, and carries a marker among its arguments. It prints
// "done" when the grandchild runs.
const daemonise = `
import os, sys, time
if sys.platform == 'linux' and os.path.exists(sys.executable or ''):
    r, w = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.set_inheritable(w, True)
            os.execv(sys.executable, [sys.executable, '-I', '-S', '-c',
                'import os, time; os.write(%d, b"x"); os.close(%d); time.sleep(600)' % (w, w), sys.argv[1]])
        os._exit(0)
    os.close(w)
    assert os.read(r, 1) == b'x', 'the grandchild did not start'
    os.close(r)
print('done', flush=True)
`

// marked is a job with a marker of its own as argument.
func marked(code string) (rungs.Job, string) {
	job := Job(code)
	marker := "marker-" + string(job.ID)
	job.Args = []string{marker}
	return job, marker
}

// nobodyLeft checks that no process with the marker lives, unless the result
// has told that one might.
func nobodyLeft(t *testing.T, r *rungs.Result, marker string) {
	t.Helper()
	for _, m := range r.Enforced.Missing {
		if strings.Contains(m, "setsid") {
			t.Skipf("the result says so itself: %s", m)
		}
	}
	if pids := alive(marker); len(pids) > 0 {
		t.Errorf("processes %v live on after the result", pids)
	}
}

func b19(t *testing.T, s *suite) {
	job, marker := marked(daemonise)
	r := run(t, s.plain(t), job)
	wantOutput(t, r, "done\n")
	if r.Run > 30*time.Second {
		t.Errorf("the result waited for the grandchild: %v", r.Run)
	}
	nobodyLeft(t, r, marker)
}

func b19Timeout(t *testing.T, s *suite) {
	job, marker := marked(daemonise + "time.sleep(600)")
	job.Limits.Wall = 2 * time.Second
	r := run(t, s.plain(t), job)
	wantStatus(t, r, rungs.StatusTimeout)
	if string(r.Stdout) != "done\n" {
		t.Error(show(r))
	}
	nobodyLeft(t, r, marker)
}

func b19Kill(t *testing.T, s *suite) {
	job, marker := marked(daemonise + "time.sleep(600)")
	c := fork(t, s.plain(t), job)
	eventually(t, "the grandchild runs", func() bool { return len(alive(marker)) > 0 || !canSee() })
	c.Kill("a test")
	r := wait(t, c)
	wantStatus(t, r, rungs.StatusKilled)
	nobodyLeft(t, r, marker)
}

// canSee reports whether the processes of jobs can be seen from here.
func canSee() bool { return len(alive("")) > 0 }

// endings are the ways that a job can end, each as a function that runs one.
func endings(s *suite) map[string]func(t *testing.T) {
	program := func(code string, want rungs.Status, change func(*rungs.Job)) func(*testing.T) {
		return func(t *testing.T) {
			job := Job(code)
			job.Files = []rungs.File{{Path: "d/given", Data: []byte("x")}}
			if change != nil {
				change(&job)
			}
			r := run(t, s.plain(t), job)
			if want == rungs.StatusMemory && r.Enforced.Memory == "rlimit" {
				want = rungs.StatusError
			}
			wantStatus(t, r, want)
		}
	}
	return map[string]func(t *testing.T){
		"success":   program("open('made', 'w').write('x')", rungs.StatusOK, nil),
		"exception": program("1/0", rungs.StatusError, nil),
		"rights":    program("import os\nos.makedirs('a/b')\nopen('a/b/c', 'w')\nos.chmod('a/b', 0); os.chmod('a', 0)", rungs.StatusOK, nil),
		"timeout":   program("while True: pass", rungs.StatusTimeout, func(j *rungs.Job) { j.Limits.Wall = 50 * time.Millisecond }),
		"memory":    program("x = bytearray(1 << 30)", rungs.StatusMemory, func(j *rungs.Job) { j.Limits.MemoryBytes = 32 << 20 }),
		"kill": func(t *testing.T) {
			c := fork(t, s.plain(t), Job("import time; time.sleep(600)"))
			c.Kill("a test")
			wantStatus(t, wait(t, c), rungs.StatusKilled)
		},
		"hang-up": func(t *testing.T) {
			c := fork(t, s.plain(t), Job("import time; time.sleep(600)"))
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			r, err := c.Wait(ctx)
			if err != nil {
				t.Fatal(err)
			}
			wantStatus(t, r, rungs.StatusKilled)
		},
		"hang-up before the start": func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			if c, err := s.plain(t).Fork(ctx, Job("pass")); err == nil {
				wait(t, c)
			}
		},
		"invalid": func(t *testing.T) {
			job := Job("pass")
			job.Files = []rungs.File{{Path: "../x"}}
			if _, err := s.plain(t).Fork(t.Context(), job); err == nil {
				t.Error("it started")
			}
		},
		"nobody waits": func(t *testing.T) { fork(t, s.plain(t), Job("pass")) },
	}
}

func b24(t *testing.T, s *suite) {
	s.plain(t)
	before := steady(t)
	n := pick(20, 3)
	if !s.traits.WarmFork {
		n = pick(5, 2)
	}
	for name, one := range endings(s) {
		t.Run(name, func(t *testing.T) {
			for range n {
				one(t)
			}
			settled(t, before)
		})
	}
}

// sharedMark begins the names of files that jobs leave in their temporary
// directories, to see whether others find them.
const sharedMark = "banyan-shared-"

func b24Shared(t *testing.T, s *suite) {
	dirs := "[tempfile.gettempdir(), '.']"
	if walls(s.traits) == "" {
		dirs = "['/tmp', '/dev/shm', '.']"
	}
	mark := sharedMark + string(ontology.NewRunID())
	write := fmt.Sprintf("import os, tempfile\nfor d in %s:\n    open(os.path.join(d, %q), 'w').write('x')\nprint('ok')", dirs, mark)
	read := fmt.Sprintf("import os, tempfile\nprint([d for d in %s if os.path.exists(os.path.join(d, %q))])", dirs, mark)
	running := fork(t, s.plain(t), Job(write+"\nimport time\nos.close(1)\ntime.sleep(600)"))
	defer func() { running.Kill("the case is over"); wait(t, running) }()
	wantOutput(t, runCode(t, s.plain(t), write), "ok\n")
	wantOutput(t, runCode(t, s.plain(t), read), "[]\n")
}

func forkBomb(t *testing.T, s *suite) {
	job, marker := marked(`
import os, time
n = 0
try:
    while n < 2000:
        if os.fork() == 0:
            time.sleep(600)
            os._exit(0)
        n += 1
except OSError as e:
    print('stopped', n < 40, flush=True)
`)
	job.Limits.PIDs = 32
	probe := runCode(t, s.plain(t), "pass")
	if probe.Enforced.PIDs == "" {
		t.Skipf("processes cannot be limited here: %q", probe.Enforced.Missing)
	}
	r := run(t, s.plain(t), job)
	wantOutput(t, r, "stopped True\n")
	nobodyLeft(t, r, marker)
	wantOutput(t, runCode(t, s.plain(t), "print(1)"), "1\n")
}

func fileLimit(t *testing.T, s *suite) {
	job := Job(`
def fill(path):
    n = 0
    try:
        for i in range(4000):
            with open('%s/f%d' % (path, i), 'wb') as f:
                n += f.write(b'x' * 100_000)
    except OSError:
        pass
    return n
print(fill('.') + fill('/tmp') + fill('/dev/shm') < 60_000_000)
`)
	job.Limits.FilesBytes = 8 << 20
	wantOutput(t, run(t, s.plain(t), job), "True\n")
}
