package forkserver

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/agent"
	"github.com/seed-ff860830/banyan/rungs/internal/pyhost"
)

// Fork gives job to a copy-on-write child of the parent, a spare one if there
// is one that fits.
func (p *parent) Fork(ctx context.Context, job rungs.Job) (rungs.Child, error) {
	begin := time.Now()
	if err := job.Validate(); err != nil {
		return nil, err
	}
	job.Limits = job.Limits.WithDefaults()
	if err := p.admit(); err != nil {
		return nil, err
	}
	c, err := p.forkFor(ctx, job, begin)
	p.mu.Lock()
	p.demand--
	if c == nil || c.left {
		p.busy--
	} else {
		c.counted = true
	}
	p.mu.Unlock()
	if err != nil {
		p.wantSpares()
		return nil, err
	}
	p.forks.Add(1)
	time.AfterFunc(spareDelay, p.wantSpares)
	return c, nil
}

// admit takes a place for one more job.
func (p *parent) admit() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.usable(); err != nil {
		return err
	}
	if p.busy >= p.rung.cfg.MaxChildren {
		return errs.New(errs.Exhausted, "the snapshot's parent runs %d jobs; that is as many as it may", p.busy)
	}
	p.busy++
	p.demand++
	return nil
}

// forkFor starts job in a spare child or, failing that, in a new one. A spare
// that ended while it waited has run nothing, so the job may have another.
func (p *parent) forkFor(ctx context.Context, job rungs.Job, begin time.Time) (*child, error) {
	for {
		spare := p.takeSpare(job.Limits.FilesBytes)
		c := spare
		if spare == nil {
			var err error
			if c, err = p.launch(ctx, job.Limits.FilesBytes, nil); err != nil {
				return nil, err
			}
		}
		started, err := c.run(ctx, job, begin)
		if started {
			return c, nil
		}
		if spare == nil || !errors.Is(err, errEarly) {
			return nil, err
		}
	}
}

// errEarly is a child that ended before user code, without saying why.
var errEarly error = errs.New(errs.RungFailed, "the fork ended before user code began")

// launch has the agent fork a child without a job. Noted, if not nil, is called
// with the child as soon as it has a place, before there is a process.
func (p *parent) launch(ctx context.Context, filesBytes int64, noted func(*child)) (*child, error) {
	c := newChild(p, filesBytes)
	p.mu.Lock()
	if err := p.usable(); err != nil {
		p.mu.Unlock()
		return nil, err
	}
	p.next++
	c.id = strconv.Itoa(p.next)
	p.children[c.id] = c
	p.running.Add(1)
	if noted != nil {
		noted(c)
	}
	p.mu.Unlock()
	err := c.equip()
	if err == nil {
		err = p.askFork(ctx, c)
	}
	if err != nil {
		c.discard()
		close(c.launched)
		return nil, err
	}
	go c.listen()
	go c.supervise()
	close(c.launched)
	return c, nil
}

func (p *parent) askFork(ctx context.Context, c *child) error {
	procs := c.leaf.Procs()
	files := append([]*os.File{c.theirs}, c.pipes.child[:]...)
	files = append(files, procs...)
	a, err := p.requestWithin(ctx, agent.Fork{
		Op: agent.OpFork, ID: c.id, UID: c.uid, GID: c.uid, FilesBytes: c.filesBytes, Attach: len(procs),
	}, agent.OpForked, files)
	if err != nil {
		c.unsure = p.gone() // there may be a process that we were not told of
		return err
	}
	if len(a.fds) != 1 {
		agent.CloseAll(a.fds)
		p.fail("the parent process broke its protocol", nil)
		return errs.New(errs.RungFailed, "the parent process broke its protocol")
	}
	c.setPidfd(a.fds[0])
	c.closeTheirs()
	return nil
}

// takeSpare returns a spare child with the wanted size of files, nil if there
// is none. Its launch may still be under way.
func (p *parent) takeSpare(filesBytes int64) *child {
	for {
		p.mu.Lock()
		i := slices.IndexFunc(p.spares, func(c *child) bool { return c.filesBytes == filesBytes })
		if i < 0 {
			p.mu.Unlock()
			return nil
		}
		c := p.spares[i]
		p.spares = slices.Delete(p.spares, i, i+1)
		p.mu.Unlock()
		<-c.launched // bounded by the fork's own watch
		if c.alive() {
			return c
		}
	}
}

// spareDelay is how long a job runs before the spare that it took is made up
// for, unless it ends before. Making one at once would slow a short job down.
const spareDelay = 10 * time.Millisecond

// wantSpares wakes the keeper.
func (p *parent) wantSpares() {
	select {
	case p.refill <- struct{}{}:
	default:
	}
}

// opened is the last step of a boot or branch: from here on there are spares.
func (p *parent) opened(begin time.Time) {
	p.warm = time.Since(begin)
	p.keeper.Go(p.keepSpares)
	p.wantSpares()
}

// keepSpares forks children ahead of their jobs. Jobs that wait for a fork come
// first: it does nothing while there is one, and is woken when it has begun.
func (p *parent) keepSpares() {
	for {
		select {
		case <-p.refill:
		case <-p.quit:
			return
		}
		for p.lacksSpare() {
			_, err := p.launch(context.Background(), rungs.DefaultFilesBytes, func(c *child) { p.spares = append(p.spares, c) })
			if err != nil {
				p.log.Info("no spare fork", "err", err)
				break // the next job asks again
			}
		}
	}
}

func (p *parent) lacksSpare() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.usable() == nil && p.demand == 0 && len(p.spares) < p.rung.cfg.Spares
}

// run gives the child its job and waits until user code has begun, or is
// certain never to; started says which.
func (c *child) run(ctx context.Context, job rungs.Job, begin time.Time) (started bool, err error) {
	if err := c.assign(job, begin); err != nil {
		c.kill(pyhost.CauseKilled)
		<-c.finished
		return false, err
	}
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
		c.kill(pyhost.CauseKilled)
		<-c.finished // now it is certain whether user code began
	}
	c.mu.Lock()
	began, failed := !c.started.IsZero(), c.failed
	c.mu.Unlock()
	if began {
		return true, nil
	}
	<-c.finished
	switch {
	case why != nil:
		return false, why
	case failed != nil:
		return false, c.wallError(failed)
	case c.err != nil:
		return false, c.err
	case c.result.Status == rungs.StatusMemory:
		return true, nil // the job's own limit was too small for its start
	}
	return false, errEarly
}
