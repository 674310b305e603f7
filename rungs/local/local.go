// Package local is the cold floor of the ladder: each job is a fresh interpreter
// on the host, as the daemon's own user, without walls. It is there for hosts
// on which nothing better works, and off unless the operator turns it on.
//
// What it does hold a job to, it says (rungs.Enforced): the wall clock, CPU
// time and open files always; memory, the number of processes and the end of
// every process by a control group where the daemon may make one; a private
// work directory and temporary directory that are removed on every path. What
// it does not, it says as well (Enforced.Missing).
//
// # How a job's processes are ended
//
// The job leads a process group of its own. When it ends, or has to, the group
// is killed while the leader has not been waited for, so that its id cannot
// have become another's; then the control group is emptied, which finds what
// called setsid. Where there is no control group such a process stays, and the
// result says that it might. (Making the daemon a subreaper would find orphans,
// but it is a property of the whole process and would take the children of
// every other part of the daemon with it.)
//
// A parent here is no process: it is the spec, and what a first run of it was
// seen to load.
package local

import (
	"cmp"
	"log/slog"
	"os"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
)

// Name is the rung's name.
const Name = ontology.RungName("local")

// rank is the rung's place on the ladder (DESIGN §7): the last.
const rank = 30

// Defaults of Config.
const (
	DefaultStartTimeout = 30 * time.Second
	DefaultBootTimeout  = 2 * time.Minute
	DefaultMaxJobs      = 64
)

// Config are the settings of the rung. A zero field takes its default.
type Config struct {
	// Dir is where work directories are made; "" is the system's temporary
	// directory.
	Dir string
	// StartTimeout bounds the start of a job, from the request to the first
	// line of user code.
	StartTimeout time.Duration
	// BootTimeout bounds the run that tries a spec.
	BootTimeout time.Duration
	// MaxJobs is how many jobs the rung runs at a time.
	MaxJobs int
	// Python is the interpreter that Probe tries; "" is python3.
	Python string
	// CgroupRoot stands in front of /proc and /sys; it is empty but in tests.
	CgroupRoot string
	// Logger takes what goes wrong behind a job's back; nil is slog.Default.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	c.Dir = cmp.Or(c.Dir, os.TempDir())
	c.StartTimeout = cmp.Or(c.StartTimeout, DefaultStartTimeout)
	c.BootTimeout = cmp.Or(c.BootTimeout, DefaultBootTimeout)
	c.MaxJobs = cmp.Or(c.MaxJobs, DefaultMaxJobs)
	c.Python = cmp.Or(c.Python, "python3")
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c
}

// Validate returns an Invalid error that names the first setting that cannot be.
func (c Config) Validate() error {
	switch {
	case c.StartTimeout < 0:
		return errs.New(errs.Invalid, "local: StartTimeout is negative")
	case c.BootTimeout < 0:
		return errs.New(errs.Invalid, "local: BootTimeout is negative")
	case c.MaxJobs < 0:
		return errs.New(errs.Invalid, "local: MaxJobs is negative")
	}
	return nil
}

// Name returns "local".
func (*Rung) Name() ontology.RungName { return Name }

// Traits says what the rung offers: any library, the network, and no walls.
func (*Rung) Traits() rungs.Traits {
	return rungs.Traits{
		Rank:       rank,
		Isolation:  ontology.IsolationNone,
		Languages:  []string{"python"},
		ThirdParty: true,
		Network:    true,
	}
}
