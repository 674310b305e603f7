package sparql_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/kg/sparql"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

func benchIRI(format string, n int) ttl.Term { return ttl.NewIRI(fmt.Sprintf("http://e/"+format, n)) }

// benchFill makes one graph of what gen hands out.
func benchFill(b *testing.B, s *kg.Store, gen func(add func(s, p, o ttl.Term))) {
	b.Helper()
	_, _, err := s.ReplaceGraph(b.Context(), ontology.IRI("http://e/g"), func(yield func(ttl.Triple, error) bool) {
		more := true
		gen(func(s, p, o ttl.Term) { more = more && yield(ttl.Triple{S: s, P: p, O: o}, nil) })
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRun measures queries over 100,000 triples: 20,000 things with five
// properties each.
func BenchmarkRun(b *testing.B) {
	s := openStore(b)
	benchFill(b, s, func(add func(s, p, o ttl.Term)) {
		for i := range 20_000 {
			for p := range 5 {
				add(benchIRI("s%d", i), benchIRI("p%d", p), benchIRI("o%d", i*(p+7)%2000))
			}
		}
	})
	benchQueries(b, s, [][2]string{
		{"point", `SELECT * { <http://e/s77> ?p ?o }`},
		{"star", `SELECT ?s { ?s <http://e/p0> <http://e/o7> ; <http://e/p1> ?a ; <http://e/p2> ?b }`},
		{"join", `SELECT (COUNT(*) AS ?n) { ?s <http://e/p0> ?a . ?s <http://e/p1> ?b }`},
		{"optional", `SELECT (COUNT(?b) AS ?n) { ?s <http://e/p0> ?a OPTIONAL { ?s <http://e/p1> ?b } }`},
		{"minus", `SELECT (COUNT(*) AS ?n) { ?s <http://e/p0> ?a MINUS { ?s <http://e/p1> <http://e/o8> } }`},
		{"count", `SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p`},
		{"groups", `SELECT ?o (COUNT(*) AS ?n) (MIN(?s) AS ?m) { ?s <http://e/p3> ?o } GROUP BY ?o`},
		{"top", `SELECT * { ?s <http://e/p0> ?o } ORDER BY ?o ?s LIMIT 10`},
	})
}

// BenchmarkSnapshots measures the two spellings of "has all of these" over
// 10,000 things with 20 of 500 properties each.
func BenchmarkSnapshots(b *testing.B) {
	s := openStore(b)
	benchFill(b, s, func(add func(s, p, o ttl.Term)) {
		for i := range 10_000 {
			add(benchIRI("s%d", i), ttl.NewIRI(ttl.RDFType), benchIRI("Warm%d", 0))
			for k := range 20 {
				add(benchIRI("s%d", i), benchIRI("has%d", 0), benchIRI("c%d", i*(k+1)%(25*(k+1))))
			}
		}
	})
	const p = `PREFIX : <http://e/> `
	benchQueries(b, s, [][2]string{
		{"star", p + `SELECT ?s { ?s a :Warm0 ; :has0 :c4 , :c8 , :c12 , :c16 }`},
		{"notexists", p + `SELECT ?s { ?s a :Warm0 FILTER NOT EXISTS { VALUES ?c { :c4 :c8 :c12 :c16 } FILTER NOT EXISTS { ?s :has0 ?c } } }`},
		{"within", p + `SELECT ?s { ?s a :Warm0 FILTER NOT EXISTS { ?s :has0 ?d FILTER(?d NOT IN (` + strings.Repeat(":c0, ", 30) + `:c0)) } }`},
	})
}

// BenchmarkGraph measures joins of a graph with itself: 10,000 nodes with four
// edges each, and a chain of 200.
func BenchmarkGraph(b *testing.B) {
	s := openStore(b)
	benchFill(b, s, func(add func(s, p, o ttl.Term)) {
		for i := range 10_000 {
			for k := range 4 {
				add(benchIRI("n%d", i), benchIRI("edge%d", 0), benchIRI("n%d", (i*(2*k+3)+k*k)%10_000))
			}
		}
		for i := range 200 {
			add(benchIRI("v%d", i), benchIRI("from%d", 0), benchIRI("v%d", i+1))
		}
	})
	const p = `PREFIX : <http://e/> SELECT (COUNT(*) AS ?n) `
	benchQueries(b, s, [][2]string{
		{"chain", p + `{ ?a :edge0 ?b . ?b :edge0 ?c }`},
		{"triangle", p + `{ ?a :edge0 ?b . ?b :edge0 ?c . ?c :edge0 ?a }`},
		{"path", p + `{ :v0 :from0+ ?v }`},
	})
}

func benchQueries(b *testing.B, s *kg.Store, queries [][2]string) {
	for _, q := range queries {
		b.Run(q[0], func(b *testing.B) { benchQuery(b, s, q[1]) })
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
