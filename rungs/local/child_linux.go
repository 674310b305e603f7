package local

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/agent"
	"github.com/seed-ff860830/banyan/rungs/internal/capture"
	"github.com/seed-ff860830/banyan/rungs/internal/cgroup"
	"github.com/seed-ff860830/banyan/rungs/internal/pyhost"
)

// drainGrace is how long the rest of the output may take when all processes
// should have ended. Without a control group one may have escaped that keeps
// the pipe open; it is not waited for.
const drainGrace = 200 * time.Millisecond

// child is one job. Its keeper goroutine owns everything in it and cleans up
// whether or not anybody waits.
type child struct {
	parent *parent
	job    rungs.Job
	limits rungs.Limits
	began  time.Time

	dir     workdir
	leaf    *cgroup.Leaf
	stdio   *capture.Stdio
	conn    *agent.Conn
	process *os.Process

	started chan struct{} // closed before the first line of user code
	failed  chan agent.Fail
	done    chan struct{} // closed when all is cleaned up

	cause atomic.Int32 // pyhost.Cause; the first stays
	mu    sync.Mutex
	ended bool // the process has been waited for: its id may be another's

	result *rungs.Result // set before done is closed
	err    error
}

// start starts a process for job, and returns when user code begins. If it
// fails, no user code has run and nothing is left.
func (p *parent) start(ctx context.Context, job rungs.Job, load *agent.Load) (*child, error) {
	select {
	case p.rung.jobs <- struct{}{}:
	default:
		return nil, errs.New(errs.Exhausted, "all %d places for local jobs are taken", p.rung.cfg.MaxJobs).
			WithHint("try again when a job has ended")
	}
	c := &child{
		parent: p, job: job, limits: job.Limits.WithDefaults(), began: time.Now(),
		started: make(chan struct{}), failed: make(chan agent.Fail, 1), done: make(chan struct{}),
	}
	if err := p.admit(c); err != nil {
		<-p.rung.jobs
		return nil, err
	}
	if err := c.launch(); err != nil {
		c.cleanUp()
		c.leave()
		return nil, errs.Wrap(errs.RungFailed, err, "the job could not be started")
	}
	go c.keep(load)
	if err := c.await(ctx); err != nil {
		c.kill(pyhost.CauseKilled)
		<-c.done
		return nil, err
	}
	return c, nil
}

// leave takes the job out of the books.
func (c *child) leave() {
	<-c.parent.rung.jobs
	c.parent.discharge(c)
}

// await waits for the first line of user code.
func (c *child) await(ctx context.Context) error {
	select {
	case <-c.started:
		return nil
	case f := <-c.failed:
		return failure(f)
	case <-c.done:
		select {
		case <-c.started: // and ended already
			return nil
		case f := <-c.failed:
			return failure(f)
		default:
			if c.cause.Load() != int32(pyhost.CauseNone) {
				return errs.New(errs.Canceled, "the job was killed before it began")
			}
			return errs.New(errs.RungFailed, "the interpreter ended before the job began").
				WithHint("try the interpreter by hand: python3 -I -c 'print(1)'")
		}
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return errs.Wrap(errs.Timeout, ctx.Err(), "the job did not begin in time")
		}
		return errs.Wrap(errs.Canceled, ctx.Err(), "the caller went away before the job began")
	}
}

// failure is what the agent's own failure before user code means.
func failure(f agent.Fail) error {
	if f.Step == "load" {
		return errs.New(errs.Invalid, "the runtime cannot be made ready: %s", f.Message)
	}
	return errs.Wrap(errs.RungFailed, errors.New(f.Message), "the job's %s could not be made ready", f.Step)
}

// Wait returns the job's outcome, when all of it is gone. If ctx ends first,
// the job is killed.
func (c *child) Wait(ctx context.Context) (*rungs.Result, error) {
	select {
	case <-c.done:
	case <-ctx.Done():
		c.kill(pyhost.CauseKilled)
		<-c.done
	}
	return c.result, c.err
}

// Kill ends the job's processes.
func (c *child) Kill(reason string) {
	c.parent.rung.cfg.Logger.Info("job killed", "run", c.job.ID, "reason", reason)
	c.kill(pyhost.CauseKilled)
}

// kill ends the job's first process and its group; the keeper does the rest.
// It does not block. The first cause is the one that counts.
func (c *child) kill(cause pyhost.Cause) {
	c.cause.CompareAndSwap(int32(pyhost.CauseNone), int32(cause))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process != nil && !c.ended {
		c.killGroup()
	}
}

// killGroup needs that the process has not been waited for: until then no
// other process or group can have its id. The process itself is killed by its
// own id too, since it may have moved to another group.
func (c *child) killGroup() {
	_ = unix.Kill(-c.process.Pid, unix.SIGKILL) // ESRCH: nobody is left in it
	_ = unix.Kill(c.process.Pid, unix.SIGKILL)
}
