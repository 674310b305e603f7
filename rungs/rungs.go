// Package rungs is the seam between Banyan and the ways it can run code.
//
// # Life cycle
//
// A Rung boots a Parent from a Spec: it starts the runtime, imports the
// capabilities and seals the process. A sealed parent runs no user code; it is
// only forked (Fork: one copy-on-write Child that runs one Job) or branched
// (Branch: a fork that imports more and is sealed in turn, a Parent of its
// own).
//
//	parent, err := rung.Boot(ctx, spec)         // once: a second, a hundred megabytes
//	child, err := parent.Fork(ctx, job)         // per job: a millisecond, a megabyte
//	result, err := child.Wait(ctx)              // the job's outcome
//	branch, err := parent.Branch(ctx, more)     // a snapshot derived from parent
//
// # Results and errors
//
// What a job does to itself (exception, exit code, timeout, memory, output) is
// a Result, never an error. An error is the rung's own failure, an *errs.Error:
//
//   - Invalid: the spec or job is wrong and no rung could run it; an import that
//     fails while a parent warms up is Invalid and carries the exception's text.
//   - Unavailable: this rung cannot run here now.
//   - Conflict: the parent is closed or dead; boot another.
//   - RungFailed: a wall could not be put up, the agent broke its protocol, ….
//
// A Fork that returns an error has run no user code. A Wait that returns an
// error may have: such a job is not run again.
package rungs

import (
	"context"
	"time"

	"github.com/seed-ff860830/banyan/ontology"
)

// Rung makes warm parents of one kind. Its methods are safe for concurrent use.
type Rung interface {
	// Name is the rung's name in the graph and in plans.
	Name() ontology.RungName
	// Traits says what the rung offers; they do not change while it lives.
	Traits() Traits
	// Probe returns nil if the rung can run here, else an *errs.Error that says
	// what is missing and, as its hint, how to get it.
	Probe(ctx context.Context) error
	// Boot starts a parent for spec and returns it sealed, or leaves nothing.
	Boot(ctx context.Context, spec Spec) (Parent, error)
	// Close ends all that the rung holds. Its parents are closed before it.
	Close() error
}

// Parent is a sealed warm snapshot. Its methods are safe for concurrent use.
type Parent interface {
	// Fork makes one copy-on-write child and starts job in it. When Fork has
	// returned, ctx has no further hold on the child.
	Fork(ctx context.Context, job Job) (Child, error)
	// Branch forks a child, adds what add has beyond this parent, and seals it.
	// The parent it returns lives independently of this one.
	Branch(ctx context.Context, add Spec) (Parent, error)
	// Holds returns what the agent observed to be loaded, not what was asked.
	Holds() []Holding
	// Stats returns the parent's present figures; it does not block on the parent.
	Stats() ParentStats
	// Done is closed when the parent has ended, for whatever reason.
	Done() <-chan struct{}
	// Close ends the parent and its children; reason is kept for later errors.
	// Closing again does nothing.
	Close(reason string) error
}

// Child is one running job.
type Child interface {
	// Wait returns the job's outcome. If ctx ends first, the job is killed and
	// the result says so. Wait may be called once.
	Wait(ctx context.Context) (*Result, error)
	// Kill ends the whole process tree at once; the result's status is killed.
	Kill(reason string)
}

// Traits are what the planner filters rungs by (DESIGN §7.1).
type Traits struct {
	Rank       int                // place on the ladder, lower is cheaper
	Isolation  ontology.Isolation // what a job is walled off by
	Languages  []string           // the languages it can boot ("python")
	Callbacks  bool               // a job can call its host
	ThirdParty bool               // third-party and native libraries work
	Network    bool               // it can give a job the network
	WarmFork   bool               // forks share the parent's memory copy-on-write
	Branch     bool               // Branch works
}

// Holding is one capability a parent holds, as observed.
type Holding struct {
	Capability ontology.Capability
	// Version is the version the runtime reported, "" if it has none. A holding
	// with a version also provides the versioned capability.
	Version string
}

// ParentStats are a parent's figures.
type ParentStats struct {
	PID           int           // the process, 0 where there is none
	ResidentBytes int64         // memory resident when sealed
	Warm          time.Duration // what boot or branch took
	Children      int           // jobs running now
	Forks         int64         // jobs started so far
}
