package kg

import (
	"slices"

	"github.com/seed-ff860830/banyan/ontology"
)

// shardKey is what a snapshot must agree in before its capabilities count.
type shardKey struct {
	runtime ontology.RuntimeID
	rung    ontology.RungName
}

// tailMax is how many nodes wait outside segments; they are looked at one by
// one.
const tailMax = 64

// shard holds the forkable nodes of one runtime and rung: a short tail of new
// ones and segments of growing size (the logarithmic method of Bentley and
// Saxe, 1980), so that a put costs little on the average and a look-up reads
// few segments. A shard is immutable.
type shard struct {
	segs []*segment // large to small
	tail []*node
}

// with returns the shard with a node more.
func (h *shard) with(n *node, symbols int) *shard {
	next := &shard{segs: h.segs, tail: append(slices.Clip(h.tail), n)}
	if len(next.tail) >= tailMax {
		next.merge(symbols)
	}
	return next
}

// merge makes a segment of the tail and of every segment that is not at least
// twice the size of what it joins.
func (h *shard) merge(symbols int) {
	nodes, segs := slices.Clone(h.tail), h.segs
	for len(segs) > 0 && segs[len(segs)-1].live() < 2*len(nodes) {
		nodes = segs[len(segs)-1].alive(nodes)
		segs = segs[:len(segs)-1]
	}
	h.tail = nil
	h.segs = segs
	if len(nodes) > 0 {
		h.segs = append(slices.Clip(segs), newSegment(nodes, symbols))
	}
}

// without returns the shard without a node.
func (h *shard) without(n *node, symbols int) *shard {
	if i := slices.Index(h.tail, n); i >= 0 {
		return &shard{segs: h.segs, tail: slices.Delete(slices.Clone(h.tail), i, i+1)}
	}
	for i, g := range h.segs {
		c, ok := g.without(n)
		if !ok {
			continue
		}
		segs := slices.Clone(h.segs)
		segs[i] = c
		switch {
		case c.live() == 0:
			segs = slices.Delete(segs, i, i+1)
		case c.gone > c.live():
			segs[i] = newSegment(c.alive(nil), symbols)
		}
		return &shard{segs: segs, tail: h.tail}
	}
	return h
}

// empty reports whether the shard holds no node.
func (h *shard) empty() bool { return len(h.segs) == 0 && len(h.tail) == 0 }

// newShard builds a shard of many nodes at once.
func newShard(nodes []*node, symbols int) *shard {
	h := &shard{tail: nodes}
	h.merge(symbols)
	return h
}
