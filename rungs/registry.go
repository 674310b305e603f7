package rungs

import (
	"cmp"
	"context"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
)

// Key says which parents are the same: one rung, one spec.
type Key struct {
	Rung ontology.RungName
	Spec ontology.SpecKey
}

// The reasons for which a parent goes, as OnGone and Parent.Close get them.
const (
	ReasonIdle     = "idle"          // unused for RegistryConfig.Idle
	ReasonAge      = "maximum age"   // older than RegistryConfig.MaxAge
	ReasonEvicted  = "evicted"       // another parent needed its place
	ReasonDied     = "died"          // it ended by itself
	ReasonRemoved  = "removed"       // Remove
	ReasonReaped   = "reaped"        // Reap(true)
	ReasonShutdown = "shutting down" // Registry.Close
)

// RegistryConfig says how long parents live. Zero fields take the defaults
// that are named with them.
type RegistryConfig struct {
	// MaxParents bounds the live parents and those being made together. The
	// default is four a core, eight at least.
	MaxParents int
	// Idle is how long a parent may be unused, from the end of its last use,
	// before it is closed. Default 10 minutes.
	Idle time.Duration
	// MaxAge is how old a parent may be and still take a new job. Default 1 hour.
	MaxAge time.Duration
	// BootTimeout bounds the making of one parent. Default 2 minutes.
	BootTimeout time.Duration
	// Tick is how often the reaper looks. Default 5 seconds.
	Tick time.Duration
	// Drain bounds how long Close waits for leases. Default 10 seconds.
	Drain time.Duration
	// Now is the clock that ages are measured by. Default time.Now.
	Now func() time.Time
	// Logger gets what nobody else is told. Default: nothing is logged.
	Logger *slog.Logger
	// OnReady is called when a parent is sealed and before its first lease is
	// given out; if it fails, the parent is closed and nobody gets it. Its
	// context ends with BootTimeout.
	OnReady func(ctx context.Context, live Live) error
	// OnGone is called once for each parent for which OnReady was called, also
	// if that failed, after the parent was closed.
	OnGone func(live Live, reason string)
}

func (c RegistryConfig) withDefaults() RegistryConfig {
	c.MaxParents = cmp.Or(c.MaxParents, max(8, 4*runtime.NumCPU()))
	c.Idle = cmp.Or(c.Idle, 10*time.Minute)
	c.MaxAge = cmp.Or(c.MaxAge, time.Hour)
	c.BootTimeout = cmp.Or(c.BootTimeout, 2*time.Minute)
	c.Tick = cmp.Or(c.Tick, 5*time.Second)
	c.Drain = cmp.Or(c.Drain, 10*time.Second)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.OnReady == nil {
		c.OnReady = func(context.Context, Live) error { return nil }
	}
	if c.OnGone == nil {
		c.OnGone = func(Live, string) {}
	}
	return c
}

// Validate returns an Invalid error that names the first setting that cannot be.
func (c RegistryConfig) Validate() error {
	for _, s := range []struct {
		name  string
		value int64
	}{
		{"MaxParents", int64(c.MaxParents)},
		{"Idle", int64(c.Idle)},
		{"MaxAge", int64(c.MaxAge)},
		{"BootTimeout", int64(c.BootTimeout)},
		{"Tick", int64(c.Tick)},
		{"Drain", int64(c.Drain)},
	} {
		if s.value < 0 {
			return errs.New(errs.Invalid, "%s is negative", s.name)
		}
	}
	return nil
}

// Live is what the registry knows of one live parent. It is a copy: the
// figures are those of the moment it was taken.
type Live struct {
	ID          ontology.SnapshotID
	Rung        ontology.RungName
	Key         ontology.SpecKey
	Spec        Spec
	DerivedFrom ontology.SnapshotID // "" for one that was booted
	Parent      Parent
	Created     time.Time
	LastUsed    time.Time // when the last lease ended; Created before that
	Leases      int
}

// entry is one live parent. The fields behind the blank line are guarded by
// Registry.mu; those before it do not change.
type entry struct {
	key  Key
	live Live
	gone chan struct{} // closed when the entry leaves the registry

	leases   int
	lastUsed time.Time
	retired  string // the reason why it takes no new lease, "" while it does
}

// flight is one parent being made.
type flight struct {
	from    ontology.SnapshotID
	done    chan struct{} // closed when entry or err is set
	entry   *entry
	err     error
	waiters int // guarded by Registry.mu; each holds a lease once done
}

// Registry holds the live parents. It makes each at most once however many ask
// for it, closes none that is in use, and closes in the end all of them.
//
// One mutex guards its maps. It is never held over a call to a parent, a boot
// or a callback: a warm job (Borrow, Release) waits for no warm-up.
type Registry struct {
	cfg  RegistryConfig
	ctx  context.Context // ends when the registry closes; boots run under it
	stop context.CancelFunc
	wg   sync.WaitGroup // every goroutine of the registry

	mu      sync.Mutex
	entries map[ontology.SnapshotID]*entry
	current map[Key]*entry // the one that Acquire gives out
	flights map[Key]*flight
	leases  int // of all entries, also of those that left the registry
	closed  bool
	drained chan struct{} // closed when closed and leases is zero
	over    chan struct{} // closed when Close is through
}

// NewRegistry returns a registry and starts its reaper. Close ends it.
func NewRegistry(cfg RegistryConfig) (*Registry, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &Registry{
		cfg: cfg.withDefaults(), ctx: ctx, stop: stop,
		entries: map[ontology.SnapshotID]*entry{},
		current: map[Key]*entry{},
		flights: map[Key]*flight{},
		drained: make(chan struct{}),
		over:    make(chan struct{}),
	}
	r.wg.Go(r.reapEveryTick)
	return r, nil
}

// List returns the live parents, oldest first.
func (r *Registry) List() []Live {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Live, 0, len(r.entries))
	for _, e := range r.entries {
		all = append(all, e.snapshot())
	}
	slices.SortFunc(all, func(a, b Live) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// snapshot copies the entry's figures; Registry.mu is held.
func (e *entry) snapshot() Live {
	l := e.live
	l.LastUsed, l.Leases = e.lastUsed, e.leases
	return l
}

// usable reports whether e may take a new lease, and retires it if it is past
// its age; Registry.mu is held.
func (r *Registry) usable(e *entry) bool {
	if e.retired == "" && r.cfg.Now().Sub(e.live.Created) >= r.cfg.MaxAge {
		r.retire(e, ReasonAge)
	}
	if e.retired != "" {
		return false
	}
	select {
	case <-e.live.Parent.Done():
		r.bury(e)
		return false
	default:
		return true
	}
}

// retire lets e take no new lease; Registry.mu is held.
func (r *Registry) retire(e *entry, reason string) {
	if e.retired == "" {
		e.retired = reason
	}
	if r.current[e.key] == e {
		delete(r.current, e.key)
	}
}

// bury drops a parent that has ended by itself; Registry.mu is held.
func (r *Registry) bury(e *entry) {
	if r.entries[e.live.ID] != e {
		return
	}
	r.drop(e)
	r.wg.Go(func() {
		r.cfg.Logger.Warn("a parent ended by itself", "snapshot", e.live.ID, "rung", e.key.Rung)
		r.finish(e, ReasonDied)
	})
}

// drop takes e out of the registry; Registry.mu is held. The caller sees to it
// that finish is called.
func (r *Registry) drop(e *entry) {
	delete(r.entries, e.live.ID)
	if r.current[e.key] == e {
		delete(r.current, e.key)
	}
	close(e.gone)
}

// finish closes a parent that has left the registry and tells of it.
func (r *Registry) finish(e *entry, reason string) {
	if err := e.live.Parent.Close(reason); err != nil {
		r.cfg.Logger.Error("closing a parent", "snapshot", e.live.ID, "rung", e.key.Rung, "reason", reason, "err", err)
	}
	r.mu.Lock()
	live := e.snapshot()
	r.mu.Unlock()
	r.cfg.OnGone(live, reason)
}
