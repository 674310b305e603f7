package kg

import (
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

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

// shard holds nodes that are asked for together: a short tail of new ones and
// segments of growing size (the logarithmic method of Bentley and Saxe, 1980)
// up to segmentMax, so that a put costs little on the average and never much,
// and a look-up reads few segments. A shard is immutable.
type shard struct {
	segs []*segment
	tail []*node
}

// with returns the shard with a node more.
func (h *shard) with(n *node, t *tally) *shard {
	next := &shard{segs: h.segs, tail: append(slices.Clip(h.tail), n)}
	if len(next.tail) >= tailMax {
		next.merge(t)
	}
	return next
}

// merge makes a segment of the tail and of the segments that are smaller than
// twice what they join, from the smallest on.
func (h *shard) merge(t *tally) {
	nodes, segs := slices.Clone(h.tail), slices.Clone(h.segs)
	for len(segs) > 0 {
		i := smallest(segs)
		if n := segs[i].live(); n >= 2*len(nodes) || n+len(nodes) > segmentMax {
			break
		}
		nodes = segs[i].alive(nodes)
		segs = slices.Delete(segs, i, i+1)
	}
	h.tail, h.segs = nil, append(segs, newSegment(nodes, t))
}

// smallest returns the index of the segment with the fewest live nodes.
func smallest(segs []*segment) (least int) {
	for i, g := range segs {
		if g.live() < segs[least].live() {
			least = i
		}
	}
	return least
}

// without returns the shard without a node.
func (h *shard) without(n *node, t *tally) *shard {
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
			segs[i] = newSegment(c.alive(nil), t)
		}
		return &shard{segs: segs, tail: h.tail}
	}
	return h
}

// empty reports whether the shard holds no node.
func (h *shard) empty() bool { return len(h.segs) == 0 && len(h.tail) == 0 }

// newShard builds a shard of many nodes at once, on all processors.
func newShard(nodes []*node, symbols int) *shard {
	h := &shard{}
	chunks := slices.Collect(slices.Chunk(nodes, segmentMax))
	if n := len(chunks); n > 0 && len(chunks[n-1]) < tailMax {
		h.tail, chunks = chunks[n-1], chunks[:n-1]
	}
	h.segs = make([]*segment, len(chunks))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	tallies := make(chan *tally, runtime.GOMAXPROCS(0))
	for i, chunk := range chunks {
		group.Go(func() error {
			t := borrow(tallies)
			t.grow(symbols)
			h.segs[i] = newSegment(slices.Clip(chunk), t)
			tallies <- t
			return nil
		})
	}
	_ = group.Wait() // none of them fails
	return h
}

// borrow takes a tally that is free, or makes one.
func borrow(free <-chan *tally) *tally {
	select {
	case t := <-free:
		return t
	default:
		return &tally{}
	}
}

// supersets yields the nodes of the shard that provide all of need.
func (h *shard) supersets(need []uint32, yield func(*node) bool) bool {
	for _, n := range h.tail {
		if subset(need, n.provides) && !yield(n) {
			return false
		}
	}
	for _, g := range h.segs {
		if !g.supersets(need, func(ord uint16) bool { return yield(g.nodes[ord]) }) {
			return false
		}
	}
	return true
}
