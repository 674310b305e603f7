package kg

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan/ttl"
)

// TestCursorSeeksLikeASortedList holds the cursor to a list of the same
// subjects, with seeks that rise, fall and repeat.
func TestCursorSeeksLikeASortedList(t *testing.T) {
	s := memory(t)
	iri := func(f string, n int) ttl.Term { return ttl.NewIRI(fmt.Sprintf("http://e/"+f, n)) }
	p, o := iri("p%d", 0), iri("o%d", 0)
	err := s.Update(t.Context(), func(tx *Tx) error {
		for i := range 300 {
			q := ttl.Quad{S: iri("s%d", i), P: p, O: iri("o%d", i%3), G: iri("g%d", i%2)}
			if err := tx.Add(q); err != nil {
				return err
			}
			q.G = iri("g%d", 2)
			if err := tx.Add(q); err != nil {
				return err
			}
		}
		return tx.DeleteGraph("http://e/g1")
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Read(t.Context(), func(r *ReadTx) error {
		sc, err := r.Scanner()
		if err != nil {
			return err
		}
		defer sc.Close()
		pid, _, err := sc.Find(p)
		if err != nil {
			return err
		}
		oid, _, err := sc.Find(o)
		if err != nil {
			return err
		}
		g0, _, err := sc.Find(iri("g%d", 0))
		if err != nil {
			return err
		}
		num := sc.Graphs()[g0]
		checkCursor(t, sc, Row{P: pid, O: oid}, nil)
		checkCursor(t, sc, Row{P: pid, O: oid, G: num}, nil)
		checkCursor(t, sc, Row{P: pid, O: oid}, func(g ID) bool { return g == num })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkCursor(t *testing.T, sc *Scanner, pat Row, keep func(ID) bool) {
	t.Helper()
	var want []ID
	for w, err := range sc.Scan(pat) {
		if err != nil {
			t.Fatal(err)
		}
		if keep == nil || keep(w.G) {
			want = append(want, w.S)
		}
	}
	want = slices.Compact(want)
	if len(want) == 0 {
		t.Fatal("nothing to seek in")
	}
	cur, ok := sc.Cursor(pat.P, pat.O, pat.G, keep)
	if !ok {
		t.Fatal("no cursor")
	}
	defer cur.Close()
	var got []ID
	for least := ID(1); ; {
		s, ok, err := cur.Seek(least)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		got = append(got, s)
		least = s + 1
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("in order (-want +got):\n%s", diff)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		least := want[rnd.IntN(len(want))] + ID(rnd.IntN(5)) - 2
		i, _ := slices.BinarySearch(want, least)
		s, ok, err := cur.Seek(least)
		if err != nil || ok != (i < len(want)) || ok && s != want[i] {
			t.Fatalf("seek %d: %d %v %v, want the %d-th of %d", least, s, ok, err, i, len(want))
		}
	}
}
