package cgroup

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/rungs/internal/owner"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// realManager opens the host's control groups, or skips with the reason.
func realManager(t *testing.T) *Manager {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root to make control groups")
	}
	m, err := Open(Config{})
	if err != nil {
		t.Skipf("needs control groups for memory and pids: %v", err)
	}
	t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
		for _, h := range m.trees {
			if exists(h.base) {
				t.Errorf("%s is left", h.base)
			}
		}
	})
	return m
}

// inside starts a shell script in the leaf: it is in before its first command.
func inside(t *testing.T, l *Leaf, script string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	// The shell puts itself in, as a forked child does, through the open files.
	join := ""
	for i := range l.Procs() {
		join += "echo 0 >&" + strconv.Itoa(3+i) + "; exec " + strconv.Itoa(3+i) + ">&-; "
	}
	cmd := exec.Command("/bin/sh", "-c", join+script)
	cmd.ExtraFiles = l.Procs()
	out, w := io.Pipe()
	cmd.Stdout = w
	t.Cleanup(func() { _ = out.Close() })
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewReader(out)
}

func mustLeaf(t *testing.T, m *Manager, limits Limits) *Leaf {
	t.Helper()
	l, err := m.NewLeaf("t"+strconv.FormatInt(time.Now().UnixNano(), 36), limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Remove(context.Background()); err != nil {
			t.Error(err)
		}
		for _, d := range l.dirs {
			if exists(d.path) {
				t.Errorf("leaf %s is left", d.path)
			}
		}
	})
	return l
}

func TestB11_MemoryLimitKillsAndIsCounted(t *testing.T) {
	l := mustLeaf(t, realManager(t), Limits{MemoryBytes: 32 << 20, PIDs: 16})
	cmd, _ := inside(t, l, "head -c 200000000 /dev/zero | tail -n 1")
	_ = cmd.Wait()
	u, err := l.Usage()
	if err != nil || u.OOMKills == 0 {
		t.Errorf("usage %+v, %v; want an out-of-memory kill", u, err)
	}
	if u.PeakBytes < 16<<20 || u.PeakBytes > 32<<20 {
		t.Errorf("peak %d", u.PeakBytes)
	}
}

func TestA_KillIsNotAnOutOfMemoryKill(t *testing.T) {
	l := mustLeaf(t, realManager(t), Limits{MemoryBytes: 32 << 20, PIDs: 16})
	cmd, _ := inside(t, l, "kill -9 $$")
	_ = cmd.Wait()
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != syscall.SIGKILL {
		t.Errorf("wait status %v", ws)
	}
	if u, err := l.Usage(); err != nil || u.OOMKills != 0 {
		t.Errorf("usage %+v, %v", u, err)
	}
}

func TestB19_KillFindsWhatCalledSetsid(t *testing.T) {
	m := realManager(t)
	for name, kernelKills := range map[string]bool{"as the host has it": true, "without cgroup.kill": false} {
		t.Run(name, func(t *testing.T) {
			l := mustLeaf(t, m, Limits{MemoryBytes: 64 << 20, PIDs: 32})
			if !kernelKills {
				plain := write
				t.Cleanup(func() { write = plain })
				write = func(file, value string) error {
					if path.Base(file) == "cgroup.kill" {
						return unix.ENOENT
					}
					return plain(file, value)
				}
			}
			cmd, out := inside(t, l, "setsid sh -c 'sleep 300 & echo $!; exec sleep 300' >&1 & wait")
			line, err := out.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(line))
			if err != nil {
				t.Fatal(err)
			}
			if l.Empty() {
				t.Error("the leaf counts as empty")
			}
			if err := l.Kill(t.Context()); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if !l.Empty() {
				t.Error("the leaf is not empty after Kill")
			}
			// Its parent is gone, so it is a zombie at the most.
			if _, state, err := owner.StartTime("", pid); err == nil && state != "Z" && state != "X" {
				t.Errorf("process %d is in state %s", pid, state)
			}
		})
	}
}

func TestForkBombIsContainedAndEnds(t *testing.T) {
	l := mustLeaf(t, realManager(t), Limits{MemoryBytes: 64 << 20, PIDs: 20})
	cmd, out := inside(t, l, "b() { b & b & wait; }; echo start; b 2>/dev/null; sleep 300")
	if _, err := out.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	for _, d := range l.dirs {
		if pids, _ := readPIDs(d.path); len(pids) > 20 {
			t.Errorf("%d processes", len(pids))
		}
	}
	if err := l.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
}

func TestSweepEndsWhatADeadDaemonLeft(t *testing.T) {
	m := realManager(t)
	// A daemon that has ended: a process of which we noted pid and start time.
	dead := exec.Command("/bin/cat")
	in, err := dead.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := dead.Start(); err != nil {
		t.Fatal(err)
	}
	start, _, err := owner.StartTime("", dead.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	_ = dead.Wait()
	orphaned := owner.Owner{PID: dead.Process.Pid, Start: start, NS: m.me.NS}.Name(prefix)
	crashed := &Manager{me: m.me}
	for _, h := range m.trees {
		c := *h
		c.base = c.own + "/" + orphaned
		if err := mkdir(c.base); err != nil {
			t.Fatal(err)
		}
		crashed.trees = append(crashed.trees, &c)
	}
	l, err := crashed.NewLeaf("ex_1", Limits{PIDs: 10})
	if err != nil {
		t.Fatal(err)
	}
	cmd, out := inside(t, l, "sleep 300 & echo x; wait")
	if _, err := out.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	removed, err := m.Sweep(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Another process that tests at the same time may sweep as well, and may
	// have been faster.
	if !slices.Contains(removed, orphaned) {
		t.Logf("removed %v; the orphaned group went by another's hand", removed)
	}
	_ = cmd.Wait()
	for _, h := range crashed.trees {
		if exists(h.base) {
			t.Errorf("%s is left", h.base)
		}
	}
	for _, h := range m.trees {
		if !exists(h.base) {
			t.Errorf("our own %s was swept", h.base)
		}
	}
	if err := l.Remove(t.Context()); err != nil {
		t.Errorf("removing a leaf that was swept: %v", err)
	}
}

func TestKillGivesUpWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := mustLeaf(t, realManager(t), Limits{PIDs: 10})
	cmd, out := inside(t, l, "echo x; sleep 300")
	if _, err := out.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	// The kill itself is done; what ends is the wait.
	_ = l.Kill(ctx)
	_ = cmd.Wait()
}

func BenchmarkLeaf(b *testing.B) {
	if os.Geteuid() != 0 {
		b.Skip("needs root")
	}
	m, err := Open(Config{})
	if err != nil {
		b.Skip(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	for b.Loop() {
		l, err := m.NewLeaf("bench", Limits{MemoryBytes: 64 << 20, PIDs: 8})
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Remove(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
