//go:build !linux

package local

import (
	"context"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
)

// Rung is the local rung; it cannot run on this system.
type Rung struct{}

var _ rungs.Rung = (*Rung)(nil)

// New returns the rung.
func New(cfg Config) (*Rung, error) { return &Rung{}, cfg.Validate() }

func unavailable() error {
	return errs.New(errs.Unavailable, "the local rung needs Linux")
}

// Probe says that the rung needs Linux.
func (*Rung) Probe(context.Context) error { return unavailable() }

// Boot says that the rung needs Linux.
func (*Rung) Boot(context.Context, rungs.Spec) (rungs.Parent, error) { return nil, unavailable() }

// Close does nothing.
func (*Rung) Close() error { return nil }
