package forkserver

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/agent"
	"github.com/seed-ff860830/banyan/rungs/internal/capture"
	"github.com/seed-ff860830/banyan/rungs/internal/cgroup"
	"github.com/seed-ff860830/banyan/rungs/internal/pyhost"
)

// child is one fork: first without a job (a spare), then with one. Two
// goroutines see to it from launch on: listen reads what it reports, supervise
// waits for its end, clears up and makes the result; it is the last to end. A
// third writes the job.
type child struct {
	parent     *parent
	id         string
	filesBytes int64

	uid    int
	unsure bool // it may have a process that we were not told of
	leaf   *cgroup.Leaf
	pipes  *pipes
	conn   *agent.Conn
	theirs *os.File // the child's end, until it is given away

	launched chan struct{} // closed when there is a process, or is certain never to be
	begun    chan struct{} // closed when user code began, or is certain never to
	exit     chan agent.Exit
	orphaned chan struct{} // closed when the parent is gone
	heard    chan struct{} // closed when listen has ended
	finished chan struct{} // closed when all is cleared up, and result and err are set

	mu       sync.Mutex
	pidfd    int
	cause    pyhost.Cause
	once     bool // orphaned is closed
	sent     bool // an exit has been passed on
	ending   bool // supervise has seen the end
	lateness int  // how often late has run
	started  time.Time
	failed   *agent.Fail
	walls    []string
	deadline *time.Timer // of the job
	overdue  *time.Timer // of its end

	// Set by assign, under mu, before anything of the job is sent.
	job            *rungs.Job
	begin          time.Time
	stdout, stderr *capture.Stream
	stdin          *capture.Feeder
	fed            chan struct{} // closed when the job was written

	// Under the parent's mu: whether it counts among the busy, and whether it
	// has left the parent's books.
	counted, left bool

	report agent.Report // of listen; read after heard
	result *rungs.Result
	err    error
}

func newChild(p *parent, filesBytes int64) *child {
	return &child{
		parent: p, filesBytes: filesBytes, pidfd: -1,
		launched: make(chan struct{}), begun: make(chan struct{}), exit: make(chan agent.Exit, 1),
		orphaned: make(chan struct{}), heard: make(chan struct{}), finished: make(chan struct{}),
	}
}

// equip gets the child's uid, control group, pipes and control socket.
func (c *child) equip() (err error) {
	if c.uid, err = c.parent.rung.uids.take(); err != nil {
		return err
	}
	name := "p" + strconv.Itoa(c.parent.pid) + "-" + c.id
	if c.leaf, err = c.parent.host.groups.NewLeaf(name, defaultLimits); err != nil {
		return err
	}
	if c.pipes, err = openPipes(); err != nil {
		return errs.Wrap(errs.RungFailed, err, "the job's streams could not be made")
	}
	if c.conn, c.theirs, err = agent.Pair(); err != nil {
		return errs.Wrap(errs.RungFailed, err, "the job's control socket could not be made")
	}
	return nil
}

// defaultLimits are in force in a leaf until a job with others comes.
var defaultLimits = leafLimits(rungs.Limits{}.WithDefaults())

func leafLimits(l rungs.Limits) cgroup.Limits {
	return cgroup.Limits{MemoryBytes: l.MemoryBytes, PIDs: l.PIDs}
}

// assign gives the child its job: limits first, then streams, then the program.
func (c *child) assign(job rungs.Job, begin time.Time) error {
	if limits := leafLimits(job.Limits); limits != defaultLimits {
		if err := c.leaf.SetLimits(limits); err != nil {
			return errs.Wrap(errs.RungFailed, err, "the job's limits could not be put in force")
		}
	}
	keep := job.Limits.OutputBytes
	flood := func() { c.kill(pyhost.CauseOutput) }
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return errEarly // supervise will not look at the job any more
	}
	c.job, c.begin, c.fed = &job, begin, make(chan struct{})
	c.stdout = capture.Start(c.pipes.ours[1], keep, keep*rungs.FloodFactor, flood)
	c.stderr = capture.Start(c.pipes.ours[2], keep, keep*rungs.FloodFactor, flood)
	c.stdin = capture.Feed(c.pipes.ours[0], job.Stdin)
	go func() {
		defer close(c.fed)
		// A child that does not read has ended or is about to: the error says
		// nothing new.
		_ = agent.WriteJob(c.conn, job, agent.LimitsFor(job.Limits))
	}()
	return nil
}

// alive reports whether a launched child can still take a job.
func (c *child) alive() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pidfd >= 0 && !c.ending && c.cause == pyhost.CauseNone && c.failed == nil
}

// Wait returns the job's outcome; a ctx that ends first kills the job.
func (c *child) Wait(ctx context.Context) (*rungs.Result, error) {
	select {
	case <-c.finished:
	case <-ctx.Done():
		c.kill(pyhost.CauseKilled)
		<-c.finished // bounded by reapGrace, maxLate and the graces after them
	}
	return c.result, c.err
}

// Kill ends the whole process tree at once.
func (c *child) Kill(reason string) {
	c.parent.log.Debug("job killed", "run", c.runID(), "reason", reason)
	c.kill(pyhost.CauseKilled)
}

// kill kills the child for a cause; the first cause counts. The child's end
// takes its PID namespace and all that is in it along.
func (c *child) kill(why pyhost.Cause) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return
	}
	if c.cause == pyhost.CauseNone {
		c.cause = why
		c.overdue = time.AfterFunc(reapGrace, c.late)
	}
	if c.pidfd >= 0 {
		kill(c.pidfd)
	}
}

// late runs when the end of a killed child was not told in time. An agent that
// does not tell of a child that has ended is no use any more.
func (c *child) late() {
	c.mu.Lock()
	c.lateness++
	again := !c.ending && c.lateness < maxLate && !(c.pidfd >= 0 && gone(c.pidfd, 0))
	over := c.ending
	if again {
		c.overdue = time.AfterFunc(reapGrace, c.late)
	}
	c.mu.Unlock()
	if !again && !over {
		c.parent.fail("the parent process does not reap its children", nil)
	}
}

// setPidfd makes the child killable, and kills it if that was wanted before.
func (c *child) setPidfd(fd int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pidfd = fd
	if c.cause != pyhost.CauseNone {
		kill(fd)
	}
}

// exited passes the child's end on to supervise.
func (c *child) exited(e agent.Exit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.sent { // an agent is not believed to send it once
		c.sent = true
		c.exit <- e
	}
}

// orphan tells the child that its parent is gone.
func (c *child) orphan() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.once {
		c.once = true
		close(c.orphaned)
	}
}

// listen reads the child's frames.
func (c *child) listen() {
	defer close(c.heard)
	report, err := agent.ListenFor(c.conn, c.patterns, agent.Signs{
		Ready:   func(walls []string) { c.walls = walls },
		Started: c.start,
		Failed:  c.fail,
	})
	if err != nil && !errors.Is(err, os.ErrClosed) {
		c.parent.log.Info("job broke its protocol", "run", c.runID(), "err", err)
		_ = c.conn.Close() // a writer that we do not read must not block
	}
	c.report = report
}

// start notes that user code begins, and starts the clock.
func (c *child) start() {
	missing := slices.DeleteFunc(c.parent.rung.required(), func(w string) bool { return slices.Contains(c.walls, w) })
	if len(missing) > 0 {
		c.fail(agent.Fail{Step: missing[0]})
		c.kill(pyhost.CauseKilled)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.job == nil {
		return // it began without a job: it is not ours any more, and never will be
	}
	c.started = time.Now()
	c.deadline = time.AfterFunc(c.job.Limits.Wall, func() { c.kill(pyhost.CauseTimeout) })
	close(c.begun)
}

// fail notes that user code will not begin.
func (c *child) fail(f agent.Fail) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = &f
	close(c.begun)
}

// patterns are the artifacts that the job is asked for.
func (c *child) patterns() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.job == nil {
		return nil
	}
	return c.job.Artifacts
}

// runID names the child's run in the log.
func (c *child) runID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.job == nil {
		return "spare"
	}
	return string(c.job.ID)
}
