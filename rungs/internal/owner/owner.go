// Package owner names what a process leaves on the host (control groups, work
// directories) so that the name alone says whose it is, and judges whether the
// owner is gone. A later daemon can then sweep up after a crash without any
// other record, and never takes what belongs to a process that lives.
package owner

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

// Owner identifies a process beyond the reuse of its pid.
type Owner struct {
	PID   int    // in the pid namespace NS
	Start uint64 // ticks since boot (proc_pid_stat(5), field 22)
	NS    uint64 // inode of the pid namespace
}

// pattern is the exact form of a name, behind its prefix.
var pattern = regexp.MustCompile(`^-([1-9][0-9]{0,9})-([0-9]{1,20})-([1-9][0-9]{0,19})-[0-9]{1,10}$`)

// serial tells the names that one process makes apart.
var serial atomic.Uint32

// Self returns this process. root stands in front of /proc; it is empty but in
// tests.
func Self(root string) (Owner, error) {
	start, _, err := StartTime(root, os.Getpid())
	if err != nil {
		return Owner{}, err
	}
	link, err := os.Readlink(root + "/proc/self/ns/pid")
	if err != nil {
		return Owner{}, err
	}
	ns, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(link, "pid:["), "]"), 10, 64)
	if err != nil {
		return Owner{}, fmt.Errorf("pid namespace %q: %w", link, err)
	}
	return Owner{PID: os.Getpid(), Start: start, NS: ns}, nil
}

// Name returns a name with the given prefix that no other call returns.
func (o Owner) Name(prefix string) string {
	return fmt.Sprintf("%s-%d-%d-%d-%d", prefix, o.PID, o.Start, o.NS, serial.Add(1))
}

// Parse returns the owner that a name states; ok is false for a name that
// Name(prefix) cannot have made.
func Parse(prefix, name string) (o Owner, ok bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	m := pattern.FindStringSubmatch(rest)
	if !ok || m == nil {
		return Owner{}, false
	}
	pid, err1 := strconv.ParseInt(m[1], 10, 32)
	start, err2 := strconv.ParseUint(m[2], 10, 64)
	ns, err3 := strconv.ParseUint(m[3], 10, 64)
	return Owner{int(pid), start, ns}, errors.Join(err1, err2, err3) == nil
}

// Gone reports whether o has certainly ended, as seen by the process me. An
// owner in another pid namespace cannot be judged and counts as alive: what
// it left stays until a daemon of that namespace sweeps it.
func (o Owner) Gone(root string, me Owner) bool {
	if o.NS != me.NS {
		return false
	}
	start, state, err := StartTime(root, o.PID)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		return false
	}
	return start != o.Start || state == "Z" || state == "X"
}

// StartTime reads a process's start time and its state ("R", "S", "Z", …).
func StartTime(root string, pid int) (start uint64, state string, err error) {
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
