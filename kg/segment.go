package kg

import (
	"cmp"
	"math/bits"
	"slices"
)

// segmentMax is how many nodes a segment has at most. It bounds how long a
// merge takes, so that no put waits for the index of a million nodes to be
// made anew, and makes ordinals fit 16 bits.
const segmentMax = 1 << 16

// denseShare says from which share of a segment a posting is kept as words.
// For memory alone it would be 1/16, since a list's entry takes 16 bits; but
// words are read 64 ordinals at a time, and there are so few capabilities
// between the two that they take some bytes a snapshot.
const denseShare = 64

// segment is an immutable part of the index: nodes by ordinal in the order of
// compareCost, and by capability. Only dead differs between versions of one
// segment, and it is copied on writing.
type segment struct {
	nodes    []*node
	sizes    []uint32 // how many capabilities each node declares, so rising
	provides *postings
	declares *postings
	// rarest files each node under the capability it declares that fewest nodes
	// of the segment declare, so that each stands in one list only; a list is
	// in the order of compareSaved. bare are those that declare nothing.
	rarest *postings
	bare   []uint16
	dead   []uint64
	gone   int
}

// newSegment builds a segment of nodes, whose slice it takes over.
func newSegment(nodes []*node, t *tally) *segment {
	sortByCost(nodes)
	g := &segment{nodes: nodes, sizes: make([]uint32, len(nodes)), dead: make([]uint64, (len(nodes)+63)/64)}
	for i, n := range nodes {
		g.sizes[i] = uint32(len(n.declares))
	}
	g.buildProvides(t)
	g.buildDeclares(t)
	return g
}

// sortByCost sorts nodes by compareCost. The keys are laid side by side first:
// to fetch them from all over the memory at each comparison takes longer.
func sortByCost(nodes []*node) {
	type keyed struct {
		size  int
		bytes int64
		n     *node
	}
	ks := make([]keyed, len(nodes))
	for i, n := range nodes {
		ks[i] = keyed{len(n.declares), n.bytes, n}
	}
	slices.SortFunc(ks, func(a, b keyed) int {
		if a.size != b.size {
			return a.size - b.size
		}
		if a.bytes != b.bytes {
			return cmp.Compare(a.bytes, b.bytes)
		}
		return cmp.Compare(a.n.id, b.n.id)
	})
	for i, k := range ks {
		nodes[i] = k.n
	}
}

// bySaved returns the ordinals in the order of compareSaved.
func (g *segment) bySaved() []uint16 {
	type keyed struct {
		saved float64
		bytes int64
		ord   uint16
	}
	ks := make([]keyed, len(g.nodes))
	for i, n := range g.nodes {
		ks[i] = keyed{n.saved, n.bytes, uint16(i)}
	}
	slices.SortFunc(ks, func(a, b keyed) int {
		if a.saved != b.saved {
			return cmp.Compare(b.saved, a.saved)
		}
		if a.bytes != b.bytes {
			return cmp.Compare(a.bytes, b.bytes)
		}
		return cmp.Compare(g.nodes[a.ord].id, g.nodes[b.ord].id)
	})
	out := make([]uint16, len(ks))
	for i, k := range ks {
		out[i] = k.ord
	}
	return out
}

func (g *segment) buildProvides(t *tally) {
	for _, n := range g.nodes {
		for _, c := range n.provides {
			t.add(c)
		}
	}
	p, fill := t.layout(len(g.nodes), uint32(len(g.nodes)/denseShare))
	for ord, n := range g.nodes {
		for _, c := range n.provides {
			fill.put(c, uint16(ord))
		}
	}
	t.reset()
	g.provides = p
}

// buildDeclares makes the postings of what is declared, and of each node's
// rarest.
func (g *segment) buildDeclares(t *tally) {
	for _, n := range g.nodes {
		for _, c := range n.declares {
			t.add(c)
		}
	}
	keys := make([]uint32, len(g.nodes))
	for ord, n := range g.nodes {
		for i, c := range n.declares {
			if i == 0 || t.counts[c] < t.counts[keys[ord]] {
				keys[ord] = c
			}
		}
	}
	var fill *filler
	g.declares, fill = t.layout(len(g.nodes), uint32(len(g.nodes)/denseShare))
	for ord, n := range g.nodes {
		for _, c := range n.declares {
			fill.put(c, uint16(ord))
		}
	}
	t.reset()
	g.buildRarest(t, keys)
}

// buildRarest files each node under its key.
func (g *segment) buildRarest(t *tally, keys []uint32) {
	for ord, key := range keys {
		if g.sizes[ord] > 0 {
			t.add(key)
		}
	}
	p, fill := t.layout(len(g.nodes), sparse)
	for _, ord := range g.bySaved() {
		if g.sizes[ord] == 0 {
			g.bare = append(g.bare, ord)
		} else {
			fill.put(keys[ord], ord)
		}
	}
	t.reset()
	g.rarest = p
}

// live returns how many nodes are not dead.
func (g *segment) live() int { return len(g.nodes) - g.gone }

func (g *segment) isDead(ord uint16) bool { return g.dead[ord/64]>>(ord%64)&1 == 1 }

// without returns the segment with a node dead; ok is false if it is not here.
func (g *segment) without(n *node) (*segment, bool) {
	i, ok := slices.BinarySearchFunc(g.nodes, n, compareCost)
	if !ok || g.nodes[i] != n || g.isDead(uint16(i)) {
		return g, false
	}
	c := *g
	c.dead = slices.Clone(g.dead)
	c.dead[i/64] |= 1 << (i % 64)
	c.gone++
	return &c, true
}

// alive appends the nodes that are not dead.
func (g *segment) alive(to []*node) []*node {
	for i, n := range g.nodes {
		if !g.isDead(uint16(i)) {
			to = append(to, n)
		}
	}
	return to
}

// gather returns the postings of all that is needed, the shortest first; ok is
// false if one is empty.
func (g *segment) gather(need []uint32) (ps []posting, ok bool) {
	ps = make([]posting, len(need))
	for i, c := range need {
		if ps[i], ok = g.provides.find(c); !ok {
			return nil, false
		}
	}
	slices.SortFunc(ps, func(a, b posting) int { return cmp.Compare(a.count, b.count) })
	return ps, true
}

// supersets yields the live ordinals whose nodes provide all of need, in
// rising order, until yield says no; it reports whether it never did.
func (g *segment) supersets(need []uint32, yield func(ord uint16) bool) bool {
	ps, ok := g.gather(need)
	if !ok {
		return true
	}
	if len(ps) > 0 && ps[0].words == nil {
		return g.filterList(ps[0].list, ps[1:], yield)
	}
	for w := range g.dead { // all postings are dense, or there is none
		for word := g.both(ps, w); word != 0; word &= word - 1 {
			if !yield(uint16(w*64 + bits.TrailingZeros64(word))) {
				return false
			}
		}
	}
	return true
}

// both returns the live ordinals of one word that are in all dense postings.
func (g *segment) both(ps []posting, w int) uint64 {
	word := ^g.dead[w]
	for i := range ps {
		if word &= ps[i].words[w]; word == 0 {
			return 0
		}
	}
	if w == len(g.dead)-1 && len(g.nodes)%64 != 0 {
		word &= 1<<(len(g.nodes)%64) - 1
	}
	return word
}

// filterList is supersets from the shortest posting, a list. The other lists
// are read along with it, since all rise.
func (g *segment) filterList(list []uint16, rest []posting, yield func(ord uint16) bool) bool {
next:
	for _, ord := range list {
		if g.isDead(ord) {
			continue
		}
		for i := range rest {
			p := &rest[i]
			if !p.at(ord) {
				if p.words == nil && len(p.list) == 0 {
					return true
				}
				continue next
			}
		}
		if !yield(ord) {
			return false
		}
	}
	return true
}

// bases calls yield with the live ordinals of nodes that declare at most as
// much as the closure, one list after the other in the order of compareSaved;
// yield may end the list it is in. Every node that declares nothing but what
// is in closure is among them.
func (g *segment) bases(closure []uint32, yield func(ord uint16) bool) {
	g.walk(g.bare, len(closure), yield)
	for _, c := range closure {
		if p, ok := g.rarest.find(c); ok {
			g.walk(p.list, len(closure), yield)
		}
	}
}

func (g *segment) walk(list []uint16, most int, yield func(ord uint16) bool) {
	for _, ord := range list {
		if int(g.sizes[ord]) <= most && !g.isDead(ord) && !yield(ord) {
			return
		}
	}
}
