package rdfgraph_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/seed-ff860830/banyan/ttl"
	"github.com/seed-ff860830/banyan/ttl/rdfgraph"
)

func bl(n int) ttl.Term { return ttl.NewBlank(fmt.Sprint("n", n)) }

var p = ttl.NewIRI("a:p")

// edges makes a graph of blank nodes from pairs of numbers.
func edges(pairs ...[2]int) []ttl.Triple {
	var ts []ttl.Triple
	for _, e := range pairs {
		ts = append(ts, ttl.Triple{S: bl(e[0]), P: p, O: bl(e[1])})
	}
	return ts
}

func cycle(from, n int) (pairs [][2]int) {
	for i := range n {
		pairs = append(pairs, [2]int{from + i, from + (i+1)%n})
	}
	return pairs
}

func TestIsomorphic(t *testing.T) {
	lit := func(s int, v string) ttl.Triple { return ttl.Triple{S: bl(s), P: p, O: ttl.NewString(v)} }
	iri := ttl.Triple{S: ttl.NewIRI("a:s"), P: p, O: ttl.NewIRI("a:o")}
	for name, c := range map[string]struct {
		a, b []ttl.Triple
		want bool
	}{
		"empty":               {nil, nil, true},
		"empty and not":       {nil, []ttl.Triple{iri}, false},
		"ground":              {[]ttl.Triple{iri}, []ttl.Triple{iri, iri}, true},
		"ground, another":     {[]ttl.Triple{iri}, []ttl.Triple{{S: iri.S, P: p, O: ttl.NewString("a:o")}}, false},
		"renamed":             {[]ttl.Triple{lit(1, "x"), lit(2, "y")}, []ttl.Triple{lit(7, "y"), lit(3, "x")}, true},
		"two against one":     {[]ttl.Triple{lit(1, "x"), lit(2, "x")}, []ttl.Triple{lit(1, "x")}, false},
		"same or two nodes":   {[]ttl.Triple{lit(1, "x"), lit(1, "y")}, []ttl.Triple{lit(1, "x"), lit(2, "y")}, false},
		"loop or not":         {edges([2]int{1, 1}, [2]int{2, 2}), edges([2]int{1, 2}, [2]int{2, 1}), false},
		"direction":           {edges([2]int{1, 2}, [2]int{1, 3}), edges([2]int{2, 1}, [2]int{3, 1}), false},
		"a label, two terms":  {[]ttl.Triple{{S: bl(1), P: p, O: ttl.NewIRI("a:n1")}}, []ttl.Triple{{S: bl(2), P: p, O: ttl.NewIRI("a:n1")}}, true},
		"cycle of 6":          {edges(cycle(0, 6)...), edges(cycle(50, 6)...), true},
		"6 against 3 and 3":   {edges(cycle(0, 6)...), edges(append(cycle(0, 3), cycle(3, 3)...)...), false}, // colours alone cannot tell
		"twins":               {edges(append(cycle(0, 4), cycle(4, 4)...)...), edges(append(cycle(9, 4), cycle(4, 4)...)...), true},
		"language and type":   {[]ttl.Triple{{S: bl(1), P: p, O: ttl.NewLang("x", "en")}}, []ttl.Triple{{S: bl(1), P: p, O: ttl.NewLang("x", "de")}}, false},
		"predicate":           {edges([2]int{1, 2}), []ttl.Triple{{S: bl(1), P: ttl.NewIRI("a:q"), O: bl(2)}}, false},
		"as many but another": {[]ttl.Triple{lit(1, "x"), iri}, []ttl.Triple{lit(1, "y"), iri}, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, pair := range [][2][]ttl.Triple{{c.a, c.b}, {c.b, c.a}} {
				if got, err := rdfgraph.Isomorphic(pair[0], pair[1]); got != c.want || err != nil {
					t.Errorf("Isomorphic = %v, %v; want %v", got, err, c.want)
				}
			}
		})
	}
}

// TestShuffledGraphs renames and shuffles random graphs, and then moves one
// end of one edge.
func TestShuffledGraphs(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		n := 2 + rnd.IntN(12)
		var pairs [][2]int
		for range 3 * n {
			pairs = append(pairs, [2]int{rnd.IntN(n), rnd.IntN(n)})
		}
		names := rnd.Perm(n)
		var moved [][2]int
		for _, e := range pairs {
			moved = append(moved, [2]int{names[e[0]] + 100, names[e[1]] + 100})
		}
		rnd.Shuffle(len(moved), func(i, j int) { moved[i], moved[j] = moved[j], moved[i] })
		if same, err := rdfgraph.Isomorphic(edges(pairs...), edges(moved...)); !same || err != nil {
			t.Fatalf("seed %d: %v, %v", seed, same, err)
		}
		moved = append(moved, [2]int{100, 999})
		if same, err := rdfgraph.Isomorphic(edges(pairs...), edges(moved...)); same || err != nil {
			t.Fatalf("seed %d, with one edge more: %v, %v", seed, same, err)
		}
	}
}

// TestTheBoundHolds compares two graphs that are hard on purpose: strongly
// regular ones of the same parameters (the rook's graph and Shrikhande's, 16
// nodes each, many times over).
func TestTheBoundHolds(t *testing.T) {
	var a, b [][2]int
	const copies = 40
	for c := range copies {
		base := 16 * c
		for i := range 16 {
			for j := range 16 {
				dx, dy := (i%4-j%4+4)%4, (i/4-j/4+4)%4
				if i != j && (dx == 0 || dy == 0) {
					a = append(a, [2]int{base + i, base + j})
				}
				if dx+4*dy == 1 || dx+4*dy == 3 || dx+4*dy == 4 || dx+4*dy == 12 || dx+4*dy == 5 || dx+4*dy == 15 {
					b = append(b, [2]int{base + i, base + j})
				}
			}
		}
	}
	const work = 2_000_000
	if same, err := rdfgraph.IsomorphicWithin(edges(a...), edges(b...), work); same || !errors.Is(err, rdfgraph.ErrUndecided) {
		t.Errorf("two hard graphs: %v, %v; want undecided", same, err)
	}
	// One pair of them is within the bound, and they are not the same.
	one := len(a) / copies
	if same, err := rdfgraph.Isomorphic(edges(a[:one]...), edges(b[:one]...)); same || err != nil {
		t.Errorf("the rook's graph and Shrikhande's: %v, %v", same, err)
	}
	if same, err := rdfgraph.Isomorphic(edges(a[:one]...), edges(a[:one]...)); !same || err != nil {
		t.Errorf("the rook's graph and itself: %v, %v", same, err)
	}
}
