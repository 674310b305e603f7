package shacl

import (
	"cmp"
	"slices"

	"github.com/seed-ff860830/banyan/ttl"
)

// Data is a graph indexed for validation. It is immutable, and safe for use
// by many goroutines.
type Data struct {
	ids   map[ttl.Term]uint32
	terms []ttl.Term
	out   edges    // by subject, then predicate
	in    edges    // by object, then predicate
	of    edges    // by predicate; far is the subject
	objs  []uint32 // the objects, by statement
}

// edge is one statement as seen from one of its terms.
type edge struct {
	p, far uint32
	at     int // the statement's place in what NewData was given
}

// edges are statements grouped by a term: those of term i stand from
// first[i] to first[i+1].
type edges struct {
	first []int
	rows  []edge
}

// NewData indexes statements. Results name a statement by its place in ts; of
// equal statements the first counts.
func NewData(ts []ttl.Triple) *Data {
	d := &Data{ids: make(map[ttl.Term]uint32, len(ts)/2), objs: make([]uint32, len(ts))}
	rows := make([][3]uint32, len(ts))
	for i, t := range ts {
		rows[i] = [3]uint32{d.id(t.S), d.id(t.P), d.id(t.O)}
		d.objs[i] = rows[i][2]
	}
	d.out = group(len(d.terms), rows, 0, 2)
	d.in = group(len(d.terms), rows, 2, 0)
	d.of = group(len(d.terms), rows, 1, 0)
	return d
}

func (d *Data) id(t ttl.Term) uint32 {
	id, ok := d.ids[t]
	if !ok {
		id = uint32(len(d.terms))
		d.ids[t] = id
		d.terms = append(d.terms, t)
	}
	return id
}

// group sorts statements under the term in place near, by counting.
func group(terms int, rows [][3]uint32, near, far int) edges {
	g := edges{first: make([]int, terms+1), rows: make([]edge, len(rows))}
	for _, w := range rows {
		g.first[w[near]+1]++
	}
	for i := range terms {
		g.first[i+1] += g.first[i]
	}
	next := slices.Clone(g.first)
	for at, w := range rows {
		g.rows[next[w[near]]] = edge{p: w[1], far: w[far], at: at}
		next[w[near]]++
	}
	if near == 1 { // in the order they were given
		return g
	}
	for i := range terms {
		slices.SortFunc(g.rows[g.first[i]:g.first[i+1]], func(a, b edge) int {
			return cmp.Or(cmp.Compare(a.p, b.p), cmp.Compare(a.at, b.at))
		})
	}
	return g
}

// object returns the number of a statement's object.
func (d *Data) object(e edge) uint32 { return d.objs[e.at] }

// all returns the statements at a term.
func (d *Data) all(g *edges, t ttl.Term) []edge {
	id, ok := d.ids[t]
	if !ok {
		return nil
	}
	return g.rows[g.first[id]:g.first[id+1]]
}

// with returns the statements at a term that have a predicate.
func (d *Data) with(g *edges, t, p ttl.Term) []edge {
	rows := d.all(g, t)
	pid, ok := d.ids[p]
	if !ok || len(rows) == 0 {
		return nil
	}
	by := func(e edge, p uint32) int { return cmp.Compare(e.p, p) }
	from, _ := slices.BinarySearchFunc(rows, pid, by)
	rows = rows[from:]
	to, _ := slices.BinarySearchFunc(rows, pid+1, by)
	return rows[:to]
}

// objects returns the different objects of a subject and predicate, in the
// order of their statements.
func (d *Data) objects(s, p ttl.Term) []ttl.Term {
	var out []ttl.Term
	seen := map[uint32]struct{}{}
	for _, e := range d.with(&d.out, s, p) {
		if _, ok := seen[e.far]; !ok {
			seen[e.far] = struct{}{}
			out = append(out, d.terms[e.far])
		}
	}
	return out
}

// has reports whether a statement is in the graph.
func (d *Data) has(s, p, o ttl.Term) bool {
	id, ok := d.ids[o]
	return ok && slices.ContainsFunc(d.with(&d.out, s, p), func(e edge) bool { return e.far == id })
}

// list returns the members of an RDF list; false if it is broken, circular or
// too long.
func (d *Data) list(head ttl.Term) ([]ttl.Term, bool) {
	var out []ttl.Term
	first, rest := ttl.NewIRI(ttl.RDFFirst), ttl.NewIRI(ttl.RDFRest)
	for head != ttl.NewIRI(ttl.RDFNil) {
		item, next := d.objects(head, first), d.objects(head, rest)
		if len(item) != 1 || len(next) != 1 || len(out) == maxList {
			return nil, false
		}
		out, head = append(out, item[0]), next[0]
	}
	return out, true
}
