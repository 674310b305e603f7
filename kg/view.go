package kg

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/seed-ff860830/banyan/ontology"
)

// View is the capability index and the declared capabilities as the last
// commit left them. It is immutable and answers from memory, without locks
// that any writing holds for long. It answers the planner's questions; each is
// stated in SPARQL by a function of questions.go.
type View struct {
	syms   *symbols
	shards map[shardKey]*shard // live and stored snapshots
	rest   *shard              // all others
	decl   *declared

	commit uint64 // whose GraphSnapshots this is, and of later ones that leave it alone
	whole  bool   // all that provides something there is in the index
}

// View returns the index as it is now. The planner takes one view for one plan.
func (s *Store) View() *View { return s.cat.view.Load() }

// Supersets returns up to k live or stored snapshots that provide all of the
// need: those that declare least beyond the need's closure first, then those
// with fewest resident bytes, then by id.
func (v *View) Supersets(l Lookup, k int) []Candidate {
	need, all := v.syms.find(l.Need)
	if !all || k <= 0 {
		return nil
	}
	closure, _ := v.syms.find(v.decl.closure(l.Need))
	best := newTop(k)
	for _, h := range v.pick(l) {
		for _, n := range h.tail {
			if subset(need, n.provides) {
				best.offer(rated{n, len(n.declares) - common(n.declares, closure)}, compareExtra)
			}
		}
		for _, g := range h.segs {
			g.cheapest(need, closure, best.bound, func(ord uint16, extra int) {
				best.offer(rated{g.nodes[ord], extra}, compareExtra)
			})
		}
	}
	return v.candidates(best.items)
}

// Bases returns up to k live or stored snapshots that declare nothing beyond
// the need's closure: the one that saves the most warm-up first, then by
// resident bytes and id.
func (v *View) Bases(l Lookup, k int) []Candidate {
	if k <= 0 {
		return nil
	}
	closure, _ := v.syms.find(v.decl.closure(l.Need))
	best := newTop(k)
	bySaved := func(a, b rated) int { return compareSaved(a.node, b.node) }
	consider := func(n *node) bool {
		if !best.wants(rated{node: n}, bySaved) {
			return false
		}
		if subset(n.declares, closure) {
			best.offer(rated{node: n}, bySaved)
		}
		return true
	}
	for _, h := range v.pick(l) {
		for _, n := range h.tail {
			consider(n)
		}
		for _, g := range h.segs {
			g.bases(closure, func(ord uint16) bool { return consider(g.nodes[ord]) })
		}
	}
	return v.candidates(best.items)
}

// Capability returns what is known of a capability. Of a versioned one that
// nobody declares, it is what is known of the module.
func (v *View) Capability(c ontology.Capability) (Capability, bool) { return v.decl.capability(c) }

// Closure returns capabilities with all that they imply, sorted.
func (v *View) Closure(cs []ontology.Capability) []ontology.Capability {
	out := v.decl.closure(cs)
	slices.Sort(out)
	return out
}

// pick returns the shards of a look-up; without a rung, those of every rung.
func (v *View) pick(l Lookup) []*shard {
	if l.Rung != "" {
		if h, ok := v.shards[shardKey{l.Runtime, l.Rung}]; ok {
			return []*shard{h}
		}
		return nil
	}
	var out []*shard
	for key, h := range v.shards {
		if key.runtime == l.Runtime {
			out = append(out, h)
		}
	}
	return out
}

func (v *View) candidates(items []rated) []Candidate {
	out := make([]Candidate, 0, len(items))
	for _, r := range items {
		out = append(out, Candidate{
			ID:            r.node.id,
			SpecKey:       r.node.specKey,
			Declares:      v.syms.list(r.node.declares),
			Extra:         r.extra,
			WarmMillis:    r.node.saved,
			ResidentBytes: r.node.bytes,
		})
	}
	return out
}

// with returns a view in which a node is gone or has come; nil is none. The
// caller is the writer, and lends its tally.
func (v *View) with(gone, come *node, t *tally) *View {
	next := *v
	next.shards = maps.Clone(v.shards)
	t.grow(v.syms.len())
	if gone != nil {
		next.place(gone, next.of(gone).without(gone, t))
	}
	if come != nil {
		next.place(come, next.of(come).with(come, t))
	}
	return &next
}

// of returns the shard that a node belongs to.
func (v *View) of(n *node) *shard {
	h := v.rest
	if n.forkable() {
		h = v.shards[*n.shard]
	}
	if h == nil {
		return &shard{}
	}
	return h
}

// place sets the shard that a node belongs to. The view is not shown yet.
func (v *View) place(n *node, h *shard) {
	switch {
	case !n.forkable():
		v.rest = h
	case h.empty():
		delete(v.shards, *n.shard)
	default:
		v.shards[*n.shard] = h
	}
}

// providers yields every node, in whatever state, that provides all of need.
func (v *View) providers(need []uint32, yield func(*node) bool) {
	for _, h := range v.shards {
		if !h.supersets(need, yield) {
			return
		}
	}
	if v.rest != nil {
		v.rest.supersets(need, yield)
	}
}

// rated is a node with its rating in one look-up.
type rated struct {
	node  *node
	extra int
}

// compareExtra orders by what is declared beyond the closure, then bytes, id.
func compareExtra(a, b rated) int {
	return cmp.Or(cmp.Compare(a.extra, b.extra), compareTie(a.node, b.node))
}

// top keeps the k best of what it is offered, in order.
type top struct {
	k     int
	items []rated
}

// newTop makes room for the first few of k.
func newTop(k int) top { return top{k: k, items: make([]rated, 0, min(k, 64)+1)} }

func (t *top) full() bool { return len(t.items) == t.k }

// bound is how much an item may declare beyond the closure to be kept.
func (t *top) bound() int {
	if !t.full() {
		return math.MaxInt32
	}
	return t.last().extra
}

// last is the worst of those kept.
func (t *top) last() rated { return t.items[len(t.items)-1] }

// wants reports whether an item of this rating would be kept.
func (t *top) wants(r rated, compare func(a, b rated) int) bool {
	return !t.full() || compare(r, t.last()) < 0
}

// offer keeps an item if it is among the best.
func (t *top) offer(r rated, compare func(a, b rated) int) {
	if !t.wants(r, compare) {
		return
	}
	i := sort.Search(len(t.items), func(i int) bool { return compare(r, t.items[i]) < 0 })
	t.items = slices.Insert(t.items, i, r)
	if len(t.items) > t.k {
		t.items = t.items[:t.k]
	}
}
