package main

import (
	"iter"
	"strconv"

	"github.com/seed-ff860830/banyan/ttl"
)

// things is how many statements there are of one thing.
const things = 25

const ns = "http://example.org/"

// mix is splitmix64's output function (Steele, Lea and Flood, 2014): the i-th
// statement is found again without a table.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// statement is the k-th of thing i: of 25, one type, fifteen links into a pool
// of 2,000, five small integers, two links to other things, and two texts that
// nothing else has.
func statement(i, k int) ttl.Triple {
	t := ttl.Triple{S: ttl.NewIRI(ns + "thing/" + strconv.Itoa(i)), P: ttl.NewIRI(ns + "p" + strconv.Itoa(k))}
	r := int(mix(uint64(i*things+k)) >> 1)
	switch {
	case k == 0:
		t.P, t.O = ttl.NewIRI(ttl.RDFType), ttl.NewIRI(ns+"Thing")
	case k <= 15:
		t.O = ttl.NewIRI(ns + "pool/" + strconv.Itoa(r%2000))
	case k <= 20:
		t.O = ttl.NewTyped(strconv.Itoa(r%10_000), ttl.XSDInteger)
	case k <= 22:
		t.O = ttl.NewIRI(ns + "thing/" + strconv.Itoa(r%(i+1)))
	default:
		t.O = ttl.NewString("text " + strconv.Itoa(k) + " of thing " + strconv.Itoa(i))
	}
	return t
}

// statements are the first n.
func statements(n int) iter.Seq2[ttl.Triple, error] {
	return func(yield func(ttl.Triple, error) bool) {
		for i := range n {
			if !yield(statement(i/things, i%things), nil) {
				return
			}
		}
	}
}
