package forkserver

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// Defaults of Config.
const (
	// DefaultUIDBase lies above every range that Linux distributions and
	// systemd give to users, services and containers, and below 2^31.
	DefaultUIDBase     = 1_900_000_000
	DefaultUIDCount    = 8192
	DefaultMaxChildren = 256
	DefaultSpares      = 2
	DefaultForkTimeout = 10 * time.Second
	DefaultBootTimeout = 2 * time.Minute
)

// Config are the settings of the rung. A zero field takes its default.
type Config struct {
	// UIDBase is the first of UIDCount user and group ids that belong to jobs
	// and to nobody else on this host. Daemons of one host may share a range:
	// each claims parts of it for as long as it lives.
	UIDBase  int
	UIDCount int
	// MaxChildren is how many jobs one parent may run at a time.
	MaxChildren int
	// Spares is how many forks each parent keeps ready: forked and walled, but
	// without a job. One costs about a megabyte and saves a job most of its
	// start. Negative is none.
	Spares int
	// ForkTimeout is how long a fork may take from request to user code.
	// After it the parent counts as hung and is killed.
	ForkTimeout time.Duration
	// BootTimeout is how long a parent's imports and set-up code may take.
	BootTimeout time.Duration
	// AllowDegraded lets jobs run without the control group limits or the
	// system call filter where those cannot be had. What is missing is named in
	// every result.
	AllowDegraded bool
	// Python is the interpreter that Probe tries the rung with; "" looks for
	// python3 in the fixed PATH.
	Python string
	// CgroupRoot stands in front of /proc and /sys; it is empty but in tests.
	CgroupRoot string
	// Logger takes what parents print and what goes wrong; nil is slog.Default.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	c.UIDBase = cmp.Or(c.UIDBase, DefaultUIDBase)
	c.UIDCount = cmp.Or(c.UIDCount, DefaultUIDCount)
	c.MaxChildren = cmp.Or(c.MaxChildren, DefaultMaxChildren)
	c.Spares = cmp.Or(c.Spares, DefaultSpares)
	c.ForkTimeout = cmp.Or(c.ForkTimeout, DefaultForkTimeout)
	c.BootTimeout = cmp.Or(c.BootTimeout, DefaultBootTimeout)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c
}

// Validate returns an Invalid error that names each setting out of its bounds.
func (c Config) Validate() error {
	c = c.withDefaults()
	var parts []errs.Part
	bad := func(name, why string) { parts = append(parts, errs.Part{Pointer: name, Detail: name + " " + why}) }
	if c.UIDBase < 1000 || c.UIDBase > 1<<31-2 {
		bad("UIDBase", "must lie between 1000 and 2147483646: ids below are the system's")
	}
	if c.UIDCount < 1 || c.UIDBase+c.UIDCount > 1<<31-1 {
		bad("UIDCount", "must be positive, and the range must end below 2147483647")
	}
	if c.MaxChildren < 1 {
		bad("MaxChildren", "must be positive")
	}
	if c.Spares > 64 {
		bad("Spares", "must be at most 64")
	}
	if c.ForkTimeout < 0 {
		bad("ForkTimeout", "must be positive")
	}
	if c.BootTimeout < 0 {
		bad("BootTimeout", "must be positive")
	}
	if len(parts) == 0 {
		return nil
	}
	return errs.New(errs.Invalid, "forkserver: %s", parts[0].Detail).WithParts(parts...)
}
