package cgroup

import (
	"context"
	"errors"
	"os"
	"path"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// maxDepth bounds how deep groups are removed: base, leaf, and what a container
// runtime may have made in there.
const maxDepth = 8

// removeTree kills all that runs in dir and below and removes it. A directory
// that is not there is no error: another sweep may have been faster.
func removeTree(ctx context.Context, dir string) error { return removeDepth(ctx, dir, maxDepth) }

func removeDepth(ctx context.Context, dir string, depth int) error {
	if depth == 0 {
		return errors.New("control groups nest too deep")
	}
	// Most leaves are empty when they are removed: try that first.
	err := rmdir(dir)
	for wait := time.Millisecond; err != nil; wait = min(2*wait, 50*time.Millisecond) {
		if ignoreGone(err) == nil {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) && !errors.Is(err, unix.ENOTEMPTY) {
			return err
		}
		if err := killAll(ctx, dir); err != nil {
			return err
		}
		if err := removeBelow(ctx, dir, "", depth-1); err != nil {
			return err
		}
		if err = rmdir(dir); err == nil {
			break
		}
		// Busy although empty: the last process is not quite gone.
		if pauseErr := pause(ctx, wait); pauseErr != nil {
			return errors.Join(pauseErr, err)
		}
	}
	return nil
}

// removeBelow removes the groups below dir, all but the one named except.
func removeBelow(ctx context.Context, dir, except string, depth int) error {
	entries, err := os.ReadDir(dir)
	err = ignoreGone(err)
	for _, e := range entries {
		if e.IsDir() && e.Name() != except {
			err = errors.Join(err, removeDepth(ctx, path.Join(dir, e.Name()), depth))
		}
	}
	return err
}

// killAll ends the processes of one group, not of those below it, and waits
// until it is empty.
func killAll(ctx context.Context, dir string) error {
	// With no room for a process more, a fork bomb cannot outrun the loop.
	// Where there is no pids controller the loop may need more rounds.
	_ = write(dir+"/pids.max", "0")
	_ = write(dir+"/cgroup.kill", "1") // version 2, since Linux 5.14
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		pids, err := readPIDs(dir)
		if err != nil {
			return ignoreGone(err)
		}
		if len(pids) == 0 {
			return nil
		}
		killMembers(dir, pids)
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

// killMembers kills the given processes if they are still in the group. A pid
// may be reused between reading and killing, so each is pinned first by a
// pidfd and then looked up again: a stranger is not in the group.
func killMembers(dir string, pids []int) {
	fds := map[int]int{}
	for _, pid := range pids {
		if fd, err := unix.PidfdOpen(pid, 0); err == nil {
			fds[pid] = fd
		}
		if len(fds) == 256 {
			break // bounds the descriptors; the next round takes the rest
		}
	}
	still, err := readPIDs(dir)
	for pid, fd := range fds {
		if err == nil && pid != os.Getpid() && slices.Contains(still, pid) {
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		}
		_ = unix.Close(fd)
	}
}

func ignoreGone(err error) error {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENODEV) {
		return nil
	}
	return err
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
