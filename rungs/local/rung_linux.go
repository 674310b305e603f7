package local

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/internal/cgroup"
	"github.com/seed-ff860830/banyan/rungs/internal/pyhost"
)

// closeTimeout bounds each clean-up.
const closeTimeout = 10 * time.Second

// Rung is the local rung. Its methods are safe for concurrent use.
type Rung struct {
	cfg  Config
	jobs chan struct{} // one token a running job

	mu      sync.Mutex
	closed  bool
	host    *host
	parents map[*parent]struct{}
}

// host is what the rung holds of this machine once it has been needed.
type host struct {
	starter *pyhost.Starter
	groups  *cgroup.Manager
	source  *os.File
	base    string // where work directories are
}

var _ rungs.Rung = (*Rung)(nil)

// New returns the rung. It touches nothing of the machine: Probe and Boot do.
func New(cfg Config) (*Rung, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	return &Rung{cfg: cfg, jobs: make(chan struct{}, cfg.MaxJobs), parents: map[*parent]struct{}{}}, nil
}

// Probe returns nil if an interpreter is there and a work directory can be
// made, else what is missing.
func (r *Rung) Probe(ctx context.Context) error {
	if _, err := pyhost.FindExecutable(r.cfg.Python); err != nil {
		return err
	}
	_, err := r.open(ctx)
	return err
}

// open returns what the rung holds of this machine, and takes hold of it the
// first time. What a daemon left that ended without closing is swept.
func (r *Rung) open(ctx context.Context) (*host, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errs.New(errs.Conflict, "the local rung is closed")
	}
	if r.host != nil {
		return r.host, nil
	}
	groups, err := cgroup.Open(cgroup.Config{Root: r.cfg.CgroupRoot, Degraded: true})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if swept, err := groups.Sweep(ctx); err != nil || len(swept) > 0 {
		r.cfg.Logger.Info("swept control groups of a daemon that is gone", "groups", swept, "err", err)
	}
	base, err := makeBase(r.cfg)
	if err != nil {
		return nil, errs.Wrap(errs.Unavailable, errors.Join(err, groups.Close(ctx)), "no work directory can be made")
	}
	source, err := pyhost.SourceFile()
	if err != nil {
		return nil, errs.Wrap(errs.Unavailable, errors.Join(err, groups.Close(ctx), os.RemoveAll(base)), "the agent cannot be made ready")
	}
	r.host = &host{starter: pyhost.NewStarter(), groups: groups, source: source, base: base}
	return r.host, nil
}

// add takes a parent into the rung's books; false if the rung is closed.
func (r *Rung) add(p *parent) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.parents[p] = struct{}{}
	}
	return !r.closed
}

func (r *Rung) remove(p *parent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.parents, p)
}

// Close closes what parents are left and lets go of the machine.
func (r *Rung) Close() error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.closed = true
	h := r.host
	left := make([]*parent, 0, len(r.parents))
	for p := range r.parents {
		left = append(left, p)
	}
	r.mu.Unlock()
	for _, p := range left {
		_ = p.Close("the rung is closed") // never fails
	}
	if h == nil {
		return nil
	}
	h.starter.Close()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return errors.Join(h.groups.Close(ctx), h.source.Close(), os.RemoveAll(h.base))
}
