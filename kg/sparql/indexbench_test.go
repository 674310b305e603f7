package sparql

import (
	"context"
	"io"
	"log/slog"
	"testing"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
)

// BenchmarkProvides measures the two spellings of "snapshots that provide all
// of these" over 3,000 snapshots: from the index, from the rows in order, and
// as the specification evaluates it.
func BenchmarkProvides(b *testing.B) {
	s, err := kg.Open(context.Background(), kg.Config{InMemory: true, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	}()
	putSnapshots(b, s, 3000)
	const prefix = `PREFIX : <http://e/> PREFIX bn: <` + ontology.Base + `> SELECT ?s { ?s a bn:WarmSnapshot `
	for _, q := range [][2]string{
		{"star", prefix + `; bn:provides :c2 , :c3 , :c5 , :c7 }`},
		{"notexists", prefix + `FILTER NOT EXISTS { VALUES ?c { :c2 :c3 :c5 :c7 } FILTER NOT EXISTS { ?s bn:provides ?c } } }`},
	} {
		b.Run(q[0]+"/index", func(b *testing.B) { benchRows(b, s, q[1], Options{}) })
		b.Run(q[0]+"/plain", func(b *testing.B) { benchRows(b, s, q[1], Options{bottomUp: true}) })
	}
	// A statement elsewhere keeps the index out.
	const foreign = `INSERT DATA { GRAPH <http://e/g> { <http://e/f> <` + string(ontology.PropProvides) + `> <http://e/c2> } }`
	if _, err := Update(b.Context(), s, foreign, Options{}); err != nil {
		b.Fatal(err)
	}
	b.Run("star/rows", func(b *testing.B) { benchRows(b, s, prefix+`; bn:provides :c2 , :c3 , :c5 , :c7 }`, Options{}) })
}

func benchRows(b *testing.B, s *kg.Store, query string, o Options) {
	b.ReportAllocs()
	for b.Loop() {
		if got, err := rowsOf(s, query, o); err != nil || len(got) != 14 {
			b.Fatalf("%d rows, %v", len(got), err)
		}
	}
}
