package forkserver

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/rungs/agent"
)

// spawner starts agents from one thread that lives as long as the rung. The
// kernel sends a parent-death signal when the *thread* that forked ends, and
// threads of the Go runtime come and go.
type spawner struct {
	work chan func()
	done chan struct{}
}

func newSpawner() *spawner {
	s := &spawner{work: make(chan func()), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		for f := range s.work {
			f()
		}
	}()
	return s
}

// close ends the thread, and with it every agent that still runs.
func (s *spawner) close() {
	close(s.work)
	<-s.done
}

// start starts an agent. log is its standard output and error, control its end
// of the control socket; both stay the caller's.
func (s *spawner) start(exe string, args, env []string, log, control, source *os.File) (*os.Process, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close() //nolint:errcheck // a read end has nothing to lose
	argv := append([]string{exe}, args...)
	argv = append(argv, "-I", agent.SourcePath, agent.ModeAgent)
	type started struct {
		process *os.Process
		err     error
	}
	result := make(chan started, 1)
	s.work <- func() {
		p, err := os.StartProcess(exe, argv, &os.ProcAttr{
			Dir:   "/",
			Env:   env,
			Files: []*os.File{null, log, log, control, source},
			Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
		})
		result <- started{p, err}
	}
	r := <-result
	return r.process, r.err
}

// sourceFile returns the agent's source as a sealed memory file, so that
// nobody can change on disk what runs as root.
func sourceFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("banyan-agent", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("make memory file: %w", err)
	}
	f := os.NewFile(uintptr(fd), "banyan-agent")
	_, err = f.Write(agent.Source)
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_GROW|unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("write memory file: %w", err)
	}
	return f, nil
}

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

// kill sends SIGKILL by pidfd, which can only ever hit the process it was
// opened for. An error means that the process is gone.
func kill(pidfd int) { _ = unix.PidfdSendSignal(pidfd, unix.SIGKILL, nil, 0) }
