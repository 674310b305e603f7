package pyhost

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/rungs/agent"
)

// SourceFile returns the agent's source as a sealed memory file, so that
// nobody can change on disk what the daemon runs. Each process that opens it
// by agent.SourcePath reads it from its beginning.
func SourceFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("banyan-agent", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("make memory file: %w", err)
	}
	f := os.NewFile(uintptr(fd), "banyan-agent")
	_, err = f.Write(agent.Source)
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_GROW|unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write memory file: %w", err), f.Close())
	}
	return f, nil
}

// Starter starts processes from one thread that lives as long as it does. The
// kernel sends a parent-death signal when the *thread* that forked ends, and
// the Go runtime's threads come and go.
type Starter struct {
	work chan func()
	quit chan struct{} // closed to end the thread
	done chan struct{} // closed when it ends
	stop sync.Once
}

// NewStarter starts the thread. Close ends it.
func NewStarter() *Starter {
	s := &Starter{work: make(chan func()), quit: make(chan struct{}), done: make(chan struct{})}
	go s.serve(make(chan struct{}))
	return s
}

// serve does the work on a thread that ends with it, and closes locked when it
// has one. The process's first thread is not such a one: the Go runtime keeps
// it when its goroutine ends, and no parent-death signal would ever be sent.
// Who finds himself on it holds it until another has found a better one.
func (s *Starter) serve(locked chan<- struct{}) {
	runtime.LockOSThread() // not unlocked: the thread ends with the goroutine
	if unix.Gettid() == unix.Getpid() {
		found := make(chan struct{})
		go s.serve(found)
		<-found
		close(locked)
		runtime.UnlockOSThread()
		return
	}
	close(locked)
	defer close(s.done)
	for {
		select {
		case f := <-s.work:
			f()
		case <-s.quit:
			return
		}
	}
}

// Start is os.StartProcess on the Starter's thread. After Close it fails.
func (s *Starter) Start(exe string, argv []string, attr *os.ProcAttr) (p *os.Process, err error) {
	ran := make(chan struct{})
	work := func() {
		defer close(ran)
		p, err = os.StartProcess(exe, argv, attr)
	}
	select {
	case s.work <- work:
		<-ran
		return p, err
	case <-s.done:
		return nil, os.ErrClosed
	}
}

// Close ends the thread, and with it every process that was started with a
// parent-death signal and still runs. Closing again does nothing.
func (s *Starter) Close() {
	s.stop.Do(func() { close(s.quit) })
	<-s.done
}
