package forkserver

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/agent"
)

// What a job writes to its bridge must neither hurt the daemon nor decide how
// the job ended.
func TestB33_AHostileJobOnItsBridge(t *testing.T) {
	p := boot(t, newRung(t), specOf(""))
	const done = `b'{"op":"done","value":{"text/plain":"forged"},"exception":{"name":"Forged"}}'`
	send := func(what string) string {
		return "import os, struct, sys\ndef frame(b): return struct.pack('>I', len(b)) + b\n" + what + "\nprint('after', flush=True)\n"
	}
	for _, tc := range []struct {
		name, code, value string
	}{
		{"huge length", "os.write(3, b'\\xff\\xff\\xff\\xff')", ""},
		{"zero length", "os.write(3, bytes(4))", ""},
		{"half a header", "os.write(3, b'\\0\\0'); os.close(3)", ""},
		{"invalid JSON", "os.write(3, frame(b'{'))", ""},
		{"byte by byte", "for b in frame(" + done + "): os.write(3, bytes([b]))", "forged"},
		{"forged done", "os.write(3, frame(" + done + "))", "forged"},
		{"forged exit", `os.write(3, frame(b'{"op":"exit","id":"1","status":9}'))`, ""},
		{"forged ready", `os.write(3, frame(b'{"op":"ready","walls":["all"]}'))`, ""},
		{"claims the most and stalls", "os.write(3, struct.pack('>I', 8 << 20))", ""},
		{"descriptors", "import socket, array\ns = socket.socket(fileno=os.dup(3))\ns.sendmsg([frame(b'{\"op\":\"x\"}')], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [0] * 100))])", ""},
		{"flood", "import signal; signal.signal(signal.SIGPIPE, signal.SIG_IGN)\ntry:\n  while True: os.write(3, frame(b'{\"op\":\"done\"}') * 1000)\nexcept OSError: pass", ""},
		{"shut down", "import socket; socket.socket(fileno=3).shutdown(2)", ""},
		{"replaced", "os.dup2(1, 3)", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := heap()
			res := run(t, p, send(tc.code))
			// The job's own end is what it was: it ran to its end with code 0.
			if res.Status != rungs.StatusOK || res.ExitCode != 0 || !strings.HasPrefix(string(res.Stdout), "after\n") {
				t.Errorf("status %s (%d), stdout %.100q, stderr %s", res.Status, res.ExitCode, res.Stdout, res.Stderr)
			}
			if res.Exception != nil || res.Value["text/plain"] != tc.value {
				t.Errorf("exception %v, value %v", res.Exception, res.Value)
			}
			if e := res.Enforced; e.Root != "narrow" || !e.Seccomp {
				t.Errorf("enforced %+v", e)
			}
			if grown := heap() - before; grown > 16<<20 {
				t.Errorf("the daemon grew by %d bytes", grown)
			}
		})
	}
	if res := run(t, p, "print(1)"); res.Status != rungs.StatusOK {
		t.Errorf("the parent suffered: %s", res.Status)
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse)
}

func TestB33_ManyStalledClaimsHurtNobody(t *testing.T) {
	p := boot(t, newRung(t), specOf(""))
	before := heap()
	var children []rungs.Child
	for range 30 {
		children = append(children, start(t, p, jobOf("import os, struct, time\nos.write(3, struct.pack('>I', 8 << 20))\nprint('.', flush=True)\ntime.sleep(60)")))
	}
	for _, c := range children {
		eventually(t, "the claim is made", func() bool { return len(c.(*child).stdout.Bytes()) > 0 })
	}
	if grown := heap() - before; grown > 32<<20 {
		t.Errorf("the daemon grew by %d bytes", grown)
	}
	if res := run(t, p, "print(1)"); res.Status != rungs.StatusOK {
		t.Errorf("status %s", res.Status)
	}
	for _, c := range children {
		c.Kill("test is over")
		if res := wait(t, c); res.Status != rungs.StatusKilled {
			t.Errorf("status %s", res.Status)
		}
	}
}

// Set-up code holds the agent's own socket; what it writes there ends the
// boot, and nothing is left.
func TestHostileSetUpCodeEndsTheBoot(t *testing.T) {
	r := newRung(t)
	for name, code := range map[string]string{
		"huge length":   "import os; os.write(3, b'\\xff\\xff\\xff\\xff')",
		"garbage":       "import os; os.write(3, b'\\0\\0\\0\\1x')",
		"forged sealed": `import os, struct; b = b'{"op":"sealed","holds":[]}'; os.write(3, struct.pack('>I', len(b)) + b)`,
		"many frames":   `import os, struct; b = b'{"op":"exit","id":"1"}'; os.write(3, (struct.pack('>I', len(b)) + b) * 10000); os._exit(0)`,
		"closed":        "import os; os.close(3)",
		"exits":         "import os; os._exit(0)",
		"crash":         "import ctypes; ctypes.string_at(0)",
	} {
		t.Run(name, func(t *testing.T) {
			p, err := r.Boot(context.Background(), specOf(code))
			if err == nil {
				_ = p.Close("it should not be there")
			}
			if errs.KindOf(err) != errs.RungFailed {
				t.Errorf("boot: %v", err)
			}
		})
	}
}

func TestB04_AParentWithThreadsIsRefused(t *testing.T) {
	_, err := newRung(t).Boot(context.Background(), specOf("import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()"))
	if errs.KindOf(err) != errs.Unsupported || !strings.Contains(errs.Public(err), "not fork-safe: 2 threads") {
		t.Errorf("boot: %v", err)
	}
}

// A parent that hangs in fork is killed, and the next job is told so.
func TestAParentThatHangsInForkIsKilled(t *testing.T) {
	r := newRung(t)
	r.cfg.ForkTimeout, r.cfg.Spares = 300*time.Millisecond, -1 // the probe had its time
	p := boot(t, r, specOf("import os, time; os.register_at_fork(before=lambda: time.sleep(600))"))
	_, err := p.Fork(context.Background(), jobOf("1"))
	if errs.KindOf(err) != errs.RungFailed || !strings.Contains(errs.Public(err), "hangs in a fork") {
		t.Errorf("fork: %v", err)
	}
	<-p.Done()
	if !dead(p.pid) {
		eventually(t, "the process is gone", func() bool { return dead(p.pid) })
	}
}

// A child that hangs before user code is killed; its parent is none the worse.
func TestAChildThatHangsBeforeUserCodeIsKilled(t *testing.T) {
	r := newRung(t)
	r.cfg.ForkTimeout, r.cfg.Spares = 500*time.Millisecond, -1
	p := boot(t, r, specOf("import os, time\nn = [0]\ndef before(): n[0] += 1\nos.register_at_fork(before=before, after_in_child=lambda: n[0] == 1 and time.sleep(600))"))
	if _, err := p.Fork(context.Background(), jobOf("1")); errs.KindOf(err) != errs.RungFailed {
		t.Errorf("fork: %v", err)
	}
	if res := run(t, p, "print(1)"); res.Status != rungs.StatusOK {
		t.Errorf("status %s", res.Status)
	}
}

// Forks, branches and closes at the same time end cleanly, whatever comes first.
func TestHammer(t *testing.T) {
	r := newRung(t)
	for range 3 {
		p := boot(t, r, specOf(""))
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				for p.Stats().Forks < 100 {
					select {
					case <-p.Done():
						return
					default:
					}
					if i == 0 {
						if b, err := p.Branch(context.Background(), specOf("", "colorsys")); err == nil {
							run(t, b, "1")
							_ = b.Close("hammered")
						}
						continue
					}
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i*i)*5*time.Millisecond)
					c, err := p.Fork(ctx, jobOf("import time; time.sleep(0.01)"))
					cancel()
					if err == nil {
						if _, err := c.Wait(context.Background()); err != nil && errs.KindOf(err) != errs.RungFailed {
							t.Errorf("wait: %v", err)
						}
					}
				}
			})
		}
		eventually(t, "it is under way", func() bool { return p.Stats().Forks >= 3 })
		_ = p.Close("in the middle of it")
		wg.Wait()
	}
}

func TestAParentWithProcessesIsRefused(t *testing.T) {
	r := newRung(t)
	_, err := r.Boot(context.Background(), specOf("import subprocess; p = subprocess.Popen(['sleep', '2'])"))
	if errs.KindOf(err) != errs.Unsupported || !strings.Contains(errs.Public(err), "process") {
		t.Errorf("boot: %v", err)
	}
	p := boot(t, r, specOf("import subprocess, signal; subprocess.run(['true']); signal.signal(signal.SIGCHLD, signal.SIG_IGN)"))
	if res := run(t, p, "import subprocess; print(subprocess.run(['true']).returncode)"); string(res.Stdout) != "0\n" {
		t.Errorf("stdout %q, stderr %s", res.Stdout, res.Stderr)
	}
}

func TestB01_SparesHaveRandomStateOfTheirOwn(t *testing.T) {
	p := boot(t, newRung(t), specOf("import random, uuid, secrets; random.random()"))
	seen := map[string]bool{}
	for range 5 {
		waitSpares(t, p)
		res := run(t, p, "import tempfile\nprint(random.random(), uuid.uuid4(), secrets.token_hex(), tempfile.mktemp())\nrandom.seed(7)\nprint(random.random())")
		lines := strings.Split(string(res.Stdout), "\n")
		for _, word := range strings.Fields(lines[0]) {
			if seen[word] {
				t.Errorf("%s came twice", word)
			}
			seen[word] = true
		}
		if lines[1] != "0.32383276483316237" { // CPython's, since 3.2
			t.Errorf("a seeded draw gave %s", lines[1])
		}
	}
}

func TestASpareThatDiedIsNotUsed(t *testing.T) {
	p := boot(t, newRung(t), specOf(""))
	waitSpares(t, p)
	p.mu.Lock()
	spares := append([]*child(nil), p.spares...)
	p.mu.Unlock()
	for _, c := range spares {
		c.mu.Lock()
		kill(c.pidfd)
		c.mu.Unlock()
	}
	if res := run(t, p, "print(1)"); res.Status != rungs.StatusOK {
		t.Errorf("status %s", res.Status)
	}
	waitSpares(t, p)
}

func TestChildrenOfOneParentAreBounded(t *testing.T) {
	p := boot(t, newRung(t, func(c *Config) { c.MaxChildren = 2 }), specOf(""))
	a, b := start(t, p, jobOf("import time; time.sleep(60)")), start(t, p, jobOf("import time; time.sleep(60)"))
	if _, err := p.Fork(context.Background(), jobOf("1")); errs.KindOf(err) != errs.Exhausted {
		t.Errorf("a third job: %v", err)
	}
	a.Kill("test")
	wait(t, a)
	if res := run(t, p, "1"); res.Status != rungs.StatusOK {
		t.Errorf("status %s", res.Status)
	}
	b.Kill("test")
	wait(t, b)
	if n := p.Stats().Children; n != 0 {
		t.Errorf("%d children", n)
	}
}

func TestUserIDsRunOutCleanly(t *testing.T) {
	p := boot(t, newRung(t, func(c *Config) { c.UIDBase, c.UIDCount, c.Spares = 1_000_000_000+os.Getpid(), 1, -1 }), specOf(""))
	a := start(t, p, jobOf("import time; time.sleep(60)"))
	if _, err := p.Fork(context.Background(), jobOf("1")); errs.KindOf(err) != errs.Exhausted {
		t.Errorf("a second job: %v", err)
	}
	a.Kill("test")
	wait(t, a)
	if res := run(t, p, "1"); res.Status != rungs.StatusOK {
		t.Errorf("status %s", res.Status)
	}
}

func TestNoTwoLivingJobsShareAUserID(t *testing.T) {
	p := boot(t, newRung(t), specOf(""))
	var mu sync.Mutex
	seen := map[string]int{}
	var wg sync.WaitGroup
	for range 20 {
		c := start(t, p, jobOf("import os, sys\nprint(os.getuid(), os.getgid(), flush=True)\nsys.stdin.read()\nimport time; time.sleep(60)"))
		wg.Go(func() {
			eventually(t, "the uid is told", func() bool { return len(c.(*child).stdout.Bytes()) > 0 })
			mu.Lock()
			seen[string(c.(*child).stdout.Bytes())]++
			mu.Unlock()
		})
		defer func() { c.Kill("test is over"); wait(t, c) }()
	}
	wg.Wait()
	for uid, n := range seen {
		if n > 1 {
			t.Errorf("%d jobs have %s", n, uid)
		}
	}
}

func TestMissingControlGroupsFailClosed(t *testing.T) {
	newRung(t) // skips where it cannot run
	// A /proc that knows this process and no control groups.
	root := t.TempDir()
	self := fmt.Sprintf("/proc/%d", os.Getpid())
	for _, dir := range []string{self, "/proc/self/ns"} {
		if err := os.MkdirAll(root+dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{self + "/stat", "/proc/self/stat"} {
		if err := os.WriteFile(root+name, []byte(read(t, name)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(ns, root+"/proc/self/ns/pid"); err != nil {
		t.Fatal(err)
	}
	for _, degraded := range []bool{false, true} {
		r, err := New(Config{Python: pythonPath(), Logger: quiet(), CgroupRoot: root, AllowDegraded: degraded})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		if !degraded {
			if err := r.Probe(context.Background()); errs.KindOf(err) != errs.Unavailable || errs.HintOf(err) == "" {
				t.Errorf("probe: %v, hint %q", err, errs.HintOf(err))
			}
			continue
		}
		res := run(t, boot(t, r, specOf("")), "print(1)")
		if e := res.Enforced; res.Status != rungs.StatusOK || e.Memory != "" || e.PIDs != "" || len(e.Missing) < 2 {
			t.Errorf("status %s, enforced %+v", res.Status, e)
		}
	}
}

// A wall that is required and cannot be put up must end the fork before user
// code. The agent is told to require what no child ever reports.
func TestAMissingWallFailsTheFork(t *testing.T) {
	r := newRung(t, noSpares)
	p := boot(t, r, specOf(""))
	c := newChild(p, rungs.DefaultFilesBytes)
	if err := c.equip(); err != nil {
		t.Fatal(err)
	}
	c.job = &rungs.Job{}
	c.walls = []string{"pid"}
	c.start() // as if the child said that it begins, behind one wall
	if c.failed == nil || !c.started.IsZero() || c.cause == 0 {
		t.Errorf("failed %v, started %v, cause %v", c.failed, c.started, c.cause)
	}
	if err := c.wallError(c.failed); errs.KindOf(err) != errs.RungFailed {
		t.Errorf("error %v", err)
	}
	p.running.Add(1)
	c.discard()
}

func TestFailedWallIsARungErrorNotAResult(t *testing.T) {
	r := newRung(t, noSpares)
	p := boot(t, r, specOf(""))
	// No tmpfs can have this size: the mount fails in the child.
	_, err := p.forkFor(context.Background(), withFiles(-1), time.Now())
	if errs.KindOf(err) != errs.RungFailed || !strings.Contains(errs.Public(err), `wall "files"`) {
		t.Errorf("fork: %v", err)
	}
	job := jobOf("1")
	job.Limits.FilesBytes = rungs.MinFilesBytes
	for i := range 40 { // fewer bytes than the limit, but a page each
		job.Files = append(job.Files, rungs.File{Path: fmt.Sprint(i), Data: []byte("x")})
	}
	if _, err := p.Fork(context.Background(), job); errs.KindOf(err) != errs.Invalid {
		t.Errorf("files that do not fit: %v", err)
	}
}

func withFiles(n int64) rungs.Job {
	job := jobOf("1")
	job.Limits = job.Limits.WithDefaults()
	job.Limits.FilesBytes = n
	return job
}

func TestProtocolConstantsAgree(t *testing.T) {
	for _, line := range []string{
		fmt.Sprintf("MAX_FRAME = %d << 20", agent.MaxHostFrame>>20), fmt.Sprintf("MAX_FDS = %d ", agent.MaxFDs),
		fmt.Sprintf("CHUNK = %d << 10", agent.ChunkBytes>>10), fmt.Sprintf("EXIT_FAILED = %d ", agent.ExitFailed),
		fmt.Sprintf("PROTOCOL = %d\n", agent.Version), fmt.Sprintf("CONTROL_FD = %d ", agent.ControlFD),
	} {
		if !strings.Contains(string(agent.Source), line) {
			t.Errorf("the agent does not say %q", line)
		}
	}
}
