package kg

import (
	"cmp"
	"slices"

	"github.com/seed-ff860830/banyan/ontology"
)

// tree holds all snapshots, and who was derived from whom. Its user locks.
type tree struct {
	nodes    map[ontology.SnapshotID]*node
	order    []*node // by id, and so by age
	children map[ontology.SnapshotID][]ontology.SnapshotID
	states   [ontology.StateRevoked + 1]int // how many are in each state
	circular bool                           // somebody wrote a cycle into the graph by hand
}

func newTree(size int) tree {
	return tree{nodes: make(map[ontology.SnapshotID]*node, size), children: map[ontology.SnapshotID][]ontology.SnapshotID{}}
}

// find returns where a snapshot stands in the order, or would.
func (t *tree) find(id ontology.SnapshotID) (int, bool) {
	if n := len(t.order); n > 0 && t.order[n-1].id < id { // a new one, nearly always
		return n, false
	}
	return slices.BinarySearchFunc(t.order, id, func(n *node, id ontology.SnapshotID) int { return cmp.Compare(n.id, id) })
}

// addAll fills an empty tree with nodes, which it sorts and whose savings it
// sums.
func (t *tree) addAll(nodes []*node) {
	t.order = nodes
	slices.SortFunc(t.order, func(a, b *node) int { return cmp.Compare(a.id, b.id) })
	for _, n := range t.order {
		t.nodes[n.id] = n
		t.states[n.state]++
	}
	for _, n := range t.order {
		if n.parent == "" {
			continue
		}
		if p := t.nodes[n.parent]; p != nil {
			n.parent = p.id // the same text, kept once
		}
		t.children[n.parent] = append(t.children[n.parent], n.id)
	}
	t.saveAll()
}

// insert puts a node in, in place of one of the same id, and sums its savings.
func (t *tree) insert(n *node) {
	old, there := t.nodes[n.id]
	t.nodes[n.id] = n
	t.states[n.state]++
	i, _ := t.find(n.id)
	if there {
		t.states[old.state]--
		t.order[i] = n
	} else {
		t.order = slices.Insert(t.order, i, n)
	}
	if !there || old.parent != n.parent {
		if there {
			t.unlink(old)
		}
		if n.parent != "" {
			t.children[n.parent] = append(t.children[n.parent], n.id)
		}
	}
	n.saved = t.saving(n)
}

// remove takes a node out, if it is there.
func (t *tree) remove(id ontology.SnapshotID) {
	n, ok := t.nodes[id]
	if !ok {
		return
	}
	delete(t.nodes, id)
	t.states[n.state]--
	if i, ok := t.find(id); ok {
		t.order = slices.Delete(t.order, i, i+1)
	}
	t.unlink(n)
}

// unlink takes a node out of its parent's children.
func (t *tree) unlink(n *node) {
	left := slices.DeleteFunc(t.children[n.parent], func(x ontology.SnapshotID) bool { return x == n.id })
	if len(left) == 0 {
		delete(t.children, n.parent)
	} else {
		t.children[n.parent] = left
	}
}

// saving returns the warm-up of a node and its ancestors, the root first, so
// that the sum does not depend on the order in which nodes came.
func (t *tree) saving(n *node) (sum float64) {
	parent, ok := t.nodes[n.parent]
	switch {
	case !ok:
		return n.warm
	case !t.circular:
		return parent.saved + n.warm
	}
	for _, id := range slices.Backward(t.ancestors(n.id)) {
		sum += t.nodes[id].warm
	}
	return sum + n.warm
}

// How far saveAll has come with a node.
const (
	markOpen     = 1 // it is below the node that is being summed
	markDone     = 2
	markCircular = 3 // its ancestors run in a circle
)

// saveAll sums every node's savings, before the nodes are shown to anyone:
// parents before children, and one by one where a cycle leaves no such order.
func (t *tree) saveAll() {
	var line []*node
	for _, n := range t.order {
		line = line[:0]
		for n != nil && n.mark == 0 {
			n.mark = markOpen
			line = append(line, n)
			n = t.nodes[n.parent]
		}
		if n != nil && n.mark != markDone {
			t.circular = true
			for _, x := range line {
				x.mark = markCircular
			}
			continue
		}
		for _, x := range slices.Backward(line) {
			x.saved = x.warm
			if n != nil {
				x.saved += n.saved
			}
			x.mark, n = markDone, x
		}
	}
	if !t.circular {
		return
	}
	for _, n := range t.order {
		if n.mark == markCircular {
			n.saved = t.saving(n)
		}
	}
}

// ancestors returns the line from a snapshot's parent to the root, nearest
// first; a cycle ends it.
func (t *tree) ancestors(id ontology.SnapshotID) []ontology.SnapshotID {
	var line []ontology.SnapshotID
	var seen map[ontology.SnapshotID]bool
	if t.circular {
		seen = map[ontology.SnapshotID]bool{id: true}
	}
	for n := t.nodes[id]; n != nil; {
		p := n.parent
		if n = t.nodes[p]; n == nil || seen[p] {
			break
		}
		if seen != nil {
			seen[p] = true
		}
		line = append(line, p)
	}
	return line
}

// descends reports whether a snapshot was derived from another, or from what
// was; the other one need not be known, only named.
func (t *tree) descends(id, from ontology.SnapshotID) bool {
	for _, x := range append([]ontology.SnapshotID{id}, t.ancestors(id)...) {
		if n := t.nodes[x]; n != nil && n.parent == from {
			return true
		}
	}
	return false
}

// descendants returns all that was derived from snapshots, level by level and
// by id within a level, without the snapshots themselves.
func (t *tree) descendants(of ...ontology.SnapshotID) []ontology.SnapshotID {
	var out []ontology.SnapshotID
	seen := make(map[ontology.SnapshotID]bool, len(of))
	for _, id := range of {
		seen[id] = true
	}
	for level := of; len(level) > 0; {
		var next []ontology.SnapshotID
		for _, p := range level {
			for _, child := range t.children[p] {
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
