package rungs

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
)

// Borrow leases the live parent id; ok is false if it is not there or takes no
// new job.
func (r *Registry) Borrow(id ontology.SnapshotID) (lease *Lease, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[id]
	if r.closed || e == nil || !r.usable(e) {
		return nil, false
	}
	return r.lease(e, false), true
}

// Acquire leases the parent for key. If there is none, it is made by calling
// boot, once for however many ask at the same time: all of them get the same
// parent, or the same error. A failed boot leaves nothing; the next Acquire
// tries again.
//
// The boot runs under the registry's own context and BootTimeout. The end of
// ctx ends only the wait of this caller; a parent that nobody waits for any
// more is registered and reaped when it has been idle. from is the snapshot
// that boot branches from, "" if it boots anew; it is not evicted meanwhile,
// but boot has to hold a lease of its own to use it.
//
// The error is Exhausted when MaxParents are live and none can go, Canceled or
// Timeout when ctx ends, Unavailable when the registry closes, or boot's own.
func (r *Registry) Acquire(ctx context.Context, key Key, spec Spec, from ontology.SnapshotID, boot func(ctx context.Context) (Parent, error)) (*Lease, error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, errShutdown()
	}
	if e := r.current[key]; e != nil && r.usable(e) {
		defer r.mu.Unlock()
		return r.lease(e, false), nil
	}
	f, started := r.flights[key], false
	if f == nil {
		victim, ok := r.room(from)
		if !ok {
			r.mu.Unlock()
			return nil, errs.New(errs.Exhausted, "all %d warm parents are in use", r.cfg.MaxParents).
				WithHint("try again when a job has ended, or allow more parents")
		}
		f, started = &flight{from: from, done: make(chan struct{})}, true
		r.flights[key] = f
		r.wg.Go(func() { r.fly(f, key, spec, victim, boot) })
	}
	f.waiters++
	r.mu.Unlock()
	return r.board(ctx, f, started)
}

// board waits for a flight.
func (r *Registry) board(ctx context.Context, f *flight, started bool) (*Lease, error) {
	select {
	case <-f.done:
	case <-ctx.Done():
		r.mu.Lock()
		select {
		case <-f.done: // just now: the lease is counted already
			r.mu.Unlock()
			if f.err == nil {
				r.release(f.entry)
			}
		default:
			f.waiters--
			r.mu.Unlock()
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, errs.Wrap(errs.Timeout, ctx.Err(), "the parent was not ready in time; it goes on warming")
		}
		return nil, errs.Wrap(errs.Canceled, ctx.Err(), "the caller went away while the parent was warming")
	}
	if f.err != nil {
		return nil, f.err
	}
	return &Lease{r: r, e: f.entry, fresh: started}, nil
}

// fly makes one parent and hands it to all who wait.
func (r *Registry) fly(f *flight, key Key, spec Spec, victim *entry, boot func(context.Context) (Parent, error)) {
	if victim != nil {
		r.finish(victim, ReasonEvicted)
	}
	ctx, cancel := context.WithTimeout(r.ctx, r.cfg.BootTimeout)
	defer cancel()
	e, err := r.warm(ctx, f, key, spec, boot)
	r.mu.Lock()
	if err == nil && r.closed {
		err = errShutdown()
	}
	delete(r.flights, key)
	if err != nil {
		f.err = err
	} else {
		f.entry = e
		r.entries[e.live.ID], r.current[key] = e, e
		// Each waiter holds its lease from this moment, so that nothing can
		// close the parent before they have woken up.
		e.leases, r.leases = f.waiters, r.leases+f.waiters
		r.wg.Go(func() { r.watch(e) })
	}
	close(f.done)
	r.mu.Unlock()
	if err != nil && e != nil {
		r.finish(e, ReasonShutdown)
	}
}

// warm boots a parent and has it recorded. If it fails, nothing is left; the
// entry is nil then.
func (r *Registry) warm(ctx context.Context, f *flight, key Key, spec Spec, boot func(context.Context) (Parent, error)) (*entry, error) {
	parent, err := guarded(ctx, boot)
	if err != nil {
		if r.ctx.Err() != nil {
			return nil, errShutdown()
		}
		if ctx.Err() != nil && errs.KindOf(err) == errs.Internal {
			err = errs.Wrap(errs.Timeout, err, "the parent was not ready within %v", r.cfg.BootTimeout)
		}
		return nil, err
	}
	now := r.cfg.Now()
	e := &entry{key: key, gone: make(chan struct{}), lastUsed: now, live: Live{
		ID: ontology.NewSnapshotID(), Rung: key.Rung, Key: key.Spec, Spec: spec,
		DerivedFrom: f.from, Parent: parent, Created: now,
	}}
	if err := r.cfg.OnReady(ctx, e.snapshot()); err != nil {
		r.finish(e, "not recorded")
		return nil, fmt.Errorf("record snapshot %s: %w", e.live.ID, err)
	}
	return e, nil
}

// guarded calls boot; a panic in there is the boot's failure and must not take
// the daemon, and every running job, with it.
func guarded(ctx context.Context, boot func(context.Context) (Parent, error)) (p Parent, err error) {
	defer func() {
		if v := recover(); v != nil {
			p, err = nil, errs.Wrap(errs.Internal, fmt.Errorf("panic: %v\n%s", v, debug.Stack()), "the parent could not be made")
		}
	}()
	p, err = boot(ctx)
	if err == nil && p == nil {
		err = errs.New(errs.Internal, "the boot returned no parent")
	}
	return p, err
}

// room makes sure that one more parent may be made. If that takes the place of
// another, the other has left the registry and the caller must finish it.
// Registry.mu is held.
func (r *Registry) room(from ontology.SnapshotID) (victim *entry, ok bool) {
	if len(r.entries)+len(r.flights) < r.cfg.MaxParents {
		return nil, true
	}
	held := r.bases()
	held[from] = true
	for _, e := range r.entries {
		if e.leases > 0 || held[e.live.ID] {
			continue
		}
		// One that takes no new job anyway goes first, then the one whose
		// last use is the longest ago.
		older := victim == nil || e.lastUsed.Before(victim.lastUsed)
		if victim != nil && (e.retired != "") != (victim.retired != "") {
			older = e.retired != ""
		}
		if older {
			victim = e
		}
	}
	if victim != nil {
		r.drop(victim)
	}
	return victim, victim != nil
}

// bases returns the snapshots that a live parent, or one being made, derives
// from: the trunks. Registry.mu is held.
func (r *Registry) bases() map[ontology.SnapshotID]bool {
	held := map[ontology.SnapshotID]bool{}
	for _, e := range r.entries {
		held[e.live.DerivedFrom] = true
	}
	for _, f := range r.flights {
		held[f.from] = true
	}
	return held
}

// watch drops a parent that ends by itself.
func (r *Registry) watch(e *entry) {
	select {
	case <-e.gone:
		return
	case <-e.live.Parent.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bury(e)
}

func errShutdown() error {
	return errs.New(errs.Unavailable, "the daemon is shutting down")
}
