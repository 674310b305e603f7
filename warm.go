package banyan

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
	"github.com/seed-ff860830/banyan/rungs"
)

// lease borrows the parent that a choice names, making it first if need be.
// For an inferred need that cannot be warmed it settles for a parent that holds
// less, and says so in notes: the job's own import then shows what is wrong.
func (e *Engine) lease(ctx context.Context, req request, c planner.Choice) (lease *rungs.Lease, notes []string, err error) {
	if c.Route == planner.RouteReuse {
		lease, ok := e.registry.Borrow(c.Snapshot)
		if !ok {
			e.markGone(ctx, c.Snapshot)
			return nil, nil, errs.New(errs.Conflict, "the snapshot has ended").WithID(string(c.Snapshot))
		}
		return lease, nil, nil
	}
	view := e.store.View()
	spec, err := e.spec(req, view)
	if err != nil {
		return nil, nil, err
	}
	key := spec.Key()
	if req.inferred {
		err = e.cannot.get(key, time.Now())
	}
	if err == nil {
		lease, err = e.grow(ctx, c, spec)
	}
	if kind := errs.KindOf(err); err != nil && req.inferred && (kind == errs.Invalid || kind == errs.Unsupported) {
		e.cannot.add(key, err, time.Now())
		notes = []string{fmt.Sprintf("not warmed: %s", errs.Public(err))}
		lease, err = e.settle(ctx, req, c)
	}
	return lease, notes, err
}

// grow makes the parent for spec by the choice's route, or finds it made.
func (e *Engine) grow(ctx context.Context, c planner.Choice, spec rungs.Spec) (*rungs.Lease, error) {
	rung := e.rungs[c.Rung]
	key := rungs.Key{Rung: c.Rung, Spec: spec.Key()}
	if c.Route == planner.RouteBranch {
		return e.registry.Acquire(ctx, key, spec, c.Base, func(ctx context.Context) (rungs.Parent, error) {
			// Borrowed here and not by the caller, who may leave before this ends.
			base, ok := e.registry.Borrow(c.Base)
			if !ok {
				e.markGone(ctx, c.Base)
				return nil, errs.New(errs.Conflict, "the base has ended").WithID(string(c.Base))
			}
			defer base.Release()
			return base.Parent().Branch(ctx, spec)
		})
	}
	return e.registry.Acquire(ctx, key, spec, "", func(ctx context.Context) (rungs.Parent, error) {
		began := time.Now()
		p, err := rung.Boot(ctx, spec)
		if err == nil {
			e.learned.booted(c.Rung, time.Since(began))
		}
		return p, err
	})
}

// settle finds a parent for a job whose guessed need cannot be warmed: the base
// the plan would have branched, else a parent that holds nothing.
func (e *Engine) settle(ctx context.Context, req request, c planner.Choice) (*rungs.Lease, error) {
	if c.Route == planner.RouteBranch {
		if lease, ok := e.registry.Borrow(c.Base); ok {
			return lease, nil
		}
	}
	bare := req
	bare.need.Capabilities = nil
	view := e.store.View()
	for _, s := range view.Supersets(kg.Lookup{Runtime: req.runtime.ID, Rung: c.Rung}, 1) {
		if lease, ok := e.registry.Borrow(s.ID); ok {
			return lease, nil
		}
	}
	spec, err := e.spec(bare, view)
	if err != nil {
		return nil, err
	}
	return e.grow(ctx, planner.Choice{Rung: c.Rung, Route: planner.RouteBoot}, spec)
}

// Warm makes a snapshot ahead of time, or finds the one that is there already:
// Snapshot.Created tells which.
func (e *Engine) Warm(ctx context.Context, w WarmRequest) (Snapshot, error) {
	if e.closing.Load() {
		return Snapshot{}, errClosing()
	}
	req, err := e.warmRequest(w)
	if err != nil {
		return Snapshot{}, err
	}
	if w.Need == nil { // nobody says what it should hold: the runtime does
		req.need.Capabilities = req.runtime.Preimports
		req.need.ThirdParty = thirdParty(req.need.Capabilities, req.runtime)
	}
	// The caller asks for a snapshot made for just this need; one that holds
	// more is not it.
	req.need.Match = ontology.MatchExact
	plan, err := e.decide(req, e.store.View())
	if err != nil {
		return Snapshot{}, err
	}
	return e.warmBy(ctx, req, plan.Choice)
}

// warmBy makes the snapshot by one choice.
func (e *Engine) warmBy(ctx context.Context, req request, c planner.Choice) (Snapshot, error) {
	pass, ok := e.learned.admit(c.Rung, time.Now())
	if !ok {
		return Snapshot{}, errs.New(errs.Unavailable, "the rung %s failed a moment ago and is being tried again", string(c.Rung))
	}
	lease, _, err := e.lease(ctx, req, c)
	e.learned.observe(c.Rung, pass, err, time.Now())
	if err != nil {
		return Snapshot{}, err
	}
	defer lease.Release()
	s, err := e.Snapshot(ctx, lease.Live().ID)
	s.Created = lease.Fresh()
	return s, err
}

// Branch derives a snapshot from a given one that holds the need as well.
func (e *Engine) Branch(ctx context.Context, id ontology.SnapshotID, w WarmRequest) (Snapshot, error) {
	if e.closing.Load() {
		return Snapshot{}, errClosing()
	}
	base, err := e.find(id)
	if err != nil {
		return Snapshot{}, err
	}
	if base.State != ontology.StateLive {
		return Snapshot{}, errs.New(errs.Conflict, "the snapshot is %s; only a live one can be branched", base.State).WithID(string(id))
	}
	if w.Runtime != "" && w.Runtime != base.Runtime || w.Rung != "" && w.Rung != base.Rung {
		return Snapshot{}, errs.New(errs.Invalid, "a branch keeps its base's runtime (%s) and rung (%s)", base.Runtime, base.Rung)
	}
	w.Runtime, w.Rung = base.Runtime, base.Rung
	req, err := e.warmRequest(w)
	if err != nil {
		return Snapshot{}, err
	}
	req.need.Capabilities = ontology.SortCapabilities(append(slices.Clone(req.need.Capabilities), base.Declares...))
	return e.warmBy(ctx, req, planner.Choice{Rung: base.Rung, Route: planner.RouteBranch, Base: id})
}

// retireSnapshot writes that a parent is gone.
func (e *Engine) retireSnapshot(l rungs.Live, reason string) {
	e.log.Info("parent ended", "snapshot", l.ID, "rung", l.Rung, "reason", reason)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	e.logIf(ctx, "retire snapshot", e.store.SetSnapshotState(ctx, l.ID, ontology.StateRetired, time.Now()))
}

// markGone writes that a snapshot which the graph takes for live is not.
func (e *Engine) markGone(ctx context.Context, id ontology.SnapshotID) {
	if s, ok := e.store.Snapshot(id); ok && s.State == ontology.StateLive && s.Node == e.cfg.Node {
		e.logIf(ctx, "retire snapshot", e.store.SetSnapshotState(ctx, id, ontology.StateRetired, time.Now()))
	}
}
