package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/agent"
	"github.com/seed-ff860830/banyan/rungs/internal/capture"
	"github.com/seed-ff860830/banyan/rungs/internal/cgroup"
	"github.com/seed-ff860830/banyan/rungs/internal/pyhost"
)

// launch makes all that the job needs and starts its process. The process
// waits for its job on the control socket, so what is done to it here is in
// force before user code. When launch fails, cleanUp removes what it made.
func (c *child) launch() (err error) {
	h, limits := c.parent.host, c.limits
	if c.dir, err = newWorkdir(h.base); err != nil {
		return err
	}
	c.leaf, err = h.groups.NewLeaf(string(c.job.ID), cgroup.Limits{MemoryBytes: limits.MemoryBytes, PIDs: limits.PIDs})
	if err != nil {
		return err
	}
	flood := func() { c.kill(pyhost.CauseOutput) }
	c.stdio, err = capture.Open(c.job.Stdin, limits.OutputBytes, rungs.FloodFactor*limits.OutputBytes, flood)
	if err != nil {
		return fmt.Errorf("make pipes: %w", err)
	}
	defer c.stdio.CloseChild()
	conn, theirs, err := agent.Pair()
	if err != nil {
		return err
	}
	defer theirs.Close() // the process has its copy
	c.conn = conn
	process, err := c.exec(theirs)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.process = process
	if c.cause.Load() != int32(pyhost.CauseNone) {
		c.killGroup() // the parent was closed meanwhile
	}
	c.mu.Unlock()
	if err := c.leaf.Add(process.Pid); err != nil && !errors.Is(err, syscall.ESRCH) {
		_, waitErr := c.end()
		return errors.Join(err, waitErr)
	}
	return nil
}

// exec starts the interpreter with the agent in its cold mode.
func (c *child) exec(control *os.File) (*os.Process, error) {
	spec, h := c.parent.spec, c.parent.host
	argv := append([]string{c.parent.exe}, spec.Runtime.Args...)
	argv = append(argv, "-I", agent.SourcePath, agent.ModeCold)
	private := map[string]string{"HOME": c.dir.tmp, "TMPDIR": c.dir.tmp}
	process, err := h.starter.Start(c.parent.exe, argv, &os.ProcAttr{
		Dir:   c.dir.work,
		Env:   pyhost.Environ(private, spec.Env),
		Files: []*os.File{c.stdio.Child[0], c.stdio.Child[1], c.stdio.Child[2], control, h.source},
		// A group of its own to be killed by, and the end with the daemon's.
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return nil, fmt.Errorf("start the interpreter: %w", err)
	}
	return process, nil
}

// jobLimits are the resource limits that the process sets for itself.
func (c *child) jobLimits() agent.JobLimits {
	l := agent.LimitsFor(c.limits)
	// Counted for all processes of the user, and the job has no user of its own.
	l.NProc = 0
	if c.parent.host.groups.Report().Memory == "" {
		l.AS = c.limits.MemoryBytes + addressSlack
	}
	return l
}

// addressSlack is what a process may have in address space beyond its memory
// limit where only RLIMIT_AS can be set: numeric libraries map far more than
// they use, and would not load under a tight limit.
const addressSlack = 512 << 20

// enforced says what holds the job.
func (c *child) enforced() rungs.Enforced {
	report := c.parent.host.groups.Report()
	e := rungs.Enforced{Namespaces: []string{}, Memory: report.Memory, PIDs: report.PIDs, CPU: "rlimit"}
	e.Missing = append(e.Missing,
		"isolation: the job runs as the daemon's user and sees its files, processes and network",
		"files: each file is bounded, their sum is not")
	if e.Memory == "" {
		e.Memory = "rlimit"
		e.Missing = append(e.Missing, "memory: address space is bounded for each process, memory is not for all together")
	}
	if !c.parent.host.contains() {
		e.Missing = append(e.Missing, "processes: one that calls setsid outlives the job")
	}
	e.Missing = append(e.Missing, report.Missing...)
	return e
}

// contains reports whether the control group knows all of a job's processes.
func (h *host) contains() bool {
	r := h.groups.Report()
	return r.Memory != "" || r.PIDs != "" || r.Kill
}

// cleanUp removes what launch made, in the order that nothing can be added to
// what is gone already. It is called once, when no process is left that is
// known of.
func (c *child) cleanUp() {
	if c.conn != nil {
		_ = c.conn.Close()
	}
	if c.stdio != nil {
		c.stdio.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	var all error
	if c.leaf != nil {
		all = c.leaf.Remove(ctx)
	}
	if c.dir.root != "" {
		all = errors.Join(all, removeAll(c.dir.root))
	}
	if all != nil {
		c.parent.rung.cfg.Logger.Error("a job left something behind", "run", c.job.ID, "err", all)
	}
}
