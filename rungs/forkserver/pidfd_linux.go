package forkserver

import (
	"time"

	"golang.org/x/sys/unix"
)

// gone waits until the process of a pidfd has ended, for timeout at the most.
func gone(pidfd int, timeout time.Duration) bool {
	deadline := time.Now().Add(timeout)
	for {
		left := time.Until(deadline)
		fds := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(max(left, 0)/time.Millisecond))
		switch {
		case n > 0:
			return true
		case err == unix.EINTR && left > 0:
		default:
			return false
		}
	}
}

// reap takes a process that has ended off the kernel's books if it is for us to
// do so: its own parent went first, and the daemon is what the kernel hands
// orphans to (process 1 of a container, a subreaper). Else it does nothing.
func reap(pidfd int) {
	_ = unix.Waitid(unix.P_PIDFD, pidfd, nil, unix.WEXITED|unix.WNOHANG, nil) // ECHILD: not ours
}

// kill sends SIGKILL by pidfd, which can only ever hit the process it was
// opened for. An error means that the process is gone.
func kill(pidfd int) { _ = unix.PidfdSendSignal(pidfd, unix.SIGKILL, nil, 0) }
