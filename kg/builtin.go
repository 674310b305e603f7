package kg

import (
	"context"
	"strings"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// loadBuiltin puts the embedded vocabulary and runtimes into their graph, if
// they are not there as this program has them.
func (s *Store) loadBuiltin(ctx context.Context) error {
	var triples []ttl.Triple
	for _, doc := range [...]struct{ name, text string }{
		{"capability.ttl", ontology.VocabularyTTL}, {"builtin.ttl", ontology.BuiltinTTL},
	} {
		for t, err := range ttl.NewReader(strings.NewReader(doc.text), ttl.Options{}).All() {
			if err != nil {
				return storeErr("read the embedded "+doc.name, err)
			}
			triples = append(triples, inDocument(doc.name, t))
		}
	}
	same, err := s.holdsExactly(ctx, ontology.GraphBuiltin, triples)
	if err != nil || same {
		return err
	}
	_, _, err = s.ReplaceGraph(ctx, ontology.GraphBuiltin, func(yield func(ttl.Triple, error) bool) {
		for _, t := range triples {
			if !yield(t, nil) {
				return
			}
		}
	})
	return err
}

// pinBuiltin notes the terms of the built-in graph. The vocabulary's classes and
// properties stand in more rows than any other terms, and so would cost most to
// find unused, which they never are.
func (s *Store) pinBuiltin(ctx context.Context) error {
	pinned := map[ID]struct{}{}
	err := s.readInside(ctx, func(r *ReadTx) error {
		b, ok, err := r.bind(ttl.Quad{G: iri(ontology.GraphBuiltin)})
		if err != nil || !ok {
			return err
		}
		for w, err := range r.rows(b) {
			if err != nil {
				return err
			}
			pinned[w.s], pinned[w.p], pinned[w.o] = struct{}{}, struct{}{}, struct{}{}
		}
		return nil
	})
	s.pinned = pinned
	return err
}

// inDocument keeps the blank nodes of one document apart from those of another
// in the same graph.
func inDocument(name string, t ttl.Triple) ttl.Triple {
	if t.S.Kind == ttl.Blank {
		t.S.Value = name + "\x00" + t.S.Value
	}
	if t.O.Kind == ttl.Blank {
		t.O.Value = name + "\x00" + t.O.Value
	}
	return t
}

// holdsExactly reports whether a graph holds just these triples.
func (s *Store) holdsExactly(ctx context.Context, graph ontology.IRI, triples []ttl.Triple) (same bool, err error) {
	g, blanks := iri(graph), newSkolem(graph)
	distinct := map[ttl.Triple]struct{}{}
	for _, t := range triples {
		distinct[blanks.triple(t)] = struct{}{}
	}
	err = s.Read(ctx, func(r *ReadTx) error {
		n, err := r.Count(ttl.Quad{G: g})
		if err != nil || n != int64(len(distinct)) {
			return err
		}
		for t := range distinct {
			n, err := r.Count(ttl.Quad{S: t.S, P: t.P, O: t.O, G: g})
			if err != nil || n == 0 {
				return err
			}
		}
		same = true
		return nil
	})
	return same, err
}
