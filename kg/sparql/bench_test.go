package sparql_test

import (
	"fmt"
	"testing"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/kg/sparql"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// BenchmarkRun measures queries over 100,000 triples: 20,000 things with five
// properties each.
func BenchmarkRun(b *testing.B) {
	s := openStore(b)
	iri := func(format string, n int) ttl.Term { return ttl.NewIRI(fmt.Sprintf("http://e/"+format, n)) }
	_, _, err := s.ReplaceGraph(b.Context(), ontology.IRI("http://e/g"), func(yield func(ttl.Triple, error) bool) {
		for i := range 20_000 {
			for p := range 5 {
				if !yield(ttl.Triple{S: iri("s%d", i), P: iri("p%d", p), O: iri("o%d", i*(p+7)%2000)}, nil) {
					return
				}
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	for name, query := range map[string]string{
		"point": `SELECT * { <http://e/s77> ?p ?o }`,
		"star":  `SELECT ?s { ?s <http://e/p0> <http://e/o7> ; <http://e/p1> ?a ; <http://e/p2> ?b }`,
		"join":  `SELECT (COUNT(*) AS ?n) { ?s <http://e/p0> ?a . ?s <http://e/p1> ?b }`,
		"count": `SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p`,
		"top":   `SELECT * { ?s <http://e/p0> ?o } ORDER BY ?o ?s LIMIT 10`,
	} {
		b.Run(name, func(b *testing.B) { benchQuery(b, s, query) })
	}
}

func benchQuery(b *testing.B, s *kg.Store, query string) {
	b.ReportAllocs()
	for b.Loop() {
		r, err := sparql.Run(b.Context(), s, query, sparql.Options{})
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for _, err := range r.Rows {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n == 0 {
			b.Fatal("no rows")
		}
	}
}
