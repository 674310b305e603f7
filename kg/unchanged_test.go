package kg

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

const withBlanks = "@prefix ex: <http://example.org/> .\nex:a ex:limits [ ex:mem 64 ] , _:x ; ex:list ( 1 2 \"x\"@en ) . _:x ex:mem 2 , 2 ."

// TestImportOfTheSameFileWritesNothing imports one file many times: the store
// makes no commit, and so cannot grow.
func TestImportOfTheSameFileWritesNothing(t *testing.T) {
	s := memory(t)
	first := importText(t, s, "f.ttl", withBlanks)
	fwd, _ := terms(t, s)
	triples, version := s.Triples(), s.db.MaxVersion()
	for range 2000 {
		r := importText(t, s, "f.ttl", withBlanks)
		if r.Triples != first.Triples || r.Replaced != first.Triples {
			t.Fatalf("importing again reports %+v, want %d triples for as many", r, first.Triples)
		}
	}
	if now, _ := terms(t, s); now != fwd || s.Triples() != triples || s.db.MaxVersion() != version {
		t.Errorf("after 2,000 imports: %d terms of %d, %d triples of %d, version %d of %d", now, fwd, s.Triples(), triples, s.db.MaxVersion(), version)
	}
	clean(t, s)
}

// TestImportSeesWhatChangedInBetween has another writer add to the graph, and
// take from it: the import puts both right.
func TestImportSeesWhatChangedInBetween(t *testing.T) {
	s := memory(t)
	r := importText(t, s, "f.ttl", withBlanks)
	graph := iri(r.Graph)
	extra := ttl.Quad{S: ex("a"), P: ex("mem"), O: ex("other"), G: graph}
	for _, change := range []struct {
		name string
		do   func(*Tx) error
	}{
		{"added", func(tx *Tx) error { return tx.Add(extra) }},
		{"taken", func(tx *Tx) error { return tx.Delete(all(t, s, ttl.Quad{G: graph})[0]) }},
	} {
		before := fmt.Sprint(all(t, s, ttl.Quad{G: graph}))
		if err := s.Update(t.Context(), change.do); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(all(t, s, ttl.Quad{G: graph})) == before {
			t.Fatalf("%s: the change did not happen", change.name)
		}
		importText(t, s, "f.ttl", withBlanks)
		if got := len(all(t, s, ttl.Quad{G: graph})); got != r.Triples {
			t.Errorf("%s: the graph holds %d statements, want %d", change.name, got, r.Triples)
		}
	}
	clean(t, s)
}

// TestB45_DeepNestingIsRefusedByTheImport nests further than any stack would bear.
func TestB45_DeepNestingIsRefusedByTheImport(t *testing.T) {
	const n = 100_000
	s := memory(t)
	triples := s.Triples()
	for name, text := range map[string]string{
		"brackets": "@prefix : <http://example.org/> . :s :p " + strings.Repeat("[ :p ", n) + "1" + strings.Repeat(" ]", n) + " .",
		"lists":    "@prefix : <http://example.org/> . :s :p " + strings.Repeat("(", n) + strings.Repeat(")", n) + " .",
	} {
		_, err := s.ImportTurtle(context.Background(), strings.NewReader(text), ImportOptions{Name: "deep.ttl"})
		if err == nil || errs.KindOf(err) == errs.Internal || !strings.Contains(err.Error(), "deep.ttl:1:") || s.Triples() != triples {
			t.Errorf("%s: %v, %d triples of %d", name, err, s.Triples(), triples)
		}
	}
	flat := "@prefix : <http://example.org/> . :s :p (" + strings.Repeat(" 1", n) + " ) ."
	if r := importText(t, s, "flat.ttl", flat); r.Triples != 2*n+1 {
		t.Errorf("a flat list of %d items makes %d triples, want %d", n, r.Triples, 2*n+1)
	}
}

// BenchmarkImportOfTheSameFile is the cost of an import that writes nothing.
func BenchmarkImportOfTheSameFile(b *testing.B) {
	s := memory(b)
	for b.Loop() {
		if _, err := s.ImportTurtle(context.Background(), strings.NewReader(science), ImportOptions{Name: "f.ttl"}); err != nil {
			b.Fatal(err)
		}
	}
}
