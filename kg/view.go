package kg

import (
	"cmp"
	"maps"
	"slices"
	"sort"

	"github.com/seed-ff860830/banyan/ontology"
)

// View is the capability index and the declared capabilities as the last
// commit left them. It is immutable and answers from memory, without locks
// that any writing holds for long. It answers the planner's questions.
//
// As SPARQL over the triples the two questions are:
//
//	Supersets: SELECT ?s { ?s bn:state ?st ; bn:runtime R ; bn:rung U ; bn:provides c1, c2, … .
//	           FILTER(?st IN (bn:Live, bn:Stored)) }
//	Bases:     SELECT ?s { ?s bn:state ?st ; bn:runtime R ; bn:rung U . FILTER(?st IN (bn:Live, bn:Stored))
//	           FILTER NOT EXISTS { ?s bn:declares ?d . FILTER(?d NOT IN (closure of the need under bn:implies)) } }
type View struct {
	syms   *symbols
	shards map[shardKey]*shard
	decl   *declared
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
	best := top{k: k}
	for _, h := range v.pick(l) {
		for _, n := range h.tail {
			if subset(need, n.provides) {
				best.offer(rated{n, len(n.declares) - common(n.declares, closure)}, compareExtra)
			}
		}
		for _, g := range h.segs {
			g.supersets(need, func(n *node) bool {
				// No later node of the segment can have less beyond the closure.
				if !best.wants(rated{n, len(n.declares) - len(closure)}, compareExtra) {
					return false
				}
				best.offer(rated{n, len(n.declares) - common(n.declares, closure)}, compareExtra)
				return true
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
	best := top{k: k}
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
			g.bases(closure, consider)
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
			ID:            r.node.snap.ID,
			SpecKey:       r.node.snap.SpecKey,
			Declares:      v.syms.list(r.node.declares),
			Extra:         r.extra,
			WarmMillis:    r.node.saved,
			ResidentBytes: r.node.snap.ResidentBytes,
		})
	}
	return out
}

// with returns a view in which a node is gone or has come; nil is none.
func (v *View) with(gone, come *node) *View {
	next := &View{syms: v.syms, decl: v.decl, shards: maps.Clone(v.shards)}
	if gone != nil && gone.forkable() {
		key := shardKey{gone.snap.Runtime, gone.snap.Rung}
		if h := next.shards[key]; h != nil {
			if h = h.without(gone, v.syms.len()); h.empty() {
				delete(next.shards, key)
			} else {
				next.shards[key] = h
			}
		}
	}
	if come != nil && come.forkable() {
		key := shardKey{come.snap.Runtime, come.snap.Rung}
		h := next.shards[key]
		if h == nil {
			h = &shard{}
		}
		next.shards[key] = h.with(come, v.syms.len())
	}
	return next
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

// wants reports whether an item of this rating would be kept.
func (t *top) wants(r rated, compare func(a, b rated) int) bool {
	return len(t.items) < t.k || compare(r, t.items[t.k-1]) < 0
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
