package kg

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// MaxHolds bounds what one snapshot may declare and provide together, so that
// it fits one transaction.
const MaxHolds = 4000

// maxText bounds the free texts of a snapshot, in bytes.
const maxText = 1024

// PutSnapshot records a snapshot: all of it or nothing, in one commit, in
// place of what the graph knew of the same id. A parent that the graph does
// not know is refused with NotFound, one that descends from the snapshot with
// Conflict. Instants are kept to the millisecond.
func (s *Store) PutSnapshot(ctx context.Context, sn Snapshot) error {
	sn, err := sn.normal()
	if err != nil {
		return err
	}
	return s.writeSnapshots(ctx, func(t *Tx) ([]change, error) {
		if err := s.checkParent(sn); err != nil {
			return nil, err
		}
		if err := t.forgetSnapshot(sn.ID); err != nil {
			return nil, err
		}
		for _, q := range sn.quads() {
			if err := t.add(q); err != nil {
				return nil, err
			}
		}
		return t.changed(nil, sn)
	})
}

// changed adds to the changes of a transaction that a snapshot was written.
func (t *Tx) changed(to []change, sn Snapshot) ([]change, error) {
	id, err := t.intern(iri(sn.ID.IRI()))
	return append(to, change{put: sn, iri: id}), err
}

// writeSnapshots runs a transaction that puts, changes or prunes snapshots,
// and brings the index up to date when it is on disk.
func (s *Store) writeSnapshots(ctx context.Context, fn func(*Tx) ([]change, error)) error {
	var changes []change
	return s.write(ctx, func(t *Tx) (err error) {
		if changes, err = fn(t); err == nil && t.entries > 0 {
			s.cat.foresee(t.meta.commit + 1)
		}
		t.marks.snapshots = t.marks.snapshots || s.cat.crowded()
		return err
	}, func() { s.cat.apply(changes, s.meta.commit) })
}

// normal checks a snapshot and brings it into the form that the graph returns.
func (sn Snapshot) normal() (Snapshot, error) {
	bad := func(format string, args ...any) (Snapshot, error) {
		return Snapshot{}, errs.New(errs.Invalid, format, args...).WithID(string(sn.ID))
	}
	switch {
	case !sn.ID.Valid():
		return bad("%s is not a snapshot's id", quote(string(sn.ID)))
	case sn.DerivedFrom != "" && !sn.DerivedFrom.Valid():
		return bad("%s is not a snapshot's id", quote(string(sn.DerivedFrom)))
	case !sn.Rung.Valid():
		return bad("%s is not a rung's name", quote(string(sn.Rung)))
	case !sn.Runtime.Valid():
		return bad("%s is not a runtime's name", quote(string(sn.Runtime)))
	case sn.SpecKey == "" || len(sn.SpecKey) > maxText || len(sn.Node) > maxText || len(sn.StateReason) > maxText:
		return bad("a snapshot needs a spec key, and its texts have at most %d bytes", maxText)
	case sn.State > ontology.StateRevoked:
		return bad("a snapshot needs a state")
	case !(sn.WarmMillis >= 0 && sn.WarmMillis <= maxMillis) || math.IsNaN(sn.WarmMillis) || sn.ResidentBytes < 0:
		return bad("a snapshot's warm-up and memory are finite and not below zero")
	case sn.CreatedAt.IsZero() || !writable(sn.CreatedAt) || !writable(sn.ExpiresAt) || !writable(sn.StateChangedAt):
		return bad("a snapshot needs the time it was made at, and times in years 1 to 9999")
	case len(sn.Declares)+len(sn.Provides) > MaxHolds:
		return Snapshot{}, errs.New(errs.TooLarge, "a snapshot holds %d capabilities; at most %d are allowed",
			len(sn.Declares)+len(sn.Provides), MaxHolds).WithID(string(sn.ID))
	}
	sn.Declares, sn.Provides = ontology.SortCapabilities(sn.Declares), ontology.SortCapabilities(sn.Provides)
	for _, c := range slices.Concat(sn.Declares, sn.Provides) {
		if !ttl.ValidIRI(string(c)) || len(c) > maxText {
			return bad("%s is not a capability's IRI", quote(string(c)))
		}
	}
	for _, text := range [...]string{string(sn.SpecKey), sn.Node, sn.StateReason} {
		if err := checkLiteral(ttl.NewString(text)); err != nil {
			return Snapshot{}, err
		}
	}
	sn.CreatedAt, sn.ExpiresAt, sn.StateChangedAt = toMillis(sn.CreatedAt), toMillis(sn.ExpiresAt), toMillis(sn.StateChangedAt)
	return sn, nil
}

// toMillis is what of an instant the graph keeps.
func toMillis(at time.Time) time.Time {
	if at.IsZero() {
		return time.Time{}
	}
	return at.UTC().Truncate(time.Millisecond)
}

// writable reports whether an instant has a form in the graph.
func writable(at time.Time) bool {
	y := at.UTC().Year()
	return at.IsZero() || y >= 1 && y <= 9999
}

// checkParent refuses a parent that is not there, or that descends from the
// snapshot. The caller is the writer, so the tree does not change.
func (s *Store) checkParent(sn Snapshot) error {
	p := sn.DerivedFrom
	if p == "" {
		return nil
	}
	s.cat.mu.RLock()
	defer s.cat.mu.RUnlock()
	if p == sn.ID || s.cat.descends(p, sn.ID) {
		return errs.New(errs.Conflict, "snapshot %s cannot be derived from %s, which descends from it", sn.ID, p).WithID(string(sn.ID))
	}
	if _, ok := s.cat.nodes[p]; !ok {
		return errs.New(errs.NotFound, "snapshot %s is derived from %s, which is not known", sn.ID, p).WithID(string(sn.ID))
	}
	return nil
}

// forgetSnapshot deletes every statement about a snapshot.
func (t *Tx) forgetSnapshot(id ontology.SnapshotID) error {
	return t.removeAll(ttl.Quad{S: iri(id.IRI()), G: iri(ontology.GraphSnapshots)})
}

// removeAll deletes what fits a pattern.
func (t *Tx) removeAll(pattern ttl.Quad) error {
	found, err := t.gather(pattern)
	if err != nil {
		return err
	}
	for _, q := range found {
		if err := t.remove(q); err != nil {
			return err
		}
	}
	return nil
}

// SetSnapshotState moves a snapshot into a state, as of an instant. A snapshot
// that is gone does not come back: from Retired the only way is to Revoked,
// and from Revoked to Retired or, for an image, to Stored; other moves are
// refused with Conflict. An unknown snapshot is NotFound.
func (s *Store) SetSnapshotState(ctx context.Context, id ontology.SnapshotID, state ontology.SnapshotState, at time.Time) error {
	if state > ontology.StateRevoked || !writable(at) {
		return errs.New(errs.Invalid, "there is no such state or time").WithID(string(id))
	}
	return s.writeSnapshots(ctx, func(t *Tx) ([]change, error) {
		sn, ok := s.Snapshot(id)
		if !ok {
			return nil, errs.New(errs.NotFound, "there is no snapshot %s", quote(string(id))).WithID(string(id))
		}
		if sn.State == state {
			return nil, nil
		}
		if !mayMove(sn.State, state) {
			return nil, errs.New(errs.Conflict, "snapshot %s is %s and cannot become %s", id, sn.State, state).WithID(string(id))
		}
		sn, err := t.moveSnapshot(sn, state, at, "")
		if err != nil {
			return nil, err
		}
		return t.changed(nil, sn)
	})
}

// mayMove says which changes of state there are.
func mayMove(from, to ontology.SnapshotState) bool {
	switch from {
	case ontology.StateRetired:
		return to == ontology.StateRevoked
	case ontology.StateRevoked:
		return to != ontology.StateLive
	}
	return true
}

// moveSnapshot writes a change of state.
func (t *Tx) moveSnapshot(sn Snapshot, state ontology.SnapshotState, at time.Time, why string) (Snapshot, error) {
	s, g := iri(sn.ID.IRI()), iri(ontology.GraphSnapshots)
	sn.State, sn.StateChangedAt, sn.StateReason = state, toMillis(at), why
	for _, p := range [...]ontology.IRI{ontology.PropState, ontology.PropStateChangedAt, ontology.PropStateReason} {
		if err := t.removeAll(ttl.Quad{S: s, P: iri(p), G: g}); err != nil {
			return sn, err
		}
	}
	for _, q := range append(sn.stateQuads(), ttl.Quad{S: s, P: iri(ontology.PropState), O: iri(state.IRI()), G: g}) {
		if err := t.add(q); err != nil {
			return sn, err
		}
	}
	return sn, nil
}

// batch is how many snapshots one commit retires or prunes.
const batch = 200

// RetireAll retires every live snapshot of a node, in commits of a few hundred,
// and returns how many. After a crash it takes back what the graph says of
// parents that no longer run.
func (s *Store) RetireAll(ctx context.Context, node, why string) (n int, err error) {
	if len(why) > maxText || checkLiteral(ttl.NewString(why)) != nil {
		return 0, errs.New(errs.Invalid, "the reason is UTF-8 of at most %d bytes", maxText)
	}
	last := ontology.SnapshotID("") // the snapshots up to here are done with
	for {
		var moved []change
		err := s.writeSnapshots(ctx, func(t *Tx) (_ []change, err error) {
			for _, sn := range s.liveOn(node, last, batch) {
				last = sn.ID
				if sn, err = t.moveSnapshot(sn, ontology.StateRetired, s.now(), why); err != nil {
					return nil, err
				}
				if moved, err = t.changed(moved, sn); err != nil {
					return nil, err
				}
			}
			return moved, nil
		})
		if err != nil {
			return n, err
		}
		n += len(moved)
		if len(moved) < batch {
			return n, nil
		}
	}
}

// liveOn returns some live snapshots of a node, behind an id.
func (s *Store) liveOn(node string, after ontology.SnapshotID, most int) (out []Snapshot) {
	s.cat.mu.RLock()
	defer s.cat.mu.RUnlock()
	view := s.cat.view.Load()
	i, ok := s.cat.find(after)
	if ok {
		i++
	}
	for _, n := range s.cat.order[i:] {
		if n.state == ontology.StateLive && n.host == node {
			if out = append(out, view.snapshot(n)); len(out) == most {
				break
			}
		}
	}
	return out
}

// Prune forgets the retired snapshots beyond the keep newest, in commits of a
// few hundred at most, and returns how many. One that something still known was derived from stays,
// so that no lineage breaks off.
func (s *Store) Prune(ctx context.Context, keep int) (n int, err error) {
	for {
		var pruned []change
		err := s.writeSnapshots(ctx, func(t *Tx) ([]change, error) {
			pruned = pruned[:0]
			for _, id := range s.prunable(max(keep, 0), batch) {
				if err := t.forgetSnapshot(id); err != nil {
					return nil, err
				}
				pruned = append(pruned, change{prune: id})
			}
			return pruned, nil
		})
		if err != nil || len(pruned) == 0 {
			return n, err
		}
		n += len(pruned)
	}
}

// maxPrunedHolds bounds what the snapshots of one pruning commit hold, so that
// it fits one transaction.
const maxPrunedHolds = MaxHolds

// prunable returns some ids that Prune may forget, children before parents.
func (s *Store) prunable(keep, most int) (out []ontology.SnapshotID) {
	s.cat.mu.RLock()
	defer s.cat.mu.RUnlock()
	if s.cat.states[ontology.StateRetired] <= keep {
		return nil
	}
	var retired []*node // oldest first
	for _, n := range s.cat.order {
		if n.state == ontology.StateRetired {
			retired = append(retired, n)
		}
	}
	gone := map[ontology.SnapshotID]bool{}
	free := func(id ontology.SnapshotID) bool {
		return !slices.ContainsFunc(s.cat.children[id], func(c ontology.SnapshotID) bool { return !gone[c] })
	}
	holds := 0
	for _, n := range slices.Backward(retired[:len(retired)-keep]) { // a child is younger than its parent
		if !free(n.id) {
			continue
		}
		if holds += len(n.declares) + len(n.provides) + 20; len(out) > 0 && (holds > maxPrunedHolds || len(out) == most) {
			break
		}
		gone[n.id] = true
		out = append(out, n.id)
	}
	return out
}
