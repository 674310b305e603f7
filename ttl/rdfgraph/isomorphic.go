// Package rdfgraph compares RDF graphs.
package rdfgraph

import (
	"errors"
	"hash/maphash"
	"slices"

	"github.com/seed-ff860830/banyan/ttl"
)

// ErrUndecided says that two graphs are so regular that the comparison came to
// its bound. Graph isomorphism has no known fast algorithm, so a bound there
// must be.
var ErrUndecided = errors.New("the graphs are too regular to compare within the bound")

// budget is how many statements one comparison may look at. It is some
// seconds of work.
const budget = 100_000_000

// Isomorphic reports whether two lists of statements are the same graph: the
// same set of statements when the blank nodes of one are renamed (RDF 1.1
// Concepts, section 3.6). Repeated statements count once. The error is
// ErrUndecided or nil.
//
// Blank nodes are told apart by colour refinement: each takes a colour from
// the colours around it until no more colours appear. Nodes that stay alike
// are tried against each other, and what comes out is checked exactly, so a
// hash collision can cost time but never give a wrong answer.
func Isomorphic(a, b []ttl.Triple) (bool, error) { return isomorphic(a, b, budget) }

func isomorphic(a, b []ttl.Triple, work int64) (bool, error) {
	left, right := newGraph(a), newGraph(b)
	if len(left.set) != len(right.set) || len(left.colour) != len(right.colour) || len(left.blank) != len(right.blank) {
		return false, nil
	}
	for t := range left.set {
		if t.S.Kind != ttl.Blank && t.O.Kind != ttl.Blank {
			if _, ok := right.set[t]; !ok {
				return false, nil
			}
		}
	}
	m := &matcher{left: left, right: right, remaining: work}
	return m.match(left.colour, right.colour)
}

// graph is a set of statements with its blank nodes numbered.
type graph struct {
	set    map[ttl.Triple]struct{}
	blank  []edge   // the statements that have a blank node
	colour []uint64 // the first colour of each node, all alike
	labels []string
}

// edge is a statement as the refinement sees it: node numbers, -1 where there
// is none, and a hash of the fixed terms.
type edge struct {
	s, o int
	hash uint64
}

// seed is one for the process, so that both graphs hash alike.
var seed = maphash.MakeSeed()

func newGraph(ts []ttl.Triple) *graph {
	g := &graph{set: make(map[ttl.Triple]struct{}, len(ts))}
	number := map[string]int{}
	node := func(t *ttl.Term) int {
		if t.Kind != ttl.Blank {
			return -1
		}
		n, ok := number[t.Value]
		if !ok {
			n = len(number)
			number[t.Value] = n
			g.labels = append(g.labels, t.Value)
			g.colour = append(g.colour, 1)
		}
		*t = ttl.Term{Kind: ttl.Blank}
		return n
	}
	for _, t := range ts {
		if _, again := g.set[t]; again {
			continue
		}
		g.set[t] = struct{}{}
		if s, o := node(&t.S), node(&t.O); s >= 0 || o >= 0 {
			g.blank = append(g.blank, edge{s, o, maphash.Comparable(seed, t)})
		}
	}
	return g
}

// mix scrambles a word (the finaliser of MurmurHash3).
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// recolour gives every node a colour made of its old one and its neighbours'.
func (g *graph) recolour(old []uint64) []uint64 {
	now := make([]uint64, len(old))
	for n, c := range old {
		now[n] = mix(c)
	}
	for _, e := range g.blank {
		var s, o uint64
		if e.s >= 0 {
			s = mix(old[e.s] + 1)
		}
		if e.o >= 0 {
			o = mix(old[e.o] + 2)
		}
		loop := uint64(0)
		if e.s == e.o {
			loop = 1
		}
		if e.s >= 0 {
			now[e.s] += mix(e.hash + 3*o + loop)
		}
		if e.o >= 0 {
			now[e.o] += mix(e.hash ^ mix(5*s+loop+7))
		}
	}
	return now
}

// matcher compares two graphs within a budget.
type matcher struct {
	left, right *graph
	remaining   int64 // what remains of the budget
}

// spend takes work from the budget.
func (m *matcher) spend(n int) bool {
	m.remaining -= int64(n) + 1
	return m.remaining >= 0
}

// match refines two colourings side by side and then searches.
func (m *matcher) match(a, b []uint64) (bool, error) {
	classes := 0
	for {
		if !m.spend(2 * (len(m.left.blank) + len(a))) {
			return false, ErrUndecided
		}
		sa, sb := slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
		if !slices.Equal(sa, sb) {
			return false, nil
		}
		n := len(slices.Compact(sa))
		if n == classes || n == len(a) {
			break
		}
		classes = n
		a, b = m.left.recolour(a), m.right.recolour(b)
	}
	node, others := smallestClass(a, b)
	if node < 0 {
		return m.check(a, b), nil
	}
	for _, other := range others {
		a2, b2 := slices.Clone(a), slices.Clone(b)
		a2[node] = mix(a[node] + 11)
		b2[other] = a2[node]
		if ok, err := m.match(a2, b2); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// smallestClass returns a node of a that shares its colour, in the smallest
// class there is, and the nodes of b with that colour; -1 if all are unique.
func smallestClass(a, b []uint64) (node int, others []int) {
	count := map[uint64]int{}
	for _, c := range a {
		count[c]++
	}
	node = -1
	for n, c := range a {
		if count[c] > 1 && (node < 0 || count[c] < count[a[node]]) {
			node = n
		}
	}
	if node >= 0 {
		for n, c := range b {
			if c == a[node] {
				others = append(others, n)
			}
		}
	}
	return node, others
}

// check maps the nodes of one graph to those of the other by their colours,
// each of which is unique, and compares the statements.
func (m *matcher) check(a, b []uint64) bool {
	byColour := make(map[uint64]string, len(b))
	for n, c := range b {
		byColour[c] = m.right.labels[n]
	}
	to := make(map[string]string, len(a))
	for n, c := range a {
		to[m.left.labels[n]] = byColour[c]
	}
	for t := range m.left.set {
		if t.S.Kind == ttl.Blank {
			t.S.Value = to[t.S.Value]
		}
		if t.O.Kind == ttl.Blank {
			t.O.Value = to[t.O.Value]
		}
		if _, ok := m.right.set[t]; !ok {
			return false
		}
	}
	return true
}
