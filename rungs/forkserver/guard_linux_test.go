package forkserver

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/agent"
)

// Two daemons of one host share the default range and never an id of it.
func TestTwoRungsNeverShareAUserID(t *testing.T) {
	path := filepath.Join(t.TempDir(), "uids")
	const base, count = 1_000_000, 3 * uidBlock
	open := func() *uids {
		t.Helper()
		c, err := openClaims(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.close() })
		u := newUIDs(base, count)
		u.claim = c.claim
		return u
	}
	a, b := open(), open()
	seen := map[int]bool{}
	for i := range count {
		id, err := []*uids{a, b}[i%2].take()
		if i >= 2*uidBlock && i%2 == 1 { // a got the third block
			if errs.KindOf(err) != errs.Exhausted {
				t.Fatalf("take %d of the other: %d, %v", i, id, err)
			}
			continue
		}
		if err != nil || seen[id] || id < base || id >= base+count {
			t.Fatalf("take %d: %d (seen %v), %v", i, id, seen[id], err)
		}
		seen[id] = true
	}
	// An end lets go of all of it.
	c, err := openClaims(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if ours, err := c.claim(base, 1); ours || err != nil {
		t.Errorf("a held id was claimed: %v, %v", ours, err)
	}
}

func TestAJobsUserIDIsHeldAgainstOthers(t *testing.T) {
	r := newRung(t)
	job := start(t, boot(t, r, specOf("")), jobOf("import os, time; print(os.getuid(), flush=True); time.sleep(60)"))
	defer func() { job.Kill("test is over"); wait(t, job) }()
	other, err := openClaims(claimFile)
	if err != nil {
		t.Fatal(err)
	}
	defer other.close()
	if ours, err := other.claim(job.(*child).uid, 1); ours || err != nil {
		t.Errorf("another daemon may use the job's id: %v, %v", ours, err)
	}
}

// Whose end is not certain keeps its user id for good.
func TestAUserIDInDoubtIsNotUsedAgain(t *testing.T) {
	r := newRung(t, noSpares)
	p := boot(t, r, specOf(""))
	c := newChild(p, rungs.DefaultFilesBytes)
	if err := c.equip(); err != nil {
		t.Fatal(err)
	}
	c.unsure = true
	p.running.Add(1)
	c.discard()
	if r.uids.held() != 0 || r.uids.lost != 1 {
		t.Errorf("held %d, lost %d", r.uids.held(), r.uids.lost)
	}
	for range r.uids.n {
		if id, err := r.uids.take(); err != nil || id == c.uid {
			t.Fatalf("take: %d, %v", id, err)
		} else {
			defer r.uids.give(id)
		}
	}
}

// The time that a fork may take is its own, not that of the forks before it.
func TestAQueueOfForksIsNoHang(t *testing.T) {
	r := newRung(t)
	r.cfg.ForkTimeout, r.cfg.Spares = 2*time.Second, -1
	p := boot(t, r, specOf("import os, time; os.register_at_fork(before=lambda: time.sleep(0.6))"))
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			c, err := p.Fork(context.Background(), jobOf("print(1)"))
			if err != nil {
				t.Errorf("fork: %v", err)
				return
			}
			if res := wait(t, c); res.Status != rungs.StatusOK {
				t.Errorf("status %s", res.Status)
			}
		})
	}
	wg.Wait()
}

// A caller that goes away while others have their turn costs nobody anything.
func TestACallerMayLeaveTheQueue(t *testing.T) {
	p := boot(t, newRung(t, noSpares), specOf(""))
	p.turn <- struct{}{}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Fork(ctx, jobOf("1")); errs.KindOf(err) != errs.Canceled {
		t.Errorf("fork: %v", err)
	}
	<-p.turn
	if res := run(t, p, "print(1)"); res.Status != rungs.StatusOK {
		t.Errorf("status %s", res.Status)
	}
}

// A killed job that takes long to end is no fault of its parent's; an agent
// that does not tell of one that has ended is.
func TestASlowDeathIsNotTheParentsFault(t *testing.T) {
	p := boot(t, newRung(t, noSpares), specOf(""))
	sleep := exec.Command("sleep", "60")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.PidfdOpen(sleep.Process.Pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	c := newChild(p, rungs.DefaultFilesBytes)
	c.pidfd = fd
	c.late()
	c.overdue.Stop()
	if p.gone() {
		t.Error("the parent was given up for a child that lives")
	}
	_ = sleep.Process.Kill()
	_ = sleep.Wait()
	c.late()
	if !p.gone() {
		t.Error("the parent was kept that does not tell of a child's end")
	}
	<-p.Done()
}

// A daemon that is process 1 of a container is handed the jobs of an agent that
// died, and must not keep them as zombies.
func TestOrphansDoNotStayAsZombies(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) }()
	r := newRung(t, noSpares)
	p := boot(t, r, specOf(""))
	b, err := p.Branch(context.Background(), specOf("", "colorsys"))
	if err != nil {
		t.Fatal(err)
	}
	job := start(t, p, jobOf("import time; time.sleep(60)"))
	p.killProcess()
	if _, err := job.Wait(context.Background()); errs.KindOf(err) != errs.RungFailed {
		t.Errorf("wait: %v", err)
	}
	<-p.Done()
	twig := b.(*parent)
	_ = twig.Close("test is over")
	eventually(t, "nobody is left that ended", func() bool { return zombies(t) == 0 })
}

// zombies counts the children of this process that have ended.
func zombies(t *testing.T) (n int) {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range tasks {
		list, _ := os.ReadFile(file) // a thread may end meanwhile
		for pid := range strings.FieldsSeq(string(list)) {
			if stat, err := os.ReadFile("/proc/" + pid + "/stat"); err == nil && strings.Contains(string(stat), ") Z ") {
				n++
			}
		}
	}
	return n
}

func TestWhatAnAgentSaysIsBounded(t *testing.T) {
	_, err := newRung(t).Boot(context.Background(), specOf("import _banyan_agent as a\na._clip = lambda text, limit: text\nraise ValueError('x' * 1000000)"))
	if errs.KindOf(err) != errs.Invalid || len(errs.Public(err)) > 2*maxMessage {
		t.Errorf("an error of %d bytes: %.100v", len(errs.Public(err)), err)
	}
	if got := agent.Clip("ab\xff", 3); got != "ab\uFFFD" {
		t.Errorf("clip: %q", got)
	}
}
