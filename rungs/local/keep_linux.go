package local

import (
	"context"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/agent"
	"github.com/seed-ff860830/banyan/rungs/internal/pyhost"
)

// talk is what passes over the control socket.
type talk struct {
	report agent.Report
	began  time.Time   // when user code began
	timer  *time.Timer // the wall clock limit
	done   chan struct{}
}

// keep gives the process its job, follows it to its end, and cleans up.
func (c *child) keep(load *agent.Load) {
	defer close(c.done)
	defer c.leave()
	defer c.cleanUp()
	var writing sync.WaitGroup
	writing.Go(func() { c.send(load) })
	t := &talk{done: make(chan struct{})}
	go c.listen(t)

	awaitExit(c.process.Pid)
	state, err := c.end()
	exited := time.Now()

	// The socket has all that the job said, and ends now unless a process that
	// escaped holds it.
	select {
	case <-t.done:
	case <-time.After(drainGrace):
	}
	_ = c.conn.Close()
	<-t.done
	writing.Wait()
	if t.timer != nil {
		t.timer.Stop()
	}
	c.stdio.Finish(drainGrace)
	if err != nil {
		c.err = errs.Wrap(errs.RungFailed, err, "the job's end could not be waited for")
		return
	}
	c.result, c.err = c.outcome(state, t, exited)
}

// send writes what the process has to do. If it does not read (it is being
// killed), the closing of the socket ends the write.
func (c *child) send(load *agent.Load) {
	if load != nil {
		if err := c.conn.Send(c.parent.rung.cfg.BootTimeout, load); err != nil {
			return // its end will tell
		}
	}
	_ = agent.WriteJob(c.conn, c.job, c.jobLimits()) // likewise
}

// listen reads what the job says until its end.
func (c *child) listen(t *talk) {
	defer close(t.done)
	signs := agent.Signs{
		Started: func() {
			t.began = time.Now()
			t.timer = time.AfterFunc(c.limits.Wall, func() { c.kill(pyhost.CauseTimeout) })
			close(c.started)
		},
		Failed: func(f agent.Fail) { c.failed <- f },
	}
	var err error
	if t.report, err = agent.Listen(c.conn, c.job, signs); err != nil {
		// What it said up to here stands; it is not listened to any more.
		c.parent.rung.cfg.Logger.Debug("a job broke the protocol", "run", c.job.ID, "err", err)
		_ = c.conn.Close()
	}
}

// awaitExit returns when the process has ended, and leaves it to be waited
// for: its id stays its own.
func awaitExit(pid int) {
	for {
		var info unix.Siginfo
		if err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil); err != unix.EINTR {
			return // also ECHILD: the wait that follows says so
		}
	}
}

// end kills all that is left of the job, and waits for its first process.
func (c *child) end() (*os.ProcessState, error) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	c.mu.Lock()
	c.killGroup()
	c.ended = true
	c.mu.Unlock()
	if err := c.leaf.Kill(ctx); err != nil {
		c.parent.rung.cfg.Logger.Error("a job's processes do not end", "run", c.job.ID, "err", err)
	}
	return c.process.Wait()
}

// outcome is the job's result, from what the kernel says and the job said.
func (c *child) outcome(state *os.ProcessState, t *talk, exited time.Time) (*rungs.Result, error) {
	if t.began.IsZero() {
		return nil, c.neverBegan(state)
	}
	usage, err := c.leaf.Usage()
	if err != nil {
		return nil, err
	}
	facts := pyhost.Facts{
		Status:   state.Sys().(syscall.WaitStatus),
		Cause:    pyhost.Cause(c.cause.Load()),
		OOMKills: usage.OOMKills,
		CPU:      state.UserTime() + state.SystemTime(),
		CPULimit: c.limits.CPU,
		Raised:   t.report.Exception != nil,
	}
	r := &rungs.Result{
		Stdout:    c.stdio.Stdout.Bytes(),
		Stderr:    c.stdio.Stderr.Bytes(),
		Truncated: rungs.Truncated{Stdout: c.stdio.Stdout.Truncated(), Stderr: c.stdio.Stderr.Truncated()},
		Value:     t.report.Value,
		Artifacts: t.report.Artifacts,
		Skipped:   t.report.Skipped,
		Fork:      t.began.Sub(c.began),
		Run:       exited.Sub(t.began),
		CPU:       max(facts.CPU, usage.CPU),
		PeakBytes: usage.PeakBytes,
		Enforced:  c.enforced(),
	}
	if r.PeakBytes == 0 {
		if ru, ok := state.SysUsage().(*syscall.Rusage); ok {
			r.PeakBytes = ru.Maxrss << 10 // getrusage(2): kilobytes
		}
	}
	r.Status, r.ExitCode, r.Signal = pyhost.Decide(facts)
	if r.Status == rungs.StatusError {
		r.Exception = t.report.Exception
	}
	return r, nil
}

// neverBegan tells the log why, since only the interpreter can have written: no
// user code has run.
func (c *child) neverBegan(state *os.ProcessState) error {
	if said := c.stdio.Stderr.Bytes(); c.cause.Load() == int32(pyhost.CauseNone) {
		c.parent.rung.cfg.Logger.Warn("an interpreter ended before its job began", "run", c.job.ID,
			"state", state.String(), "said", string(said[max(0, len(said)-1024):]))
	}
	return errs.New(errs.RungFailed, "the job ended before it began")
}
