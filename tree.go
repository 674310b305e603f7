package banyan

import (
	"context"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
)

// The bounds of a page of snapshots.
const (
	defaultPage = 100
	maxPage     = 1000
)

// Snapshots returns one page of the tree, oldest first.
func (e *Engine) Snapshots(_ context.Context, o ListOptions) (SnapshotPage, error) {
	if o.Limit == 0 {
		o.Limit = defaultPage
	}
	if o.Limit < 1 || o.Limit > maxPage {
		return SnapshotPage{}, invalidAt("/limit", "limit %d is not between 1 and %d", o.Limit, maxPage)
	}
	after := ontology.SnapshotID(o.Cursor)
	if o.Cursor != "" && !after.Valid() {
		return SnapshotPage{}, invalidAt("/cursor", "%q is not a cursor", o.Cursor)
	}
	found := e.store.Snapshots(after, o.Limit+1, o.Live)
	page := SnapshotPage{Items: make([]Snapshot, 0, len(found))}
	if len(found) > o.Limit {
		found = found[:o.Limit]
		next := string(found[o.Limit-1].ID)
		page.NextCursor = &next
	}
	for _, s := range found {
		page.Items = append(page.Items, e.public(s))
	}
	return page, nil
}

// Snapshot returns one snapshot; NotFound if there is none with that id.
func (e *Engine) Snapshot(_ context.Context, id ontology.SnapshotID) (Snapshot, error) {
	s, err := e.find(id)
	if err != nil {
		return Snapshot{}, err
	}
	return e.public(s), nil
}

// Lineage returns a snapshot with its ancestors, nearest first, and its
// descendants.
func (e *Engine) Lineage(_ context.Context, id ontology.SnapshotID) (Lineage, error) {
	s, err := e.find(id)
	if err != nil {
		return Lineage{}, err
	}
	return Lineage{
		Snapshot:    e.public(s),
		Ancestors:   e.publicAll(e.store.Ancestors(id)),
		Descendants: e.publicAll(e.store.Descendants(id)),
	}, nil
}

// Remove ends a live snapshot; its node stays in the graph as retired. What was
// branched from it lives on.
func (e *Engine) Remove(ctx context.Context, id ontology.SnapshotID) error {
	s, err := e.find(id)
	if err != nil {
		return err
	}
	if s.State != ontology.StateLive && s.State != ontology.StateStored {
		return errs.New(errs.Conflict, "the snapshot is %s already", s.State).WithID(string(id))
	}
	if !e.registry.Remove(id) {
		e.markGone(ctx, id)
	}
	return nil
}

// Reap closes the parents that are idle past their time or, with all, every
// one that no job uses. It returns how many were closed.
func (e *Engine) Reap(_ context.Context, all bool) (int, error) {
	if e.closing.Load() {
		return 0, errClosing()
	}
	return e.registry.Reap(all), nil
}

func (e *Engine) find(id ontology.SnapshotID) (kg.Snapshot, error) {
	if id.Valid() {
		if s, ok := e.store.Snapshot(id); ok {
			return s, nil
		}
	}
	return kg.Snapshot{}, errs.New(errs.NotFound, "there is no snapshot %q", string(id)).
		WithHint("banyan snapshots ls")
}

func (e *Engine) publicAll(ids []ontology.SnapshotID) []Snapshot {
	out := make([]Snapshot, 0, len(ids))
	for _, id := range ids {
		if s, ok := e.store.Snapshot(id); ok {
			out = append(out, e.public(s))
		}
	}
	return out
}

// public joins what the graph knows of a snapshot with its figures of now.
func (e *Engine) public(s kg.Snapshot) Snapshot {
	out := Snapshot{
		ID: s.ID, Rung: s.Rung, Runtime: s.Runtime, State: s.State, Need: orEmpty(s.Declares), Provides: orEmpty(s.Provides),
		SpecKey: s.SpecKey, WarmMS: s.WarmMillis, ResidentBytes: s.ResidentBytes, CreatedAt: s.CreatedAt.UTC(), Node: s.Node,
	}
	if s.DerivedFrom != "" {
		out.DerivedFrom = &s.DerivedFrom
	}
	if !s.ExpiresAt.IsZero() {
		at := s.ExpiresAt.UTC()
		out.ExpiresAt = &at
	}
	if l, ok := e.registry.Get(s.ID); ok {
		stats := l.Parent.Stats()
		out.PID, out.Children, out.Forks = stats.PID, stats.Children, stats.Forks
	}
	return out
}
