package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
)

// owner identifies a process beyond the reuse of its pid.
type owner struct {
	pid   int    // in the pid namespace ns
	start uint64 // ticks since boot (proc_pid_stat(5), field 22)
	ns    uint64 // inode of the pid namespace
}

// basePattern is the exact form of the directories that are ours.
var basePattern = regexp.MustCompile(`^banyan-([1-9][0-9]{0,9})-([0-9]{1,20})-([1-9][0-9]{0,19})-[0-9]{1,10}$`)

// serial tells the bases of one process apart.
var serial atomic.Uint32

// self returns this process as an owner.
func self(root string) (owner, error) {
	start, _, err := startTime(root, os.Getpid())
	if err != nil {
		return owner{}, err
	}
	link, err := os.Readlink(root + "/proc/self/ns/pid")
	if err != nil {
		return owner{}, err
	}
	ns, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(link, "pid:["), "]"), 10, 64)
	if err != nil {
		return owner{}, fmt.Errorf("pid namespace %q: %w", link, err)
	}
	return owner{pid: os.Getpid(), start: start, ns: ns}, nil
}

// baseName returns a name that no other Manager has.
func (o owner) baseName() string {
	return fmt.Sprintf("banyan-%d-%d-%d-%d", o.pid, o.start, o.ns, serial.Add(1))
}

// parseBase returns the owner that a directory's name states; ok is false for
// a directory that is not ours.
func parseBase(name string) (o owner, ok bool) {
	m := basePattern.FindStringSubmatch(name)
	if m == nil {
		return owner{}, false
	}
	pid, err1 := strconv.ParseInt(m[1], 10, 32)
	start, err2 := strconv.ParseUint(m[2], 10, 64)
	ns, err3 := strconv.ParseUint(m[3], 10, 64)
	return owner{int(pid), start, ns}, errors.Join(err1, err2, err3) == nil
}

// gone reports whether the owner has certainly ended. An owner in another pid
// namespace cannot be judged from here and counts as alive: its directory
// stays until a daemon of that namespace sweeps it.
func (o owner) gone(root string, me owner) bool {
	if o.ns != me.ns {
		return false
	}
	start, state, err := startTime(root, o.pid)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		return false
	}
	return start != o.start || state == "Z" || state == "X"
}

// startTime reads a process's start time and state.
func startTime(root string, pid int) (start uint64, state string, err error) {
	b, err := os.ReadFile(fmt.Sprintf("%s/proc/%d/stat", root, pid))
	if err != nil {
		return 0, "", err
	}
	// The name in parentheses may hold anything, parentheses too.
	s := string(b)
	fields := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	if len(fields) < 20 {
		return 0, "", fmt.Errorf("stat of process %d has %d fields", pid, len(fields))
	}
	start, err = strconv.ParseUint(fields[19], 10, 64)
	return start, fields[0], err
}
