package kg

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// catalogueState is what the typed layer keeps in memory: every snapshot by
// id, their tree, and the view. The writer changes it after the commit; mu is
// held for the change of a few maps, never while the disk is, nor while the
// index is merged.
type catalogueState struct {
	view atomic.Pointer[View]
	// foreseen is the newest commit that changes GraphSnapshots, known before
	// anyone can see it. With it a reader finds out whether the view is that of
	// its own commit.
	foreseen atomic.Uint64
	// elsewhere is what a reader found out last about other graphs.
	elsewhere atomic.Pointer[elsewhere]

	mu sync.RWMutex
	tree

	// What follows is the writer's own.
	tally     *tally
	kinds     map[shardKey]*shardKey
	hosts     once
	symbolsAt int // how many symbols there were when the index was last built
}

func newCatalogueState() *catalogueState {
	c := &catalogueState{tree: newTree(0), tally: &tally{}, kinds: map[shardKey]*shardKey{}}
	c.view.Store(&View{syms: newSymbols(), shards: map[shardKey]*shard{}, decl: &declared{}, whole: true})
	return c
}

// symbolSlack is how many unused symbols the index may gather before it is
// built anew.
const symbolSlack = 1 << 16

// reload reads everything from the triples.
func (s *Store) reload(ctx context.Context) error {
	return s.refresh(ctx, marks{snapshots: true, catalogue: true})
}

// refresh reads what the marks say is stale. The caller is the writer, or Open.
func (s *Store) refresh(ctx context.Context, m marks) error {
	return s.readInside(ctx, func(r *ReadTx) error {
		next := *s.cat.view.Load()
		if m.catalogue {
			var err error
			if next.decl, err = r.declared(); err != nil {
				return err
			}
		}
		if !m.snapshots {
			s.cat.view.Store(&next)
			return nil
		}
		found, err := r.loadSnapshots()
		if err != nil {
			return err
		}
		s.cat.adopt(found, next.decl, r.meta.commit)
		return nil
	})
}

// adopt makes tree and index of what was read from the triples, beside those
// that stand, and puts them in their place.
func (c *catalogueState) adopt(found *loaded, decl *declared, commit uint64) {
	view := &View{syms: numberAll(found.names), shards: map[shardKey]*shard{}, decl: decl, commit: commit, whole: found.whole}
	next := newTree(len(found.nodes))
	next.addAll(found.nodes)
	byShard := map[*shardKey][]*node{}
	for _, n := range next.order {
		n.shard = c.shardKey(n.shard.runtime, n.shard.rung)
		n.host = c.hosts.one(n.host)
		if key := n.shard; n.forkable() {
			byShard[key] = append(byShard[key], n)
		} else {
			byShard[nil] = append(byShard[nil], n)
		}
	}
	for key, nodes := range byShard {
		if h := newShard(nodes, view.syms.len()); key == nil {
			view.rest = h
		} else {
			view.shards[*key] = h
		}
	}
	c.symbolsAt = view.syms.len()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tree = next
	c.view.Store(view)
}

// shardKey returns the one copy of a key.
func (c *catalogueState) shardKey(runtime ontology.RuntimeID, rung ontology.RungName) *shardKey {
	key := shardKey{runtime, rung}
	kept, ok := c.kinds[key]
	if !ok {
		kept = &key
		c.kinds[key] = kept
	}
	return kept
}

// change is what a commit did to one snapshot.
type change struct {
	put   Snapshot
	iri   ID                  // of the snapshot's node
	prune ontology.SnapshotID // instead of put
}

// apply brings tree and index up to date with what a commit did. The caller is
// the writer; the commit is on disk.
func (c *catalogueState) apply(changes []change, commit uint64) {
	view := c.view.Load()
	for _, x := range changes {
		if x.prune != "" {
			view = view.with(c.nodes[x.prune], nil, c.tally)
			c.mu.Lock()
			c.remove(x.prune)
			c.mu.Unlock()
			continue
		}
		old := c.nodes[x.put.ID]
		n := newNode(&x.put, x.iri, view.syms.intern(x.put.Declares), view.syms.intern(x.put.Provides))
		n.shard, n.host = c.shardKey(x.put.Runtime, x.put.Rung), c.hosts.one(n.host)
		c.mu.Lock()
		c.insert(n)
		c.mu.Unlock()
		view = view.with(old, n, c.tally)
		// What names a parent that was not there sums its savings now.
		if old == nil && len(c.children[n.id]) > 0 || old != nil && old.saved != n.saved {
			view = c.resave(view, n.id)
		}
	}
	next := *view
	next.commit = commit
	c.view.Store(&next)
}

// resave sums the savings of a changed snapshot's descendants again.
func (c *catalogueState) resave(view *View, id ontology.SnapshotID) *View {
	for _, d := range c.descendants(id) {
		old := c.nodes[d]
		n := *old
		c.mu.Lock()
		c.insert(&n)
		c.mu.Unlock()
		view = view.with(old, &n, c.tally)
	}
	return view
}

// foresee notes that a commit is about to change GraphSnapshots.
func (c *catalogueState) foresee(commit uint64) { c.foreseen.Store(max(commit, c.foreseen.Load())) }

// unforesee takes back what was foreseen of a commit that did not come. last is
// the number of the last that did; the view is up to date with it.
func (c *catalogueState) unforesee(last uint64) {
	if c.foreseen.Load() > last {
		c.foreseen.Store(c.view.Load().commit)
	}
}

// crowded reports whether the symbols of pruned snapshots should be shed.
func (c *catalogueState) crowded() bool {
	return c.view.Load().syms.len() > 2*c.symbolsAt+symbolSlack
}

// Snapshot returns a snapshot, from memory.
func (s *Store) Snapshot(id ontology.SnapshotID) (Snapshot, bool) {
	s.cat.mu.RLock()
	n, ok := s.cat.nodes[id]
	view := s.cat.view.Load()
	s.cat.mu.RUnlock()
	if !ok {
		return Snapshot{}, false
	}
	return view.snapshot(n), true
}

// MaxPage bounds the snapshots of one page.
const MaxPage = 1000

// Snapshots returns the snapshots behind an id ("" for the first ones), by id
// and so by age: at most limit, and never more than MaxPage. With live it
// leaves out those that are neither live nor stored.
func (s *Store) Snapshots(after ontology.SnapshotID, limit int, live bool) []Snapshot {
	limit = max(0, min(limit, MaxPage))
	var found []*node
	s.cat.mu.RLock()
	view := s.cat.view.Load()
	i, ok := s.cat.find(after)
	if ok {
		i++
	}
	for ; i < len(s.cat.order) && len(found) < limit; i++ {
		if n := s.cat.order[i]; !live || n.forkable() {
			found = append(found, n)
		}
	}
	s.cat.mu.RUnlock()
	out := make([]Snapshot, len(found))
	for i, n := range found {
		out[i] = view.snapshot(n)
	}
	return out
}

// Ancestors returns what a snapshot was derived from, nearest first.
func (s *Store) Ancestors(id ontology.SnapshotID) []ontology.SnapshotID {
	s.cat.mu.RLock()
	defer s.cat.mu.RUnlock()
	return s.cat.ancestors(id)
}

// Descendants returns all that was derived from a snapshot, nearest first.
func (s *Store) Descendants(id ontology.SnapshotID) []ontology.SnapshotID {
	s.cat.mu.RLock()
	defer s.cat.mu.RUnlock()
	return s.cat.descendants(id)
}

// Runtime returns a runtime by its name or, if none has it, by an alias. Where
// several graphs describe it, one describes it wholly: an imported one before
// the host's before the built-in one, and among imported ones the first by name.
func (s *Store) Runtime(id ontology.RuntimeID) (Runtime, bool) {
	decl := s.View().decl
	rt, ok := decl.runtimes[id]
	if !ok {
		rt, ok = decl.runtimes[decl.aliases[id]]
	}
	rt.Aliases, rt.Preimports = slices.Clone(rt.Aliases), slices.Clone(rt.Preimports)
	rt.Args, rt.StandardModules = slices.Clone(rt.Args), slices.Clone(rt.StandardModules)
	return rt, ok
}

// Runtimes returns all runtimes, by id.
func (s *Store) Runtimes() []Runtime {
	decl := s.View().decl
	out := make([]Runtime, 0, len(decl.runtimes))
	for _, id := range slices.Sorted(maps.Keys(decl.runtimes)) {
		out = append(out, decl.runtimes[id])
	}
	return out
}

// Capability returns what is declared of a capability; see View.Capability.
func (s *Store) Capability(c ontology.Capability) (Capability, bool) { return s.View().Capability(c) }

// Capabilities returns all declared capabilities, by id.
func (s *Store) Capabilities() []Capability {
	decl := s.View().decl
	out := make([]Capability, 0, len(decl.caps))
	for _, id := range slices.Sorted(maps.Keys(decl.caps)) {
		c, _ := decl.capability(id)
		out = append(out, c)
	}
	return out
}

// iri is short for the term of one of the vocabulary's names.
func iri(i ontology.IRI) ttl.Term { return ttl.NewIRI(string(i)) }
