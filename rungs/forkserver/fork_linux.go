package forkserver

import (
	"context"
	"os"
	"strconv"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/agent"
	"github.com/seed-ff860830/banyan/rungs/internal/capture"
	"github.com/seed-ff860830/banyan/rungs/internal/cgroup"
)

// Fork makes one copy-on-write child and starts job in it.
func (p *parent) Fork(ctx context.Context, job rungs.Job) (rungs.Child, error) {
	if err := job.Validate(); err != nil {
		return nil, err
	}
	job.Limits = job.Limits.WithDefaults()
	c, err := p.newChild(job)
	if err != nil {
		return nil, err
	}
	if err := p.launch(ctx, c); err != nil {
		c.discard()
		return nil, err
	}
	return c.settle(ctx)
}

// newChild takes a place among the parent's children and all that a job needs
// on the host's side.
func (p *parent) newChild(job rungs.Job) (*child, error) {
	c := &child{
		parent: p, job: job, begin: time.Now(), pidfd: -1,
		begun: make(chan struct{}), exit: make(chan agent.Exit, 1),
		orphaned: make(chan struct{}), heard: make(chan struct{}), finished: make(chan struct{}),
	}
	p.mu.Lock()
	err := p.usable()
	if err == nil && len(p.children) >= p.rung.cfg.MaxChildren {
		err = errs.New(errs.Exhausted, "the snapshot's parent runs %d jobs; that is as many as it may", len(p.children))
	}
	if err != nil {
		p.mu.Unlock()
		return nil, err
	}
	p.next++
	c.id = strconv.Itoa(p.next)
	p.children[c.id] = c
	p.running.Add(1)
	p.mu.Unlock()
	if err := c.equip(); err != nil {
		c.discard()
		return nil, err
	}
	return c, nil
}

// equip gets the job's uid, control group, streams and control socket.
func (c *child) equip() (err error) {
	r := c.parent.rung
	if c.uid, err = r.uids.take(); err != nil {
		return err
	}
	limits := cgroup.Limits{MemoryBytes: c.job.Limits.MemoryBytes, PIDs: c.job.Limits.PIDs}
	if c.leaf, err = c.parent.host.groups.NewLeaf(string(c.job.ID)+"-"+c.id, limits); err != nil {
		return err
	}
	keep := c.job.Limits.OutputBytes
	c.stdio, err = capture.Open(c.job.Stdin, keep, keep*rungs.FloodFactor, func() { c.kill(causeOutput) })
	if err != nil {
		return errs.Wrap(errs.RungFailed, err, "the job's streams could not be made")
	}
	for _, f := range c.stdio.Child {
		if err := blocking(f); err != nil {
			return errs.Wrap(errs.RungFailed, err, "the job's streams could not be made")
		}
	}
	if c.conn, c.theirs, err = agent.Pair(); err != nil {
		return errs.Wrap(errs.RungFailed, err, "the job's control socket could not be made")
	}
	return nil
}

// launch has the agent fork, and starts the goroutines that see to the child.
func (p *parent) launch(ctx context.Context, c *child) error {
	procs := c.leaf.Procs()
	files := append([]*os.File{c.theirs}, c.stdio.Child[:]...)
	files = append(files, procs...)
	// A caller that goes away must not cost the parent its life; a fork that
	// hangs must.
	watch, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.rung.cfg.ForkTimeout)
	defer cancel()
	a, err := p.request(watch, agent.Fork{
		Op: agent.OpFork, ID: c.id, UID: c.uid, GID: c.uid,
		FilesBytes: c.job.Limits.FilesBytes, Attach: len(procs),
	}, agent.OpForked, files)
	if err != nil {
		return err
	}
	if len(a.fds) != 1 {
		agent.CloseAll(a.fds)
		p.fail("the parent process broke its protocol", nil)
		return errs.New(errs.RungFailed, "the parent process broke its protocol")
	}
	p.forks.Add(1)
	c.setPidfd(a.fds[0])
	c.closeTheirs()
	go c.listen()
	go c.feed()
	go c.supervise()
	return nil
}

// settle waits until user code has begun, or is certain never to.
func (c *child) settle(ctx context.Context) (rungs.Child, error) {
	watch := time.NewTimer(c.parent.rung.cfg.ForkTimeout)
	defer watch.Stop()
	var why error
	select {
	case <-c.begun:
	case <-ctx.Done():
		why = contextError(ctx)
	case <-watch.C:
		why = errs.New(errs.RungFailed, "the fork did not reach user code in time")
	}
	if why != nil {
		c.kill(causeKilled)
		<-c.finished // now it is certain whether user code began
	}
	c.mu.Lock()
	started, failed := c.started, c.failed
	c.mu.Unlock()
	if !started.IsZero() {
		return c, nil
	}
	<-c.finished
	switch {
	case why != nil:
		return nil, why
	case failed != nil:
		return nil, c.wallError(failed)
	case c.err == nil && c.result.Status == rungs.StatusMemory:
		return c, nil // the job's own limit was too small for its start
	case c.err != nil:
		return nil, c.err
	}
	return nil, errs.New(errs.RungFailed, "the fork ended before user code began")
}
