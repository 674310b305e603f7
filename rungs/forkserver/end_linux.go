package forkserver

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/agent"
	"github.com/seed-ff860830/banyan/rungs/internal/pyhost"
)

// Bounds on the waits at a job's end.
const (
	// drainGrace is for reading what is left in the pipes. The tree is dead,
	// so they have their end already.
	drainGrace = time.Second
	// reapGrace is how long a killed child's end may take to be told, and
	// maxLate how often that is granted to one that has not even ended: a large
	// or starved process is no fault of its parent's.
	reapGrace = 10 * time.Second
	maxLate   = 6
	// leafGrace bounds the removal of a control group.
	leafGrace = 5 * time.Second
)

// supervise waits for the child's end, clears up, and makes the result.
func (c *child) supervise() {
	exit, known := c.awaitEnd()
	end := time.Now()
	c.mu.Lock()
	c.ending = true
	for _, t := range []*time.Timer{c.deadline, c.overdue} {
		if t != nil {
			t.Stop()
		}
	}
	job := c.job
	c.mu.Unlock()
	if job != nil {
		c.stdin.Close()
		c.stdout.Finish(drainGrace)
		c.stderr.Finish(drainGrace)
	}
	select {
	case <-c.heard:
	case <-time.After(drainGrace):
	}
	_ = c.conn.Close()
	<-c.heard
	if job != nil {
		<-c.fed
		c.conclude(exit, known, end)
	}
	c.release()
	c.leave()
	close(c.finished)
	c.mu.Lock()
	if c.started.IsZero() && c.failed == nil {
		close(c.begun)
	}
	c.mu.Unlock()
	c.parent.running.Done()
}

// awaitEnd waits until the process has ended. The end is not known if the
// parent went first: then nobody reaped the child for us.
func (c *child) awaitEnd() (exit agent.Exit, known bool) {
	select {
	case exit = <-c.exit:
		return exit, true
	case <-c.orphaned:
	}
	select {
	case exit = <-c.exit: // told before the parent went
		return exit, true
	default:
	}
	kill(c.pidfd)
	gone(c.pidfd, reapGrace)
	reap(c.pidfd)
	return agent.Exit{Status: int(unix.SIGKILL)}, false
}

// conclude makes the result, or the error if the end is not known.
func (c *child) conclude(exit agent.Exit, known bool, end time.Time) {
	usage, err := c.leaf.Usage()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !known && c.cause == pyhost.CauseNone:
		c.err = errs.New(errs.RungFailed, "the snapshot's parent ended while the job ran")
		return
	case err != nil:
		c.err = err
		return
	}
	own := time.Duration(max(exit.UserUS, 0)+max(exit.SystemUS, 0)) * time.Microsecond
	limits := agent.LimitsFor(c.job.Limits)
	res := &rungs.Result{
		Stdout: c.stdout.Bytes(), Stderr: c.stderr.Bytes(),
		Truncated: rungs.Truncated{Stdout: c.stdout.Truncated(), Stderr: c.stderr.Truncated()},
		Value:     c.report.Value, Artifacts: c.report.Artifacts, Skipped: c.report.Skipped,
		CPU: max(own, usage.CPU), PeakBytes: usage.PeakBytes, Enforced: c.enforced(),
	}
	res.Status, res.ExitCode, res.Signal = pyhost.Decide(pyhost.Facts{
		Status: syscall.WaitStatus(exit.Status), Cause: c.cause, OOMKills: usage.OOMKills, CPU: own,
		CPULimit: time.Duration(limits.CPUSeconds) * time.Second, Raised: c.report.Exception != nil,
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
	if up("cgroupns") {
		e.Namespaces = append(e.Namespaces, "cgroup")
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
	if f.Step == "job" && f.Errno == 0 {
		// No system call failed: something in the job cannot be made sense of,
		// which must not count against the rung.
		return errs.Wrap(errs.Invalid, cause, "the job could not be set up as it is")
	}
	return errs.Wrap(errs.RungFailed, cause, "the wall %.32q could not be put up", f.Step)
}

// discard gives back what a child holds that has no process.
func (c *child) discard() {
	c.mu.Lock()
	c.ending = true
	if c.overdue != nil {
		c.overdue.Stop()
	}
	c.mu.Unlock()
	if c.conn != nil {
		_ = c.conn.Close()
	}
	c.closeTheirs()
	c.release()
	c.leave()
	c.parent.running.Done()
}

// closeTheirs closes the ends that belong to the child.
func (c *child) closeTheirs() {
	if c.theirs != nil {
		_ = c.theirs.Close()
	}
	if c.pipes != nil {
		c.pipes.closeChild()
	}
}

// release gives back all that a child holds. Its processes are gone: they were
// in the PID namespace of its first, and what is in the leaf is killed with it.
// If that is not certain its uid is not used again.
func (c *child) release() {
	p, certain := c.parent, !c.unsure
	if c.pipes != nil {
		c.pipes.close()
	}
	if c.leaf != nil {
		ctx, cancel := context.WithTimeout(context.Background(), leafGrace)
		if err := c.leaf.Remove(ctx); err != nil {
			p.log.Warn("control group left behind", "err", err)
			certain = false
		}
		cancel()
	}
	c.mu.Lock()
	if c.pidfd >= 0 {
		certain = certain && gone(c.pidfd, 0)
		_ = unix.Close(c.pidfd)
		c.pidfd = -1
	}
	c.mu.Unlock()
	switch {
	case c.uid <= 0:
	case certain:
		p.rung.uids.give(c.uid)
	default:
		p.log.Warn("a job's user id is not used again: its processes may not have ended", "uid", c.uid)
		p.rung.uids.lose()
	}
}

// leave takes the child out of its parent's books.
func (c *child) leave() {
	p := c.parent
	p.mu.Lock()
	delete(p.children, c.id)
	p.spares = slices.DeleteFunc(p.spares, func(s *child) bool { return s == c })
	c.left = true
	if c.counted {
		p.busy--
	}
	p.mu.Unlock()
	p.wantSpares()
}
