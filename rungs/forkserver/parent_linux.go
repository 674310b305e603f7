package forkserver

import (
	"context"
	"errors"
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

// sendTimeout bounds the writing of one frame to an agent, which reads at once
// unless it hangs.
const sendTimeout = 10 * time.Second

// maxMessage bounds what an agent's error may say: it goes to the caller.
const maxMessage = 4 << 10

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

// answer is one frame that answers a request.
type answer struct {
	op   string
	body []byte
	fds  []int
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

// ask makes a request and decodes the answer of the wanted kind into out.
func (p *parent) ask(ctx context.Context, frame any, want string, out any) error {
	a, err := p.request(ctx, frame, want, nil)
	if err != nil {
		return err
	}
	agent.CloseAll(a.fds)
	return p.decode(a, out)
}

// request sends a frame and waits for its answer. Once it is sent, a ctx that
// ends fails the parent: its answer could not be told from the next one.
func (p *parent) request(ctx context.Context, frame any, want string, files []*os.File) (answer, error) {
	done, err := p.myTurn(ctx)
	if err != nil {
		return answer{}, err
	}
	defer done()
	return p.exchange(ctx, frame, want, files)
}

// requestWithin is request for a parent that is in use: a caller that goes
// away must not cost it its life, a fork that hangs must. The time of a fork
// runs from its turn on: those who wait in front of it are not its hang.
func (p *parent) requestWithin(ctx context.Context, frame any, want string, files []*os.File) (answer, error) {
	done, err := p.myTurn(ctx)
	if err != nil {
		return answer{}, err
	}
	defer done()
	watch, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.rung.cfg.ForkTimeout)
	defer cancel()
	a, err := p.exchange(watch, frame, want, files)
	if err != nil && watch.Err() != nil {
		err = errs.Wrap(errs.RungFailed, err, "the parent process hangs in a fork")
	}
	return a, err
}

// myTurn waits for the right to make a request, which ends with done.
func (p *parent) myTurn(ctx context.Context) (done func(), err error) {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, contextError(ctx)
	case <-p.lost:
		p.mu.Lock()
		defer p.mu.Unlock()
		return nil, p.usable()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.usable(); err != nil {
		<-p.turn
		return nil, err
	}
	return func() { <-p.turn }, nil
}

// exchange sends a frame and waits for its answer. The caller has the turn.
func (p *parent) exchange(ctx context.Context, frame any, want string, files []*os.File) (answer, error) {
	if err := p.conn.Send(sendTimeout, frame, files...); err != nil {
		p.fail("the parent process does not read", err)
		return answer{}, errs.Wrap(errs.RungFailed, err, "the parent process does not answer")
	}
	return p.wait(ctx, want)
}

func (p *parent) wait(ctx context.Context, want string) (answer, error) {
	select {
	case a := <-p.answers:
		if a.op == want {
			return a, nil
		}
		agent.CloseAll(a.fds)
		return answer{}, p.refusal(a)
	case <-p.lost:
		return answer{}, errs.New(errs.RungFailed, "the parent process ended")
	case <-ctx.Done():
		p.fail("the parent process hangs", ctx.Err())
		return answer{}, contextError(ctx)
	}
}

// await takes an answer that needs no request: a branch's hello.
func (p *parent) await(ctx context.Context, want string, out any) error {
	a, err := p.wait(ctx, want)
	if err != nil {
		return err
	}
	agent.CloseAll(a.fds)
	return p.decode(a, out)
}

func (p *parent) decode(a answer, out any) error {
	if err := agent.Decode(a.body, out); err != nil {
		p.fail("the parent process broke its protocol", err)
		return errs.Wrap(errs.RungFailed, err, "the parent process broke its protocol")
	}
	return nil
}

// refusal turns an answer that was not wanted into an error.
func (p *parent) refusal(a answer) error {
	var e agent.Error
	if a.op != agent.OpError || agent.Decode(a.body, &e) != nil {
		p.fail("the parent process broke its protocol", nil)
		return errs.New(errs.RungFailed, "the parent process broke its protocol")
	}
	e.Message, e.Module = agent.Clip(e.Message, maxMessage), agent.Clip(e.Module, rungs.MaxNameBytes)
	switch e.Code {
	case agent.CodeImport:
		return errs.New(errs.Invalid, "module %s cannot be imported: %s", e.Module, e.Message)
	case agent.CodeSetup:
		return errs.New(errs.Invalid, "the set-up code failed: %s", e.Message)
	case agent.CodeNotForkSafe:
		return errs.New(errs.Unsupported, "the parent is not fork-safe: %s", e.Message).
			WithHint("run it on a rung without warm forks, or import a library that starts no threads")
	case agent.CodeWall:
		return errs.Wrap(errs.Unavailable, errors.New(e.Message), "the wall %q cannot be put up here", e.Module)
	}
	return errs.Wrap(errs.RungFailed, errors.New(e.Message), "the parent process refused: %.32s", e.Code)
}

func contextError(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errs.Wrap(errs.Timeout, ctx.Err(), "the parent took too long")
	}
	return errs.Wrap(errs.Canceled, ctx.Err(), "the caller went away")
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
