package forkserver

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/agent"
	"github.com/seed-ff860830/banyan/rungs/internal/capture"
	"github.com/seed-ff860830/banyan/rungs/internal/cgroup"
)

// Bounds on the waits at a job's end.
const (
	// drainGrace is for reading what is left in the pipes. The tree is dead,
	// so they have their end already.
	drainGrace = time.Second
	// reapGrace is how long a killed child's end may take to be told.
	reapGrace = 10 * time.Second
	// leafGrace bounds the removal of a control group.
	leafGrace = 5 * time.Second
)

// child is one job. Three goroutines see to it from launch on: listen reads
// what it reports, feed writes its program, supervise waits for its end,
// clears up and makes the result; it is the last to end.
type child struct {
	parent *parent
	job    rungs.Job
	id     string
	begin  time.Time

	uid    int
	leaf   *cgroup.Leaf
	stdio  *capture.Stdio
	conn   *agent.Conn
	theirs *os.File // the child's end, until it is given away

	begun    chan struct{} // closed when user code began, or is certain never to
	exit     chan agent.Exit
	orphaned chan struct{} // closed when the parent is gone
	heard    chan struct{} // closed when listen has ended
	finished chan struct{} // closed when result and err are set

	mu       sync.Mutex
	pidfd    int
	cause    cause
	once     bool // orphaned is closed
	sent     bool // an exit has been passed on
	started  time.Time
	failed   *agent.Fail
	walls    []string
	deadline *time.Timer

	report agent.Report // of listen; read after heard
	result *rungs.Result
	err    error
}

// Wait returns the job's outcome; a ctx that ends first kills the job.
func (c *child) Wait(ctx context.Context) (*rungs.Result, error) {
	select {
	case <-c.finished:
	case <-ctx.Done():
		c.kill(causeKilled)
		<-c.finished // bounded by reapGrace and the graces after it
	}
	return c.result, c.err
}

// Kill ends the whole process tree at once.
func (c *child) Kill(reason string) {
	c.parent.log.Debug("job killed", "run", string(c.job.ID), "reason", reason)
	c.kill(causeKilled)
}

// kill kills the child for a cause; the first cause counts. The child's end
// takes its PID namespace and all that is in it along.
func (c *child) kill(why cause) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == causeNone {
		c.cause = why
		// An agent that does not tell of the end in time is no use any more.
		time.AfterFunc(reapGrace, func() {
			select {
			case <-c.finished:
			default:
				c.parent.fail("the parent process does not reap its children", nil)
			}
		})
	}
	if c.pidfd >= 0 {
		kill(c.pidfd)
	}
}

// setPidfd makes the child killable, and kills it if that was wanted before.
func (c *child) setPidfd(fd int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pidfd = fd
	if c.cause != causeNone {
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
	report, err := agent.Listen(c.conn, c.job, agent.Signs{
		Ready:   func(walls []string) { c.walls = walls },
		Started: c.start,
		Failed:  c.fail,
	})
	if err != nil && !errors.Is(err, os.ErrClosed) {
		c.parent.log.Info("job broke its protocol", "run", string(c.job.ID), "err", err)
		_ = c.conn.Close() // a writer that we do not read must not block
	}
	c.report = report
}

// start notes that user code begins, and starts the clock.
func (c *child) start() {
	missing := slices.DeleteFunc(c.parent.rung.required(), func(w string) bool { return slices.Contains(c.walls, w) })
	if len(missing) > 0 {
		c.fail(agent.Fail{Step: missing[0]})
		c.kill(causeKilled)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started = time.Now()
	c.deadline = time.AfterFunc(c.job.Limits.Wall, func() { c.kill(causeTimeout) })
	close(c.begun)
}

// fail notes that user code will not begin.
func (c *child) fail(f agent.Fail) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = &f
	close(c.begun)
}

// feed writes the job's files and program. A child that does not read them
// has ended or is about to: the error says nothing new.
func (c *child) feed() {
	_ = agent.WriteJob(c.conn, c.job, agent.LimitsFor(c.job.Limits))
}

// supervise waits for the child's end, clears up, and makes the result.
func (c *child) supervise() {
	var exit agent.Exit
	known := true
	select {
	case exit = <-c.exit:
	case <-c.orphaned:
		select {
		case exit = <-c.exit: // told before the parent went
		default:
			known = false
			kill(c.pidfd)
			gone(c.pidfd, reapGrace)
		}
	}
	end := time.Now()
	c.mu.Lock()
	if c.deadline != nil {
		c.deadline.Stop()
	}
	c.mu.Unlock()
	c.stdio.Finish(drainGrace)
	select {
	case <-c.heard:
	case <-time.After(drainGrace):
	}
	_ = c.conn.Close()
	<-c.heard
	c.conclude(exit, known, end)
	c.release()
	close(c.finished)
	c.mu.Lock()
	if c.started.IsZero() && c.failed == nil {
		close(c.begun)
	}
	c.mu.Unlock()
	c.parent.running.Done()
}

// conclude makes the result, or the error if the end is not known.
func (c *child) conclude(exit agent.Exit, known bool, end time.Time) {
	usage, err := c.leaf.Usage()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !known && c.cause == causeNone:
		c.err = errs.New(errs.RungFailed, "the snapshot's parent ended while the job ran")
		return
	case err != nil:
		c.err = err
		return
	}
	status := syscall.WaitStatus(exit.Status)
	if !known {
		status = syscall.WaitStatus(unix.SIGKILL) // we killed it, and nobody reaped it for us
	}
	own := time.Duration(max(exit.UserUS, 0)+max(exit.SystemUS, 0)) * time.Microsecond
	limits := agent.LimitsFor(c.job.Limits)
	res := &rungs.Result{
		Stdout: c.stdio.Stdout.Bytes(), Stderr: c.stdio.Stderr.Bytes(),
		Truncated: rungs.Truncated{Stdout: c.stdio.Stdout.Truncated(), Stderr: c.stdio.Stderr.Truncated()},
		Value:     c.report.Value, Artifacts: c.report.Artifacts, Skipped: c.report.Skipped,
		CPU: max(own, usage.CPU), PeakBytes: usage.PeakBytes, Enforced: c.enforced(),
	}
	res.Status, res.ExitCode, res.Signal = decide(facts{
		status: status, cause: c.cause, oomKills: usage.OOMKills, cpu: own,
		cpuLimit: time.Duration(limits.CPUSeconds) * time.Second, raised: c.report.Exception != nil,
	})
	if res.Status == rungs.StatusError {
		res.Exception = c.report.Exception
	}
	if !c.started.IsZero() {
		res.Fork, res.Run = c.started.Sub(c.begin), end.Sub(c.started)
	}
	c.result = res
}

// enforced says which walls were truly in force. The walls come from the
// child's ready frame, sent before user code could run.
func (c *child) enforced() rungs.Enforced {
	up := func(name string) bool { return slices.Contains(c.walls, name) }
	report := c.parent.host.groups.Report()
	e := rungs.Enforced{
		UID: up("uid"), Capabilities: up("capabilities"), NoNewPrivs: up("no_new_privs"),
		Seccomp: up("seccomp"), Landlock: up("landlock"), CPU: "rlimit",
		Memory: report.Memory, PIDs: report.PIDs, Missing: report.Missing,
	}
	for _, ns := range []string{"pid", "mnt", "net", "ipc", "uts"} {
		if up(ns) {
			e.Namespaces = append(e.Namespaces, ns)
		}
	}
	if up("root") {
		e.Root = "narrow"
	}
	if up("files") {
		e.Files = "tmpfs"
	}
	if !up("seccomp") {
		e.Missing = append(slices.Clone(e.Missing), "no system call filter")
	}
	return e
}

// wallError says why a fork failed before user code.
func (c *child) wallError(f *agent.Fail) error {
	cause := errors.New(f.Message)
	if f.Step == "job" && (unix.Errno(f.Errno) == unix.ENOSPC || unix.Errno(f.Errno) == unix.EFBIG) {
		return errs.Wrap(errs.Invalid, cause, "the job's files do not fit into its limit files_bytes of %d", c.job.Limits.FilesBytes)
	}
	return errs.Wrap(errs.RungFailed, cause, "the wall %.32q could not be put up", f.Step)
}

// discard gives back what a child holds that was never launched.
func (c *child) discard() {
	c.closeTheirs()
	if c.conn != nil {
		_ = c.conn.Close()
	}
	if c.stdio != nil {
		c.stdio.Close()
	}
	c.release()
	c.parent.running.Done()
}

// closeTheirs closes the ends that belong to the child.
func (c *child) closeTheirs() {
	if c.theirs != nil {
		_ = c.theirs.Close()
	}
	if c.stdio != nil {
		c.stdio.CloseChild()
	}
}

// release gives back the leaf, the uid and the place. All processes of the job
// are gone: they were in the PID namespace of its first, and what is in the
// leaf is killed with it.
func (c *child) release() {
	if c.leaf != nil {
		ctx, cancel := context.WithTimeout(context.Background(), leafGrace)
		if err := c.leaf.Remove(ctx); err != nil {
			c.parent.log.Warn("control group left behind", "run", string(c.job.ID), "err", err)
		}
		cancel()
	}
	if c.uid > 0 {
		c.parent.rung.uids.give(c.uid)
	}
	c.mu.Lock()
	if c.pidfd >= 0 {
		_ = unix.Close(c.pidfd)
		c.pidfd = -1
	}
	c.mu.Unlock()
	c.parent.mu.Lock()
	delete(c.parent.children, c.id)
	c.parent.mu.Unlock()
}
