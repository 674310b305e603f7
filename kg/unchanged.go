package kg

import (
	"context"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// holds reports whether a graph holds just what a document says, so that
// importing it again need not write. It compares with what the store really
// holds, in one transaction, and not with a remembered hash: a graph that an
// update changed in between is seen as changed. Where it cannot tell it says
// no, and the graph is written once more.
func (s *Store) holds(ctx context.Context, graph ontology.IRI, d *document) (same bool, err error) {
	if len(d.rows) == 0 {
		return false, nil // whether an empty graph is there is the writer's to say
	}
	want := d.statements()
	blanks := d.blanksIn(graph)
	number := func(t ttl.Term) (uint32, bool) {
		if t.Kind == ttl.Blank {
			id, ok := blanks[t]
			return id, ok
		}
		id, ok := d.ids[t]
		return id, ok
	}
	err = s.Read(ctx, func(r *ReadTx) error {
		for q, err := range r.Match(ttl.Quad{G: iri(graph)}) {
			if err != nil {
				return err
			}
			subject, okS := number(q.S)
			predicate, okP := number(q.P)
			object, okO := number(q.O)
			row := [3]uint32{subject, predicate, object}
			if _, ok := want[row]; !ok || !okS || !okP || !okO {
				return nil
			}
			delete(want, row)
		}
		same = len(want) == 0
		return nil
	})
	return same, err
}

// blanksIn returns the document's blank nodes by the labels that they have in
// a graph of the store.
func (d *document) blanksIn(graph ontology.IRI) map[ttl.Term]uint32 {
	out := map[ttl.Term]uint32{}
	sk := newSkolem(graph)
	for id, t := range d.terms {
		if t.Kind == ttl.Blank {
			out[sk.triple(ttl.Triple{S: t, P: t, O: t}).S] = uint32(id)
		}
	}
	return out
}
