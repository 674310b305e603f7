package forkserver

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/agent"
	"github.com/seed-ff860830/banyan/rungs/internal/pyhost"
)

// parent is one agent process, a trunk or a branch, and its control socket.
//
// Requests to the agent go one at a time: it is one thread, so nothing is won by
// more, and the time that one takes is the time that it hangs. A reading
// goroutine hands answers to the request and ends of children to the children.
type parent struct {
	rung  *Rung
	host  *host
	spec  rungs.Spec
	log   *slog.Logger
	conn  *agent.Conn
	pid   int
	pidfd int

	warm     time.Duration
	resident int64
	holds    []rungs.Holding
	forks    atomic.Int64

	turn    chan struct{} // holds one token: the right to make a request
	answers chan answer
	lost    chan struct{} // closed when no answer comes any more
	done    chan struct{} // closed when the agent is gone, and all goroutines but the log's

	refill chan struct{} // asks the keeper for spares
	quit   chan struct{} // ends the keeper
	keeper sync.WaitGroup

	mu       sync.Mutex
	next     int
	children map[string]*child // with a job or spare
	busy     int               // children with a job
	demand   int               // jobs that wait for a fork
	spares   []*child
	running  sync.WaitGroup // the children; added to under mu while not closing
	closing  bool
	reason   string // why it was closed or died
	failed   bool
}

func (r *Rung) newParent(h *host, conn *agent.Conn, pid, pidfd int, log *os.File, spec rungs.Spec) *parent {
	p := &parent{
		rung: r, host: h, spec: spec, conn: conn, pid: pid, pidfd: pidfd,
		log:      r.cfg.Logger.With("rung", string(Name), "parent", pid),
		turn:     make(chan struct{}, 1),
		refill:   make(chan struct{}, 1),
		quit:     make(chan struct{}),
		answers:  make(chan answer, 1),
		lost:     make(chan struct{}),
		done:     make(chan struct{}),
		children: map[string]*child{},
	}
	own, err := unix.FcntlInt(uintptr(pidfd), unix.F_DUPFD_CLOEXEC, 0)
	r.trunks.Go(func() {
		drainLog(log, p.log) // ends with the process
		if err == nil {
			gone(own, closeTimeout)
			reap(own)
			_ = unix.Close(own)
		}
	})
	if !r.add(p) {
		p.fail("the rung is closed", nil)
	}
	go p.read()
	return p
}

// read takes frames from the agent until its socket ends.
func (p *parent) read() {
	defer p.ended()
	for {
		body, fds, err := p.conn.Receive(agent.MaxAgentFrame)
		if err != nil {
			p.fail("the parent process ended", err)
			return
		}
		if err := p.take(body, fds); err != nil {
			p.fail("the parent process broke its protocol", err)
			return
		}
	}
}

// take deals with one frame. It owns fds.
func (p *parent) take(body []byte, fds []int) error {
	op, err := agent.Op(body)
	if err != nil {
		agent.CloseAll(fds)
		return err
	}
	if op == agent.OpExit {
		agent.CloseAll(fds)
		var exit agent.Exit
		if err := agent.Decode(body, &exit); err != nil {
			return err
		}
		p.mu.Lock()
		c := p.children[exit.ID]
		p.mu.Unlock()
		if c != nil { // else a branch, or a fork that was given up
			c.exited(exit)
		}
		return nil
	}
	select {
	case p.answers <- answer{op, body, fds}:
		return nil
	default:
		agent.CloseAll(fds)
		return fmt.Errorf("%w: %.200q", agent.ErrOrder, body)
	}
}

// ended runs when nothing more comes from the agent.
func (p *parent) ended() {
	p.mu.Lock()
	// A closed trunk may stay for its branches; any other must be gone.
	if p.failed || !p.closing {
		kill(p.pidfd)
	}
	stays := p.closing && !p.failed
	p.closing = true
	left := make([]*child, 0, len(p.children))
	for _, c := range p.children {
		left = append(left, c)
	}
	p.mu.Unlock()
	close(p.quit)
	if !stays {
		gone(p.pidfd, closeTimeout)
	}
	for _, c := range left {
		c.orphan()
	}
	close(p.lost)
	p.keeper.Wait()
	p.running.Wait()
	select {
	case a := <-p.answers:
		agent.CloseAll(a.fds)
	default:
	}
	p.mu.Lock()
	_ = unix.Close(p.pidfd)
	p.pidfd = -1
	p.mu.Unlock()
	p.rung.remove(p)
	close(p.done)
}

// fail gives the agent up: its socket is closed, and read's end kills it. The
// first reason is kept. On a parent that is being closed it does nothing but
// close the socket.
func (p *parent) fail(reason string, err error) {
	p.mu.Lock()
	first := !p.failed && !p.closing
	if first {
		p.failed, p.reason = true, reason
	}
	p.mu.Unlock()
	if first {
		p.log.Warn("parent lost", "reason", reason, "err", err)
	}
	_ = p.conn.Close()
}

// killProcess kills the agent if it is not known to be gone.
func (p *parent) killProcess() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pidfd >= 0 {
		p.failed = true
		kill(p.pidfd)
	}
}

// usable returns a Conflict error if the parent takes no requests any more.
// The caller holds mu.
func (p *parent) usable() error {
	if p.closing || p.failed {
		return errs.New(errs.Conflict, "the snapshot's parent is closed: %s", p.reason)
	}
	return nil
}

// gone reports whether the parent's process is lost, or about to be.
func (p *parent) gone() bool {
	select {
	case <-p.lost:
		return true
	default:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// Holds returns what the agent found loaded.
func (p *parent) Holds() []rungs.Holding { return slices.Clone(p.holds) }

// Stats returns the parent's figures.
func (p *parent) Stats() rungs.ParentStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return rungs.ParentStats{
		PID: p.pid, ResidentBytes: p.resident, Warm: p.warm,
		Children: p.busy, Forks: p.forks.Load(),
	}
}

// Done is closed when the agent is gone and so are its jobs.
func (p *parent) Done() <-chan struct{} { return p.done }

// Close kills the jobs and ends the agent; its branches live on.
func (p *parent) Close(reason string) error {
	p.mu.Lock()
	if p.closing || p.failed {
		p.mu.Unlock()
		<-p.done
		return nil
	}
	p.closing, p.reason = true, reason
	left := make([]*child, 0, len(p.children))
	for _, c := range p.children {
		left = append(left, c)
	}
	p.mu.Unlock()
	for _, c := range left {
		c.kill(pyhost.CauseKilled)
	}
	p.running.Wait()
	// A failure to send means that it is going already.
	_ = p.conn.Send(sendTimeout, agent.Plain{Op: agent.OpClose})
	select {
	case <-p.done:
	case <-time.After(closeTimeout):
		p.log.Warn("parent does not close")
		p.killProcess()
		_ = p.conn.Close()
		<-p.done
	}
	return nil
}

// abandon ends an agent that did not come as far as being sealed.
func (p *parent) abandon(why error) {
	p.log.Info("parent given up", "err", why)
	p.mu.Lock()
	p.failed = true
	p.reason = "it could not be warmed up"
	p.mu.Unlock()
	_ = p.conn.Close()
	<-p.done
}
