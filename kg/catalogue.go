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
// held for the change of a few maps, never while the disk is.
type catalogueState struct {
	view atomic.Pointer[View]

	mu       sync.RWMutex
	nodes    map[ontology.SnapshotID]*node
	ids      []ontology.SnapshotID // sorted
	children map[ontology.SnapshotID][]ontology.SnapshotID

	symbolsAt int // how many symbols there were when the index was last built
}

func newCatalogueState() *catalogueState {
	c := &catalogueState{}
	c.reset()
	c.view.Store(&View{syms: newSymbols(), decl: &declared{}})
	return c
}

func (c *catalogueState) reset() {
	c.nodes = map[ontology.SnapshotID]*node{}
	c.ids = nil
	c.children = map[ontology.SnapshotID][]ontology.SnapshotID{}
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
		decl := s.cat.view.Load().decl
		if m.catalogue {
			var err error
			if decl, err = r.declared(); err != nil {
				return err
			}
		}
		if !m.snapshots {
			old := s.cat.view.Load()
			s.cat.view.Store(&View{syms: old.syms, shards: old.shards, decl: decl})
			return nil
		}
		snaps, err := r.snapshots(s.log)
		if err != nil {
			return err
		}
		s.cat.rebuild(snaps, decl)
		return nil
	})
}

// rebuild makes tree and index of all snapshots.
func (c *catalogueState) rebuild(snaps []Snapshot, decl *declared) {
	view := &View{syms: newSymbols(), shards: map[shardKey]*shard{}, decl: decl}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reset()
	for _, sn := range snaps {
		c.insert(newNode(view.syms, sn))
	}
	c.saveAll()
	byShard := map[shardKey][]*node{}
	for _, id := range c.ids {
		if n := c.nodes[id]; n.forkable() {
			key := shardKey{n.snap.Runtime, n.snap.Rung}
			byShard[key] = append(byShard[key], n)
		}
	}
	for key, nodes := range byShard {
		view.shards[key] = newShard(nodes, view.syms.len())
	}
	c.symbolsAt = view.syms.len()
	c.view.Store(view)
}

// newNode makes the node of a snapshot; its savings are to be summed yet.
func newNode(syms *symbols, sn Snapshot) *node {
	n := &node{declares: syms.intern(sn.Declares), provides: syms.intern(sn.Provides), snap: sn}
	n.snap.Declares, n.snap.Provides = nil, nil
	return n
}

// insert puts a node into the maps, in place of one of the same id.
func (c *catalogueState) insert(n *node) {
	id := n.snap.ID
	old, there := c.nodes[id]
	c.nodes[id] = n
	if there && old.snap.DerivedFrom == n.snap.DerivedFrom {
		return
	}
	if there {
		c.unlink(old)
	} else if i, ok := slices.BinarySearch(c.ids, id); !ok {
		c.ids = slices.Insert(c.ids, i, id)
	}
	if p := n.snap.DerivedFrom; p != "" {
		c.children[p] = append(c.children[p], id)
	}
}

// remove takes a node out of the maps, if it is there.
func (c *catalogueState) remove(id ontology.SnapshotID) {
	n, ok := c.nodes[id]
	if !ok {
		return
	}
	delete(c.nodes, id)
	if i, ok := slices.BinarySearch(c.ids, id); ok {
		c.ids = slices.Delete(c.ids, i, i+1)
	}
	c.unlink(n)
}

// unlink takes a node out of its parent's children.
func (c *catalogueState) unlink(n *node) {
	p := n.snap.DerivedFrom
	left := slices.DeleteFunc(c.children[p], func(x ontology.SnapshotID) bool { return x == n.snap.ID })
	if len(left) == 0 {
		delete(c.children, p)
	} else {
		c.children[p] = left
	}
}

// saving returns the warm-up of a node and its ancestors, the root first, so
// that the sum does not depend on the order in which nodes came.
func (c *catalogueState) saving(n *node) (sum float64) {
	line := append(c.ancestors(n.snap.ID), n.snap.ID)
	chain := make([]*node, 0, len(line))
	chain = append(chain, n)
	for _, id := range line[:len(line)-1] {
		chain = append(chain, c.nodes[id])
	}
	for _, a := range slices.Backward(chain) {
		sum += a.snap.WarmMillis
	}
	return sum
}

// saveAll sums every node's savings, before the nodes are shown to anyone:
// parents before children, and by saving where a cycle leaves no such order.
func (c *catalogueState) saveAll() {
	done := make(map[ontology.SnapshotID]bool, len(c.nodes))
	var queue []ontology.SnapshotID
	for _, id := range c.ids {
		if _, ok := c.nodes[c.nodes[id].snap.DerivedFrom]; !ok {
			queue = append(queue, id)
		}
	}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		n := c.nodes[id]
		n.saved = n.snap.WarmMillis
		if p, ok := c.nodes[n.snap.DerivedFrom]; ok {
			n.saved = p.saved + n.snap.WarmMillis
		}
		done[id] = true
		queue = append(queue, c.children[id]...)
	}
	for id, n := range c.nodes {
		if !done[id] {
			n.saved = c.saving(n)
		}
	}
}

// ancestors returns the line from a snapshot's parent to the root, nearest
// first; a cycle ends it.
func (c *catalogueState) ancestors(id ontology.SnapshotID) []ontology.SnapshotID {
	var line []ontology.SnapshotID
	seen := map[ontology.SnapshotID]bool{id: true}
	for n := c.nodes[id]; n != nil; {
		p := n.snap.DerivedFrom
		if n = c.nodes[p]; n == nil || seen[p] {
			break
		}
		seen[p] = true
		line = append(line, p)
	}
	return line
}

// descendants returns all that was derived from a snapshot, level by level and
// by id within a level.
func (c *catalogueState) descendants(id ontology.SnapshotID) []ontology.SnapshotID {
	var out []ontology.SnapshotID
	seen := map[ontology.SnapshotID]bool{id: true}
	for level := []ontology.SnapshotID{id}; len(level) > 0; {
		var next []ontology.SnapshotID
		for _, p := range level {
			for _, child := range c.children[p] {
				if !seen[child] {
					seen[child] = true
					next = append(next, child)
				}
			}
		}
		slices.Sort(next)
		out = append(out, next...)
		level = next
	}
	return out
}

// apply brings tree and index up to date with snapshots that were put or
// changed, and ids that were pruned. The caller is the writer; the commit is on disk.
func (c *catalogueState) apply(put []Snapshot, pruned []ontology.SnapshotID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	view := c.view.Load()
	for _, id := range pruned {
		view = view.with(c.nodes[id], nil)
		c.remove(id)
	}
	for _, sn := range put {
		old := c.nodes[sn.ID]
		n := newNode(view.syms, sn)
		c.insert(n)
		n.saved = c.saving(n)
		view = view.with(old, n)
		if old != nil && old.saved != n.saved {
			view = c.resave(view, sn.ID)
		}
	}
	c.view.Store(view)
}

// resave sums the savings of a changed snapshot's descendants again.
func (c *catalogueState) resave(view *View, id ontology.SnapshotID) *View {
	for _, d := range c.descendants(id) {
		old := c.nodes[d]
		n := *old
		n.saved = c.saving(old)
		c.nodes[d] = &n
		view = view.with(old, &n)
	}
	return view
}

// crowded reports whether the symbols of pruned snapshots should be shed.
func (c *catalogueState) crowded() bool {
	return c.view.Load().syms.len() > 2*c.symbolsAt+symbolSlack
}

// snapshot returns a node as its typed form.
func (v *View) snapshot(n *node) Snapshot {
	sn := n.snap
	sn.Declares = v.syms.list(n.declares)
	sn.Provides = v.syms.list(n.provides)
	return sn
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
	i, ok := slices.BinarySearch(s.cat.ids, after)
	if ok {
		i++
	}
	for ; i < len(s.cat.ids) && len(found) < limit; i++ {
		if n := s.cat.nodes[s.cat.ids[i]]; !live || n.forkable() {
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

// Runtime returns a runtime. Where several graphs describe it, one describes
// it wholly: an imported one before the host's before the built-in one, and
// among imported ones the first by name.
func (s *Store) Runtime(id ontology.RuntimeID) (Runtime, bool) {
	rt, ok := s.View().decl.runtimes[id]
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
