package forkserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
)

// leftovers is what forks could leave behind.
type leftovers struct {
	daemonFDs, agentFDs, agentChildren, agentMounts, groups, uids int
}

func (p *parent) leftovers(t *testing.T) leftovers {
	t.Helper()
	waitSpares(t, p)
	return leftovers{
		daemonFDs:     entries(t, "/proc/self/fd"),
		agentFDs:      p.descriptors(t),
		agentChildren: len(strings.Fields(read(t, fmt.Sprintf("/proc/%d/task/%d/children", p.pid, p.pid)))),
		agentMounts:   strings.Count(read(t, fmt.Sprintf("/proc/%d/mountinfo", p.pid)), "\n"),
		groups:        groupsOf(t, os.Getpid()),
		uids:          p.rung.uids.held(),
	}
}

// descriptors counts what the agent has open, but for the network namespaces
// that it keeps for the next jobs: at most 64, and as many as jobs ran at once.
func (p *parent) descriptors(t *testing.T) int {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", p.pid)
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	n, nets := 0, 0
	for _, e := range list {
		if target, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && strings.HasPrefix(target, "net:[") {
			nets++
		} else {
			n++
		}
	}
	if nets > 66 {
		t.Errorf("the agent holds %d network namespaces", nets)
	}
	return n
}

func entries(t *testing.T, dir string) int {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// groupsOf counts the control groups that a daemon has made.
func groupsOf(t *testing.T, pid int) int {
	t.Helper()
	n := 0
	mark := fmt.Sprintf("/banyan-%d-", pid)
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.Contains(path, mark) {
			n++
		}
		return nil // groups come and go while we look
	})
	return n
}

func TestB24_ManyForksLeaveNothing(t *testing.T) {
	p := boot(t, newRung(t), specOf(""))
	run(t, p, "1")
	before := p.leftovers(t)
	kinds := []string{
		"print(1)", "1/0", "import os; os._exit(3)", "import time; time.sleep(60)",
		"b = []\nwhile True: b.append(bytearray(1 << 20))", "while True: print('x' * 1000)",
		"import os\nif os.fork() == 0:\n os.setsid()\n if os.fork() == 0:\n  import time; time.sleep(60)",
	}
	n := 210
	if testing.Short() {
		n = 42
	}
	var wg sync.WaitGroup
	for worker := range 3 {
		wg.Go(func() {
			for i := worker; i < n; i += 3 {
				job := jobOf(kinds[i%len(kinds)])
				job.Limits = rungs.Limits{Wall: 300 * time.Millisecond, MemoryBytes: 64 << 20, OutputBytes: 1 << 10}
				c, err := p.Fork(context.Background(), job)
				if err != nil {
					t.Errorf("fork %d: %v", i, err)
					continue
				}
				if _, err := c.Wait(context.Background()); err != nil {
					t.Errorf("wait %d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
	after := p.leftovers(t)
	// The probe's parent may still have been on its way out at first.
	after.daemonFDs = max(after.daemonFDs, before.daemonFDs)
	if after != before {
		t.Errorf("left behind:\nbefore %+v\nafter  %+v", before, after)
	}
}

func TestB19_DaemonisedGrandchildDies(t *testing.T) {
	p := boot(t, newRung(t), specOf(""))
	const daemonise = `
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv("/usr/bin/sleep", ["banyan-b19-marker", "300"])
    os._exit(0)
print('done', flush=True)
`
	for _, tc := range []struct {
		name, then string
		status     rungs.Status
	}{
		{"exit", "", rungs.StatusOK},
		{"timeout", "time.sleep(60)", rungs.StatusTimeout},
		{"kill", "time.sleep(60)", rungs.StatusKilled},
	} {
		t.Run(tc.name, func(t *testing.T) {
			job := jobOf(daemonise + tc.then)
			job.Limits.Wall = 5 * time.Second
			if tc.name == "timeout" {
				job.Limits.Wall = time.Second
			}
			begin := time.Now()
			c := start(t, p, job)
			if tc.name == "kill" {
				eventually(t, "output", func() bool { return len(c.(*child).stdout.Bytes()) > 0 })
				c.Kill("test")
			}
			res := wait(t, c)
			if res.Status != tc.status || string(res.Stdout) != "done\n" || time.Since(begin) > 4*time.Second {
				t.Errorf("status %s, stdout %q after %v", res.Status, res.Stdout, time.Since(begin))
			}
			if out, _ := exec.Command("pgrep", "-f", "banyan-b19-marker").Output(); len(out) != 0 {
				t.Errorf("the grandchild lives: %s", out)
			}
		})
	}
}

func TestAKilledParentFailsItsJobsCleanly(t *testing.T) {
	r := newRung(t)
	p := boot(t, r, specOf(""))
	c := start(t, p, jobOf("import time; time.sleep(60)"))
	c.(*child).mu.Lock()
	pidfd, err := unix.Dup(c.(*child).pidfd)
	c.(*child).mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pidfd)
	if err := unix.Kill(p.pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Wait(context.Background()); errs.KindOf(err) != errs.RungFailed {
		t.Errorf("wait: %v", err)
	}
	if !gone(pidfd, 5*time.Second) {
		t.Error("the job outlived its parent")
	}
	<-p.Done()
	if _, err := p.Fork(context.Background(), jobOf("1")); errs.KindOf(err) != errs.Conflict {
		t.Errorf("fork of a dead parent: %v", err)
	}
	if n := r.uids.held(); n != 0 {
		t.Errorf("%d uids are held", n)
	}
	if err := p.Close("again"); err != nil {
		t.Errorf("close: %v", err)
	}
}

func TestCloseKillsJobsAndKeepsTheReason(t *testing.T) {
	p := boot(t, newRung(t), specOf(""))
	c := start(t, p, jobOf("import time; time.sleep(60)"))
	if err := p.Close("it is too old"); err != nil {
		t.Fatal(err)
	}
	if res := wait(t, c); res.Status != rungs.StatusKilled {
		t.Errorf("status %s", res.Status)
	}
	_, err := p.Fork(context.Background(), jobOf("1"))
	if errs.KindOf(err) != errs.Conflict || !strings.Contains(err.Error(), "it is too old") {
		t.Errorf("fork: %v", err)
	}
}

func TestBranchAddsAndOutlivesItsTrunk(t *testing.T) {
	for _, how := range []string{"close", "kill"} {
		t.Run(how, func(t *testing.T) {
			r := newRung(t)
			trunk := boot(t, r, specOf("trunk_data = [1, 2, 3]"))
			add := specOf("branch_data = sum(trunk_data)", "decimal", "colorsys")
			made, err := trunk.Branch(context.Background(), add)
			if err != nil {
				t.Fatal(err)
			}
			branch := made.(*parent)
			defer branch.Close("test is over") // always nil
			if got := string(run(t, trunk, "import sys; print('colorsys' in sys.modules)").Stdout); got != "False\n" {
				t.Errorf("the trunk changed: %s", got)
			}
			if how == "close" {
				if err := trunk.Close("no longer needed"); err != nil {
					t.Fatal(err)
				}
			} else {
				if err := unix.Kill(trunk.pid, unix.SIGKILL); err != nil {
					t.Fatal(err)
				}
				<-trunk.Done()
			}
			res := run(t, branch, "import sys; print('colorsys' in sys.modules, trunk_data, branch_data)")
			if got := string(res.Stdout); got != "True [1, 2, 3] 6\n" {
				t.Errorf("the branch says %q, %s", got, res.Stderr)
			}
			twig, err := branch.Branch(context.Background(), specOf("", "chunk"))
			if err != nil {
				t.Fatal(err)
			}
			defer twig.Close("test is over") // always nil
			held := false
			for _, h := range twig.Holds() {
				held = held || h.Capability.Short() == "py:chunk"
			}
			if !held {
				t.Errorf("the twig does not hold what it added: %d holdings", len(twig.Holds()))
			}
			if err := branch.Close("no longer needed"); err != nil {
				t.Fatal(err)
			}
			if got := string(run(t, twig, "print(branch_data)").Stdout); got != "6\n" {
				t.Errorf("the twig says %q", got)
			}
			// The branch stays to reap the twig, or the host's init has it; a
			// zombie would have no command line.
			_ = twig.Close("no longer needed")
			eventually(t, "branch and twig are gone", func() bool {
				return dead(branch.pid) && dead(twig.(*parent).pid) && dead(trunk.pid)
			})
		})
	}
}

// dead reports whether no process has the pid, not even as a zombie.
func dead(pid int) bool { return errors.Is(unix.Kill(pid, 0), unix.ESRCH) }

func TestABranchThatFailsLeavesTheTrunk(t *testing.T) {
	p := boot(t, newRung(t), specOf(""))
	_, err := p.Branch(context.Background(), specOf("", "no_such_module_here"))
	if errs.KindOf(err) != errs.Invalid || !strings.Contains(errs.Public(err), "No module named") {
		t.Errorf("branch: %v", err)
	}
	_, err = p.Branch(context.Background(), specOf("import os; os._exit(1)"))
	if errs.KindOf(err) != errs.RungFailed {
		t.Errorf("branch: %v", err)
	}
	if res := run(t, p, "print(1)"); res.Status != rungs.StatusOK {
		t.Errorf("status %s", res.Status)
	}
	waitSpares(t, p)
	eventually(t, "only spares are left", func() bool {
		return len(strings.Fields(read(t, fmt.Sprintf("/proc/%d/task/%d/children", p.pid, p.pid)))) == p.rung.cfg.Spares
	})
}

// helperEnv makes the test binary a daemon that can be killed.
const helperEnv = "BANYAN_TEST_DAEMON"

func TestMain(m *testing.M) {
	if os.Getenv(helperEnv) != "" {
		daemon()
		return
	}
	verify(m)
}

// daemon boots a trunk and a branch, starts a job in each, prints all pids and
// waits to be killed.
func daemon() {
	ctx := context.Background()
	r, err := New(Config{Python: pythonPath(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err)
	}
	trunk, err := r.Boot(ctx, specOf(""))
	if err != nil {
		panic(err)
	}
	branch, err := trunk.Branch(ctx, specOf("", "decimal"))
	if err != nil {
		panic(err)
	}
	fmt.Println("pid", trunk.Stats().PID)
	fmt.Println("pid", branch.Stats().PID)
	for _, p := range []rungs.Parent{trunk, branch} {
		if _, err := p.Fork(ctx, jobOf("import time; time.sleep(100)")); err != nil {
			panic(err)
		}
		pid := p.Stats().PID
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		for _, c := range strings.Fields(string(children)) {
			fmt.Println("pid", c)
		}
	}
	fmt.Println("ready")
	select {}
}

func TestB24_AKilledDaemonLeavesNoProcess(t *testing.T) {
	newRung(t) // skips where it cannot run
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "ready" {
		if n, err := strconv.Atoi(strings.TrimPrefix(lines.Text(), "pid ")); err == nil {
			pids = append(pids, n)
		}
	}
	if len(pids) < 4 {
		t.Fatalf("the daemon told of %d processes", len(pids))
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for _, pid := range pids {
		eventually(t, fmt.Sprintf("process %d is gone", pid), func() bool { return dead(pid) })
	}
	// The next rung sweeps the control groups.
	next, err := New(Config{Python: pythonPath(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close() // the check is below
	if err := next.Probe(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := groupsOf(t, cmd.Process.Pid); n != 0 {
		t.Errorf("%d control groups of the killed daemon are left", n)
	}
}
