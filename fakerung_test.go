package banyan_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
)

// fakeRung is a rung without processes: what it does is written in its fields,
// so that a test can make it fail at any seam.
type fakeRung struct {
	name   ontology.RungName
	traits rungs.Traits

	mu       sync.Mutex
	probeErr error
	bootErr  func(spec rungs.Spec) error
	forkErr  func(job rungs.Job) error
	waitErr  error
	bootHook func(ctx context.Context) error // runs inside Boot and Branch
	versions map[string]string               // what import finds, by module
	more     int                             // modules that come along, each deep down
	parents  []*fakeParent

	boots, branches, forks, live atomic.Int64
}

func newFake(name string, rank int, isolation ontology.Isolation) *fakeRung {
	return &fakeRung{
		name: ontology.RungName(name),
		traits: rungs.Traits{
			Rank: rank, Isolation: isolation, Languages: []string{"python"}, ThirdParty: true, WarmFork: true, Branch: true,
		},
		versions: map[string]string{"numpy": "1.24.2", "pandas": "1.5.3", "scipy": "1.10.1"},
	}
}

func (f *fakeRung) Name() ontology.RungName { return f.name }
func (f *fakeRung) Traits() rungs.Traits    { return f.traits }
func (f *fakeRung) Close() error            { return nil }

func (f *fakeRung) Probe(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.probeErr
}

func (f *fakeRung) Boot(ctx context.Context, spec rungs.Spec) (rungs.Parent, error) {
	f.boots.Add(1)
	return f.grow(ctx, spec)
}

// set changes a behaviour while the engine runs.
func (f *fakeRung) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fakeRung) grow(ctx context.Context, spec rungs.Spec) (rungs.Parent, error) {
	f.mu.Lock()
	bootErr, hook := f.bootErr, f.bootHook
	f.mu.Unlock()
	if hook != nil {
		if err := hook(ctx); err != nil {
			return nil, err
		}
	}
	if bootErr != nil {
		if err := bootErr(spec); err != nil {
			return nil, err
		}
	}
	p := &fakeParent{rung: f, spec: spec, done: make(chan struct{})}
	for _, m := range spec.Modules {
		f.mu.Lock()
		version, ok := f.versions[m.ImportName]
		f.mu.Unlock()
		if !ok {
			return nil, errs.New(errs.Invalid, "ModuleNotFoundError: No module named '%s'", m.ImportName)
		}
		c, err := ontology.NewCapability(spec.Runtime.Namespace, m.ImportName)
		if err != nil {
			return nil, err
		}
		p.holds = append(p.holds, rungs.Holding{Capability: c, Version: version})
	}
	for i := range f.more {
		p.holds = append([]rungs.Holding{{Capability: ontology.Capability(fmt.Sprintf("%sa.b.c%d", spec.Runtime.Namespace, i))}}, p.holds...)
	}
	f.live.Add(1)
	f.mu.Lock()
	f.parents = append(f.parents, p)
	f.mu.Unlock()
	return p, nil
}

type fakeParent struct {
	rung  *fakeRung
	spec  rungs.Spec
	holds []rungs.Holding
	done  chan struct{}
	once  sync.Once
	forks atomic.Int64
}

func (p *fakeParent) Fork(_ context.Context, job rungs.Job) (rungs.Child, error) {
	select {
	case <-p.done:
		return nil, errs.New(errs.Conflict, "the parent has ended")
	default:
	}
	p.rung.mu.Lock()
	forkErr := p.rung.forkErr
	p.rung.mu.Unlock()
	if forkErr != nil {
		if err := forkErr(job); err != nil {
			return nil, err
		}
	}
	p.rung.forks.Add(1)
	p.forks.Add(1)
	return &fakeChild{rung: p.rung, job: job, killed: make(chan struct{})}, nil
}

func (p *fakeParent) Branch(ctx context.Context, add rungs.Spec) (rungs.Parent, error) {
	p.rung.branches.Add(1)
	return p.rung.grow(ctx, add)
}

func (p *fakeParent) Holds() []rungs.Holding { return p.holds }
func (p *fakeParent) Done() <-chan struct{}  { return p.done }

func (p *fakeParent) Stats() rungs.ParentStats {
	return rungs.ParentStats{PID: 1, ResidentBytes: 1 << 20, Warm: time.Millisecond, Forks: p.forks.Load()}
}

func (p *fakeParent) Close(string) error {
	p.once.Do(func() {
		p.rung.live.Add(-1)
		close(p.done)
	})
	return nil
}

// fakeChild answers with the job's code as its output; the code "hang" waits
// for its end.
type fakeChild struct {
	rung   *fakeRung
	job    rungs.Job
	killed chan struct{}
	once   sync.Once
}

func (c *fakeChild) Wait(ctx context.Context) (*rungs.Result, error) {
	c.rung.mu.Lock()
	err := c.rung.waitErr
	c.rung.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if c.job.Code == "hang" {
		select {
		case <-ctx.Done():
		case <-c.killed:
		}
		return &rungs.Result{Status: rungs.StatusKilled, ExitCode: 137, Signal: "SIGKILL"}, nil
	}
	return &rungs.Result{Status: rungs.StatusOK, Stdout: []byte(c.job.Code), Fork: time.Millisecond, Run: time.Millisecond}, nil
}

func (c *fakeChild) Kill(string) { c.once.Do(func() { close(c.killed) }) }
