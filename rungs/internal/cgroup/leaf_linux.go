package cgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// leafName is what a leaf may be called: a run id and its like.
var leafName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$`)

// Leaf is one job's group, in every hierarchy of its Manager. Its methods may
// be called from several goroutines, but Remove is the last.
type Leaf struct {
	dirs  []leafDir
	trees []*hierarchy
	procs []*os.File
}

// leafDir is a leaf in one hierarchy.
type leafDir struct {
	version int
	path    string
}

// NewLeaf makes a leaf with limits in force. It leaves nothing if it fails. A
// limit whose controller is missing is an error unless the Manager was opened
// with Degraded, since then Report tells.
func (m *Manager) NewLeaf(name string, limits Limits) (*Leaf, error) {
	m.mu.Lock()
	closed := m.closed
	m.mu.Unlock()
	if closed {
		return nil, errs.New(errs.Conflict, "the control groups are closed")
	}
	if !leafName.MatchString(name) || name == daemonGroup {
		return nil, errs.New(errs.Internal, "bad leaf name %q", name)
	}
	l := &Leaf{}
	if err := l.make(m.trees, name, limits); err != nil {
		l.discard()
		return nil, errs.Wrap(errs.RungFailed, err, "the job's limits could not be put in force")
	}
	return l, nil
}

func (l *Leaf) make(trees []*hierarchy, name string, limits Limits) error {
	for _, h := range trees {
		dir := leafDir{h.version, h.base + "/" + name}
		if err := mkdir(dir.path); err != nil {
			return err
		}
		l.dirs, l.trees = append(l.dirs, dir), append(l.trees, h)
		f, err := os.OpenFile(dir.path+"/cgroup.procs", os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		l.procs = append(l.procs, f)
	}
	return l.SetLimits(limits)
}

// discard removes a leaf that no process was ever in.
func (l *Leaf) discard() {
	for _, f := range l.procs {
		_ = f.Close()
	}
	for _, d := range l.dirs {
		_ = rmdir(d.path)
	}
}

// SetLimits changes the limits in force. A zero field leaves its limit alone.
func (l *Leaf) SetLimits(limits Limits) error {
	var all error
	for i, h := range l.trees {
		if h.has(Memory) && limits.MemoryBytes > 0 {
			all = errors.Join(all, l.dirs[i].setMemory(limits.MemoryBytes))
		}
		if h.has(PIDs) && limits.PIDs > 0 {
			all = errors.Join(all, l.dirs[i].setPIDs(limits.PIDs))
		}
		if h.has(CPU) && limits.CPUs > 0 {
			all = errors.Join(all, l.dirs[i].setCPU(limits.CPUs))
		}
	}
	return all
}

// Procs are the open cgroup.procs files, one a hierarchy. A process that holds
// them puts itself into the leaf by writing "0" to each; the kernel checks the
// rights of the opener, so the writer needs none. They belong to the leaf.
func (l *Leaf) Procs() []*os.File { return l.procs }

// Add moves a process into the leaf. What it has forked or allocated before
// stays outside; let a child write to Procs itself where that matters.
func (l *Leaf) Add(pid int) error {
	for _, f := range l.procs {
		if _, err := f.WriteString(strconv.Itoa(pid)); err != nil {
			return errs.Wrap(errs.RungFailed, err, "the job could not be put under its limits")
		}
	}
	return nil
}

// Dir returns an open descriptor of the version 2 directory, for starting a
// process straight into it (CLONE_INTO_CGROUP, SysProcAttr.CgroupFD); ok is
// false where there is none. The caller closes it.
func (l *Leaf) Dir() (dir *os.File, ok bool) {
	for _, d := range l.dirs {
		if d.version == 2 {
			f, err := os.Open(d.path)
			return f, err == nil
		}
	}
	return nil, false
}

// Usage reads the counters. It fails if the out-of-memory counter cannot be
// read where memory is limited, since a job's status hangs on it.
func (l *Leaf) Usage() (Usage, error) {
	var u Usage
	for i, h := range l.trees {
		d := l.dirs[i]
		if h.has(Memory) {
			n, err := d.oomKills()
			if err != nil {
				return u, errs.Wrap(errs.RungFailed, err, "the job's memory counter cannot be read")
			}
			u.OOMKills = n
			// memory.peak came with Linux 5.19; without it the peak is unknown.
			if peak, err := readInt(d.path + "/" + d.name("memory.max_usage_in_bytes", "memory.peak")); err == nil {
				u.PeakBytes = peak
			}
		}
		if d.version == 2 {
			if us, err := readKey(d.path+"/cpu.stat", "usage_usec"); err == nil {
				u.CPU, u.HasCPU = time.Duration(us)*time.Microsecond, true
			}
		}
	}
	return u, nil
}

// Empty reports whether no process is in the leaf.
func (l *Leaf) Empty() bool {
	for _, d := range l.dirs {
		if pids, err := readPIDs(d.path); err == nil && len(pids) > 0 {
			return false
		}
	}
	return true
}

// Kill ends every process in the leaf and returns when none is left, or with
// an error when ctx ends. Nothing can be forked in the leaf afterwards.
func (l *Leaf) Kill(ctx context.Context) error {
	var all error
	for _, d := range l.dirs {
		all = errors.Join(all, killAll(ctx, d.path))
	}
	return all
}

// Remove kills what is left in the leaf and removes it. Call it last; calling
// it again does nothing.
func (l *Leaf) Remove(ctx context.Context) error {
	for _, f := range l.procs {
		_ = f.Close()
	}
	var all error
	for _, d := range l.dirs {
		all = errors.Join(all, removeTree(ctx, d.path))
	}
	if all != nil {
		return errs.Wrap(errs.RungFailed, all, "the job's control group could not be removed")
	}
	return nil
}

func (d leafDir) name(v1, v2 string) string {
	if d.version == 1 {
		return v1
	}
	return v2
}

// setMemory limits memory and swap together, so that swap is no way round it.
func (d leafDir) setMemory(n int64) error {
	if d.version == 2 {
		if err := writeInt(d.path+"/memory.max", n); err != nil {
			return err
		}
		// Without CONFIG_SWAP, or swap accounting, the file is not there.
		if err := writeInt(d.path+"/memory.swap.max", 0); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return write(d.path+"/memory.oom.group", "1")
	}
	limit, swap := d.path+"/memory.limit_in_bytes", d.path+"/memory.memsw.limit_in_bytes"
	if !exists(swap) {
		// No swap accounting: keep the leaf from being swapped out instead.
		return errors.Join(writeInt(limit, n), write(d.path+"/memory.swappiness", "0"))
	}
	// The first may never exceed the second, so the order depends on whether
	// the limit goes down (usual) or up.
	if err := writeInt(limit, n); errors.Is(err, unix.EINVAL) {
		return errors.Join(writeInt(swap, n), writeInt(limit, n))
	} else if err != nil {
		return err
	}
	return writeInt(swap, n)
}

func (d leafDir) setPIDs(n int64) error { return writeInt(d.path+"/pids.max", n) }

// cpuPeriod is the kernel's default period of bandwidth control.
const cpuPeriod = 100 * time.Millisecond

func (d leafDir) setCPU(cpus float64) error {
	period := cpuPeriod.Microseconds()
	quota := max(int64(cpus*float64(period)), 1000) // the kernel's least is 1 ms
	if d.version == 2 {
		return write(d.path+"/cpu.max", fmt.Sprintf("%d %d", quota, period))
	}
	return errors.Join(writeInt(d.path+"/cpu.cfs_period_us", period), writeInt(d.path+"/cpu.cfs_quota_us", quota))
}

// oomKills reads the count of processes killed at the leaf's limit (version 1
// has it since Linux 4.13).
func (d leafDir) oomKills() (int64, error) {
	return readKey(d.path+"/"+d.name("memory.oom_control", "memory.events"), "oom_kill")
}
