package kg

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/seed-ff860830/banyan/ontology"
)

// node is one snapshot in memory. Nodes are immutable; a change makes another.
type node struct {
	snap     Snapshot // without Declares and Provides
	declares []uint32 // sorted symbols
	provides []uint32
	saved    float64 // warm-up of the snapshot and all its ancestors, milliseconds
}

// forkable reports whether the planner may be shown the snapshot.
func (n *node) forkable() bool {
	return n.snap.State == ontology.StateLive || n.snap.State == ontology.StateStored
}

// compareCost orders nodes as a segment does: fewest declared capabilities,
// then fewest resident bytes, then id.
func compareCost(a, b *node) int {
	return cmp.Or(cmp.Compare(len(a.declares), len(b.declares)), compareTie(a, b))
}

// compareTie orders nodes that cost the same.
func compareTie(a, b *node) int {
	return cmp.Or(cmp.Compare(a.snap.ResidentBytes, b.snap.ResidentBytes), cmp.Compare(a.snap.ID, b.snap.ID))
}

// compareSaved orders nodes by how much warm-up they save, most first.
func compareSaved(a, b *node) int {
	return cmp.Or(cmp.Compare(b.saved, a.saved), compareTie(a, b))
}

// posting is the set of a segment's ordinals that provide one capability:
// words if it is dense, else a sorted list.
type posting struct {
	words []uint64
	list  []uint32
	count int
}

// dense is from which share of a segment a posting is kept as words: a list
// entry takes 32 bits, so a list over n/32 long is the larger of the two.
const dense = 32

func (p posting) has(ord uint32) bool {
	if p.words != nil {
		return p.words[ord/64]>>(ord%64)&1 == 1
	}
	_, ok := slices.BinarySearch(p.list, ord)
	return ok
}

// segment is an immutable part of the index: nodes by ordinal in the order of
// compareCost, and by capability. Only dead differs between versions of one
// segment, and it is copied on writing.
type segment struct {
	nodes    []*node
	provides map[uint32]posting
	// rarest files each node under the capability it declares that fewest nodes
	// of the segment declare, so that each stands in one list only; a list is
	// in the order of compareSaved. bare are those that declare nothing.
	rarest map[uint32][]uint32
	bare   []uint32
	dead   []uint64
	gone   int
}

// newSegment builds a segment of nodes, whose slice it takes over.
func newSegment(nodes []*node, symbols int) *segment {
	slices.SortFunc(nodes, compareCost)
	g := &segment{nodes: nodes, dead: make([]uint64, (len(nodes)+63)/64)}
	g.buildProvides(symbols)
	g.buildRarest(symbols)
	return g
}

func (g *segment) buildProvides(symbols int) {
	counts := make([]uint32, symbols)
	for _, n := range g.nodes {
		for _, c := range n.provides {
			counts[c]++
		}
	}
	g.provides = map[uint32]posting{}
	for ord, n := range g.nodes {
		for _, c := range n.provides {
			p, ok := g.provides[c]
			if !ok {
				p.count = int(counts[c])
				if p.count > len(g.nodes)/dense {
					p.words = make([]uint64, len(g.dead))
				} else {
					p.list = make([]uint32, 0, p.count)
				}
			}
			if p.words != nil {
				p.words[ord/64] |= 1 << (ord % 64)
				if ok {
					continue
				}
			} else {
				p.list = append(p.list, uint32(ord))
			}
			g.provides[c] = p
		}
	}
}

func (g *segment) buildRarest(symbols int) {
	counts := make([]uint32, symbols)
	for _, n := range g.nodes {
		for _, c := range n.declares {
			counts[c]++
		}
	}
	g.rarest = map[uint32][]uint32{}
	order := make([]uint32, len(g.nodes))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return compareSaved(g.nodes[a], g.nodes[b]) })
	for _, ord := range order {
		n := g.nodes[ord]
		if len(n.declares) == 0 {
			g.bare = append(g.bare, ord)
			continue
		}
		key := slices.MinFunc(n.declares, func(a, b uint32) int { return cmp.Compare(counts[a], counts[b]) })
		g.rarest[key] = append(g.rarest[key], ord)
	}
}

// live returns how many nodes are not dead.
func (g *segment) live() int { return len(g.nodes) - g.gone }

func (g *segment) isDead(ord uint32) bool { return g.dead[ord/64]>>(ord%64)&1 == 1 }

// without returns the segment with a node dead; ok is false if it is not here.
func (g *segment) without(n *node) (*segment, bool) {
	i, ok := slices.BinarySearchFunc(g.nodes, n, compareCost)
	if !ok || g.nodes[i] != n || g.isDead(uint32(i)) {
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
		if !g.isDead(uint32(i)) {
			to = append(to, n)
		}
	}
	return to
}

// supersets yields the live ordinals whose nodes provide all of need, in
// order, until yield says no.
func (g *segment) supersets(need []uint32, yield func(*node) bool) {
	ps := make([]posting, len(need))
	for i, c := range need {
		p, ok := g.provides[c]
		if !ok {
			return
		}
		ps[i] = p
	}
	slices.SortFunc(ps, func(a, b posting) int { return cmp.Compare(a.count, b.count) })
	if len(ps) > 0 && ps[0].words == nil {
		g.filterList(ps[0].list, ps[1:], yield)
		return
	}
	for w := range g.dead { // all postings are dense, or there is none
		word := ^g.dead[w]
		for _, p := range ps {
			word &= p.words[w]
		}
		for ; word != 0; word &= word - 1 {
			ord := w*64 + bits.TrailingZeros64(word)
			if ord >= len(g.nodes) {
				break
			}
			if !yield(g.nodes[ord]) {
				return
			}
		}
	}
}

func (g *segment) filterList(list []uint32, rest []posting, yield func(*node) bool) {
next:
	for _, ord := range list {
		if g.isDead(ord) {
			continue
		}
		for _, p := range rest {
			if !p.has(ord) {
				continue next
			}
		}
		if !yield(g.nodes[ord]) {
			return
		}
	}
}

// bases calls each with one list after the other of live nodes in the order of
// compareSaved; each list may be ended early. Every node that declares nothing
// but what is in closure is among them.
func (g *segment) bases(closure []uint32, yield func(*node) bool) {
	g.walk(g.bare, yield)
	for _, c := range closure {
		g.walk(g.rarest[c], yield)
	}
}

func (g *segment) walk(list []uint32, yield func(*node) bool) {
	for _, ord := range list {
		if !g.isDead(ord) && !yield(g.nodes[ord]) {
			return
		}
	}
}
