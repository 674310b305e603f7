//go:build !linux

package forkserver

import (
	"context"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
)

// Name is the rung's name.
const Name = ontology.RungName("forkserver")

// Rung is the forkserver rung, which needs Linux: here it says so.
type Rung struct{}

var _ rungs.Rung = (*Rung)(nil)

// New returns the rung.
func New(cfg Config) (*Rung, error) { return &Rung{}, cfg.Validate() }

// Name returns "forkserver".
func (*Rung) Name() ontology.RungName { return Name }

// Traits says what the rung offers on Linux.
func (*Rung) Traits() rungs.Traits { return traits() }

// Probe says that the rung needs Linux.
func (*Rung) Probe(context.Context) error {
	return errs.New(errs.Unavailable, "the forkserver rung needs Linux: its walls are Linux namespaces")
}

// Boot fails as Probe does.
func (r *Rung) Boot(ctx context.Context, _ rungs.Spec) (rungs.Parent, error) {
	return nil, r.Probe(ctx)
}

// Close does nothing.
func (*Rung) Close() error { return nil }
