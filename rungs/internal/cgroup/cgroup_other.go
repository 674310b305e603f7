//go:build !linux

package cgroup

import (
	"context"
	"os"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// Manager makes leaves; there are none on this system.
type Manager struct{}

// Leaf is one job's group; there are none on this system.
type Leaf struct{}

// Open says that control groups need Linux, or, with cfg.Degraded, returns a
// Manager whose report says so.
func Open(cfg Config) (*Manager, error) {
	if cfg.Degraded {
		return &Manager{}, nil
	}
	return nil, unsupported()
}

func unsupported() error {
	return errs.New(errs.Unavailable, "jobs cannot be limited: control groups need Linux")
}

// Report says that nothing is in force.
func (*Manager) Report() Report { return Report{Missing: []string{"control groups need Linux"}} }

// Close does nothing.
func (*Manager) Close(context.Context) error { return nil }

// Sweep finds nothing.
func (*Manager) Sweep(context.Context) ([]string, error) { return nil, nil }

// NewLeaf returns a leaf that holds nothing.
func (*Manager) NewLeaf(string, Limits) (*Leaf, error) { return &Leaf{}, nil }

// SetLimits says that control groups need Linux.
func (*Leaf) SetLimits(Limits) error { return unsupported() }

// Procs returns nothing.
func (*Leaf) Procs() []*os.File { return nil }

// Add does nothing.
func (*Leaf) Add(int) error { return nil }

// Dir returns nothing.
func (*Leaf) Dir() (*os.File, bool) { return nil, false }

// Usage knows nothing.
func (*Leaf) Usage() (Usage, error) { return Usage{}, nil }

// Empty reports true.
func (*Leaf) Empty() bool { return true }

// Kill does nothing.
func (*Leaf) Kill(context.Context) error { return nil }

// Remove does nothing.
func (*Leaf) Remove(context.Context) error { return nil }
