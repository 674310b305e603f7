package kg

import (
	"fmt"
	"testing"

	"github.com/seed-ff860830/banyan/ttl"
)

// TestScannersAgreeWithMatch looks at the same rows by iterator, and by chunks
// inside a transaction that has written, for every form of pattern.
func TestScannersAgreeWithMatch(t *testing.T) {
	s := memory(t)
	iri := func(kind string, i int) ttl.Term { return ttl.NewIRI(fmt.Sprintf("http://e/%s%d", kind, i)) }
	err := s.Update(t.Context(), func(tx *Tx) error {
		for i := range 1500 {
			q := ttl.Quad{S: iri("s", i%700), P: iri("p", i%2), O: iri("o", i), G: iri("g", i%3)}
			if err := tx.Add(q); err != nil {
				return err
			}
		}
		check := func(sc *Scanner, match func(ttl.Quad) int) error {
			defer sc.Close()
			for bits := range 8 {
				var pat Row
				var q ttl.Quad
				for bit, set := range []func(){
					func() { q.S = iri("s", 1); pat.S = mustFind(t, sc, q.S) },
					func() { q.P = iri("p", 1); pat.P = mustFind(t, sc, q.P) },
					func() { q.G = iri("g", 1); pat.G = sc.Graphs()[mustFind(t, sc, q.G)] },
				} {
					if bits&(1<<bit) != 0 {
						set()
					}
				}
				n, err := sc.Count(pat, 1<<30)
				if err != nil {
					return err
				}
				if want := match(q); n != want || n == 0 {
					t.Errorf("pattern %b: %d rows, want %d", bits, n, want)
				}
			}
			return nil
		}
		sc, err := tx.Scanner()
		if err != nil {
			return err
		}
		if !sc.chunks {
			t.Error("a transaction that has written scans by one iterator")
		}
		return check(sc, func(q ttl.Quad) int {
			n := 0
			for range tx.Match(q) {
				n++
			}
			return n
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func mustFind(t *testing.T, sc *Scanner, term ttl.Term) ID {
	t.Helper()
	id, ok, err := sc.Find(term)
	if err != nil || !ok || id >= LocalID {
		t.Fatalf("find %v: %d, %t, %v", term, id, ok, err)
	}
	return id
}

func TestScannerOfATransactionThatWroteNothingSeesTheLastCommit(t *testing.T) {
	s := memory(t)
	q := ttl.Quad{S: ttl.NewIRI("http://e/s"), P: ttl.NewIRI("http://e/p"), O: ttl.NewString("x")}
	if err := s.Update(t.Context(), func(tx *Tx) error { return tx.Add(q) }); err != nil {
		t.Fatal(err)
	}
	err := s.Update(t.Context(), func(tx *Tx) error {
		sc, err := tx.Scanner()
		if err != nil {
			return err
		}
		defer sc.Close()
		n := 0
		for w, err := range sc.Scan(Row{S: mustFind(t, sc, q.S)}) {
			if err != nil {
				return err
			}
			if got, err := sc.Term(w.O); err != nil || got != q.O {
				t.Errorf("the object is %v, %v", got, err)
			}
			n++
		}
		if n != 1 || sc.chunks {
			t.Errorf("%d rows, by chunks %t", n, sc.chunks)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
