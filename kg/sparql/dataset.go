package sparql

import (
	"iter"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// dataset is what a query looks at: the graphs that make up the default graph
// and the named ones, by their numbers in the store.
type dataset struct {
	all   bool           // the default graph is the union of every graph
	deflt map[kg.ID]bool // numbers of the default graph's graphs
	one   kg.ID          // the number if there is just one
	named map[kg.ID]kg.ID
	names map[kg.ID]kg.ID // number to name, of the named graphs
}

// newDataset makes the dataset that the options, or else the query, name.
func newDataset(x *exec, clause datasetClause) (*dataset, error) {
	from, named := clause.from, clause.named
	if len(x.o.DefaultGraphs)+len(x.o.NamedGraphs) > 0 {
		from, named = iris(x.o.DefaultGraphs), iris(x.o.NamedGraphs)
	}
	ds := &dataset{deflt: map[kg.ID]bool{}, named: map[kg.ID]kg.ID{}, names: map[kg.ID]kg.ID{}}
	if len(from)+len(named) == 0 {
		ds.whole(x)
		return ds.sealed(), nil
	}
	for _, t := range from {
		num, _, ok, err := graphOf(x, t)
		if err != nil {
			return nil, err
		}
		if ok {
			ds.deflt[num] = true
		}
	}
	for _, t := range named {
		num, name, ok, err := graphOf(x, t)
		if err != nil {
			return nil, err
		}
		if ok {
			ds.named[name] = num
		}
	}
	return ds.sealed(), nil
}

// whole is the dataset of a query that names none.
func (ds *dataset) whole(x *exec) {
	ds.all = !x.o.StandardDataset
	for name, num := range x.sc.Graphs() {
		if name != 0 {
			ds.named[name] = num
		} else if !ds.all {
			ds.deflt[num] = true
		}
	}
}

// withDefault makes one graph the default graph, as WITH does; the zero term
// is the unnamed one.
func (ds *dataset) withDefault(x *exec, g ttl.Term) error {
	num, _, ok, err := graphOf(x, g)
	if err != nil {
		return err
	}
	ds.all, ds.deflt = false, map[kg.ID]bool{}
	if ok {
		ds.deflt[num] = true
	}
	ds.sealed()
	return nil
}

func (ds *dataset) sealed() *dataset {
	ds.one = 0
	if len(ds.deflt) == 1 {
		for num := range ds.deflt {
			ds.one = num
		}
	}
	for name, num := range ds.named {
		ds.names[num] = name
	}
	return ds
}

func iris(in []ontology.IRI) []ttl.Term {
	out := make([]ttl.Term, len(in))
	for i, iri := range in {
		out[i] = ttl.NewIRI(string(iri))
	}
	return out
}

// graphOf returns a graph's number and its name's id; ok is false if the store
// has no such graph.
func graphOf(x *exec, t ttl.Term) (num, name kg.ID, ok bool, err error) {
	if !t.IsZero() {
		if name, ok, err = x.sc.Find(t); err != nil || !ok {
			return 0, 0, false, err
		}
	}
	num, ok = x.sc.Graphs()[name]
	return num, name, ok, nil
}

// isNamed reports whether a graph is among the named ones.
func (ds *dataset) isNamed(name kg.ID) bool { _, ok := ds.named[name]; return ok }

// quad is a match: a triple, and the name of its graph if a named graph was
// looked for.
type quad struct{ s, p, o, g kg.ID }

// scan yields the triples of a graph that fit; 0 is a wildcard. Where the
// graph's slot is unbound it yields those of every named graph.
func (x *exec) scan(at graphRef, row []kg.ID, s, p, o kg.ID) iter.Seq2[quad, error] {
	if s >= kg.LocalID || p >= kg.LocalID || o >= kg.LocalID {
		return func(func(quad, error) bool) {} // a term that no quad has
	}
	pat := kg.Row{S: s, P: p, O: o}
	name := at.name
	switch at.kind {
	case inDefault:
		return x.scanDefault(pat)
	case inSlot:
		name = row[at.slot]
	}
	return func(yield func(quad, error) bool) {
		if name != 0 {
			num, ok := x.ds.named[name]
			if !ok {
				return
			}
			pat.G = num
		}
		for w, err := range x.sc.Scan(pat) {
			g, ok := x.ds.names[w.G]
			if err == nil && !ok {
				continue
			}
			if !yield(quad{w.S, w.P, w.O, g}, err) {
				return
			}
		}
	}
}

// scanDefault yields the default graph's triples, each once.
func (x *exec) scanDefault(pat kg.Row) iter.Seq2[quad, error] {
	return func(yield func(quad, error) bool) {
		if !x.ds.all {
			if len(x.ds.deflt) == 0 {
				return
			}
			pat.G = x.ds.one
		}
		var last quad
		for w, err := range x.sc.Scan(pat) {
			if err != nil {
				yield(quad{}, err)
				return
			}
			q := quad{s: w.S, p: w.P, o: w.O}
			// The rows of one triple in several graphs are neighbours.
			if q == last || !x.ds.all && !x.ds.deflt[w.G] {
				continue
			}
			last = q
			if !yield(q, nil) {
				return
			}
		}
	}
}
