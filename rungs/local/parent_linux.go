package local

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/agent"
	"github.com/seed-ff860830/banyan/rungs/internal/pyhost"
)

// parent is a spec that has been tried.
type parent struct {
	rung  *Rung
	host  *host
	spec  rungs.Spec
	exe   string
	holds []rungs.Holding
	warm  time.Duration
	forks atomic.Int64
	done  chan struct{}

	mu       sync.Mutex
	closed   bool
	reason   string
	children map[*child]struct{}
	running  sync.WaitGroup // the children; added to under mu while not closed
}

// Boot tries the spec in a process of its own: it must be able to import the
// modules and run the set-up code. An exception there is an Invalid error that
// carries the exception's text.
func (r *Rung) Boot(ctx context.Context, spec rungs.Spec) (rungs.Parent, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if !slices.Contains(r.Traits().Languages, spec.Runtime.Language) {
		return nil, errs.New(errs.Unsupported, "the local rung cannot run %s", spec.Runtime.Language)
	}
	exe, err := pyhost.FindExecutable(spec.Runtime.Executable)
	if err != nil {
		return nil, err
	}
	h, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	p := &parent{rung: r, host: h, spec: spec, exe: exe, done: make(chan struct{}), children: map[*child]struct{}{}}
	if !r.add(p) {
		return nil, errs.New(errs.Conflict, "the local rung is closed")
	}
	ctx, cancel := context.WithTimeout(ctx, r.cfg.BootTimeout)
	defer cancel()
	if p.holds, err = p.try(ctx); err != nil {
		_ = p.Close("it could not be tried") // never fails
		return nil, err
	}
	p.warm = time.Since(begin)
	return p, nil
}

// tryCode has the agent report what is loaded, the modules of the spec first.
const tryCode = `import json, sys
print(json.dumps(sys.modules["_banyan_agent"].holdings(sys.argv[1:])[0]))
`

// tryLimits hold the run that tries a spec: it is part of the set-up, not of a
// job, and imports need more than small jobs do.
var tryLimits = rungs.Limits{MemoryBytes: 4 << 30, PIDs: 512, OutputBytes: 4 << 20, Wall: time.Minute, CPU: time.Hour}

// try runs the imports and the set-up code once and returns what was loaded.
func (p *parent) try(ctx context.Context) ([]rungs.Holding, error) {
	job := rungs.Job{ID: ontology.NewRunID(), Code: tryCode, Limits: tryLimits}
	for _, m := range p.spec.Modules {
		job.Args = append(job.Args, m.ImportName)
	}
	load := p.load(p.spec.Modules)
	c, err := p.start(ctx, job, &load)
	if err != nil {
		return nil, err
	}
	result, err := c.Wait(ctx)
	if err != nil {
		return nil, err
	}
	if result.Status != rungs.StatusOK {
		return nil, errs.New(errs.RungFailed, "what the runtime holds could not be found out (%s)", result.Status)
	}
	var held [][2]string
	if err := json.Unmarshal(result.Stdout, &held); err != nil {
		return nil, errs.Wrap(errs.RungFailed, err, "what the runtime holds could not be found out")
	}
	if err := pyhost.CheckVersions(p.spec, pyhost.Versions(held)); err != nil {
		return nil, err
	}
	return pyhost.Holdings(p.spec, held), nil
}

// load is the frame that has a process load modules and the set-up code.
func (p *parent) load(modules []rungs.Module) agent.Load {
	l := agent.Load{Op: agent.OpLoad, Modules: []agent.LoadModule{}, Setup: p.spec.Setup}
	for _, m := range modules {
		l.Modules = append(l.Modules, agent.LoadModule{Name: m.ImportName})
	}
	return l
}

// Fork starts a fresh interpreter and runs job in it. The name is the seam's:
// nothing is forked here.
func (p *parent) Fork(ctx context.Context, job rungs.Job) (rungs.Child, error) {
	if err := job.Validate(); err != nil {
		return nil, err
	}
	timeout := p.rung.cfg.StartTimeout
	var load *agent.Load
	if p.spec.Setup != "" {
		// Set-up code gives a job names. Modules alone do not, the job imports
		// what it uses: loading all of them here would only cost time.
		l := p.load(p.spec.Modules)
		load, timeout = &l, p.rung.cfg.BootTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	c, err := p.start(ctx, job, load)
	if err != nil {
		if errs.KindOf(err) == errs.Invalid {
			err = errs.Wrap(errs.RungFailed, err, "the parent's set-up failed this time though it did not before")
		}
		return nil, err
	}
	p.forks.Add(1)
	return c, nil
}

// Branch is Unsupported: there is no process that could be branched.
func (p *parent) Branch(context.Context, rungs.Spec) (rungs.Parent, error) {
	return nil, errs.New(errs.Unsupported, "the local rung keeps no warm parents, so there is nothing to branch from")
}

// Holds returns what the first run was seen to load.
func (p *parent) Holds() []rungs.Holding { return slices.Clone(p.holds) }

// Stats returns the parent's figures; nothing of it is resident.
func (p *parent) Stats() rungs.ParentStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return rungs.ParentStats{Warm: p.warm, Children: len(p.children), Forks: p.forks.Load()}
}

// Done is closed when the parent is closed and its jobs have ended.
func (p *parent) Done() <-chan struct{} { return p.done }

// Close kills the parent's jobs and returns when they are gone.
func (p *parent) Close(reason string) error {
	p.mu.Lock()
	first := !p.closed
	if first {
		p.closed, p.reason = true, reason
	}
	left := make([]*child, 0, len(p.children))
	for c := range p.children {
		left = append(left, c)
	}
	p.mu.Unlock()
	if !first {
		<-p.done
		return nil
	}
	for _, c := range left {
		c.kill(pyhost.CauseKilled)
	}
	p.running.Wait()
	p.rung.remove(p)
	close(p.done)
	return nil
}

// admit takes a new job into the books, or says why not.
func (p *parent) admit(c *child) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errs.New(errs.Conflict, "the snapshot's parent is closed: %s", p.reason)
	}
	p.children[c] = struct{}{}
	p.running.Add(1)
	return nil
}

func (p *parent) discharge(c *child) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.children, c)
	p.running.Done()
}
