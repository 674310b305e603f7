package banyan

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
)

// Engine is the control plane in one process: the graph, the planner, the
// rungs and the registry of live parents. Its methods are safe for concurrent
// use. Close ends every parent and child it started.
type Engine struct {
	cfg       Config
	log       *slog.Logger
	store     *kg.Store
	registry  *rungs.Registry
	rungs     map[ontology.RungName]rungs.Rung
	learned   *learned
	probes    atomic.Pointer[map[ontology.RungName]error]
	startedAt time.Time

	places  *semaphore.Weighted // jobs that run
	waiting atomic.Int64        // jobs that wait for a place
	running atomic.Int64
	runs    atomic.Int64

	queries *queue
	backups *backups // nil if none are scheduled
	updates *queue   // updates and writes of the graph store

	cannot *negativeCache // specs whose boot failed a moment ago

	life     context.Context //nolint:containedctx // the engine's own: it ends when Close begins
	stop     context.CancelFunc
	upkeep   sync.WaitGroup
	closing  atomic.Bool
	closeOne sync.Once
	closeErr error
}

// Open opens the graph in cfg.Dir, makes the rungs and starts upkeep. A folder
// that another process holds is refused with Conflict.
func Open(ctx context.Context, cfg Config) (*Engine, error) {
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	graph := kg.Config{InMemory: cfg.InMemory, Logger: cfg.Logger}
	if !cfg.InMemory {
		if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
			return nil, errs.Wrap(errs.Unavailable, err, "the data folder cannot be made")
		}
		graph.Dir = filepath.Join(cfg.Dir, "graph")
	}
	store, err := kg.Open(ctx, graph)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		cfg: cfg, log: cfg.Logger, store: store, rungs: map[ontology.RungName]rungs.Rung{},
		learned: newLearned(), startedAt: time.Now(), cannot: newNegativeCache(10*time.Second, 1024),
		places:  semaphore.NewWeighted(int64(cfg.MaxRunning)),
		queries: newQueue("queries", cfg.MaxQueries, cfg.MaxQueriesQueued, cfg.QueryTimeout),
		updates: newQueue("updates", 1, cfg.MaxQueriesQueued, cfg.QueryTimeout),
	}
	e.life, e.stop = context.WithCancel(context.Background())
	if err := e.start(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// start brings up all that stands on the open store.
func (e *Engine) start(ctx context.Context) error {
	// What an earlier process left in the graph as live died with it.
	if _, err := e.store.RetireAll(ctx, e.cfg.Node, "its daemon ended"); err != nil {
		return err
	}
	made := e.cfg.Rungs
	if made == nil {
		var err error
		if made, err = defaultRungs(e.cfg); err != nil {
			return err
		}
	}
	for _, r := range made {
		e.rungs[r.Name()] = r
	}
	registry, err := rungs.NewRegistry(rungs.RegistryConfig{
		MaxParents: e.cfg.MaxParents, Idle: e.cfg.Idle, MaxAge: e.cfg.MaxAge,
		BootTimeout: e.cfg.BootTimeout, Tick: e.cfg.Tick, Logger: e.log,
		OnReady: e.recordSnapshot, OnGone: e.retireSnapshot,
	})
	if err != nil {
		return err
	}
	e.registry = registry
	if err := e.probe(ctx); err != nil {
		return err
	}
	e.upkeep.Go(func() { e.keepUp(e.life) })
	if e.cfg.BackupEvery > 0 {
		e.backups = newBackups(e.cfg, e.Backup)
		e.upkeep.Go(func() { e.backups.run(e.life) })
	}
	return nil
}

// Close refuses new work, lets what runs end within a bound, ends every parent
// and closes the graph. Closing again does nothing.
func (e *Engine) Close() error {
	e.closeOne.Do(func() {
		e.closing.Store(true)
		e.stop()
		e.upkeep.Wait()
		if e.registry != nil {
			e.registry.Close()
		}
		for _, name := range e.rungNames() {
			if err := e.rungs[ontology.RungName(name)].Close(); err != nil && e.closeErr == nil {
				e.closeErr = err
			}
		}
		if err := e.store.Close(); err != nil {
			e.closeErr = err
		}
	})
	return e.closeErr
}

// Ready returns nil if the engine takes jobs.
func (e *Engine) Ready() error {
	if e.closing.Load() {
		return errClosing()
	}
	return nil
}

func errClosing() error {
	return errs.New(errs.Unavailable, "the engine is shutting down")
}

// keepUp does what has to be done now and then: probe the rungs, bound the
// graph.
func (e *Engine) keepUp(ctx context.Context) {
	tick := time.NewTicker(e.cfg.Tick)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if n%6 == 0 {
			e.logIf(ctx, "probe rungs", e.probe(ctx))
		}
		if n%60 == 0 {
			_, err := e.store.Prune(ctx, e.cfg.KeepRetired)
			e.logIf(ctx, "prune snapshots", err)
		}
	}
}

func (e *Engine) logIf(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		e.log.ErrorContext(ctx, what, "error", err)
	}
}

// rungNames returns the rungs' names by rank.
func (e *Engine) rungNames() []string {
	all := make([]rungs.Rung, 0, len(e.rungs))
	for _, r := range e.rungs {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b rungs.Rung) int { return a.Traits().Rank - b.Traits().Rank })
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = string(r.Name())
	}
	return names
}
