package kg

import (
	"testing"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// count reads a predicate's count as a reader does.
func count(t *testing.T, s *Store, p ttl.Term) (n int64) {
	t.Helper()
	err := s.Read(t.Context(), func(r *ReadTx) error {
		sc, err := r.Scanner()
		if err != nil {
			return err
		}
		defer sc.Close()
		id, _, err := sc.Find(p)
		if err != nil {
			return err
		}
		n, err = sc.PredicateCount(id)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The counts themselves are held against a recount at the end of every test
// that calls clean; here it is who sees which of them.
func TestPredicateCountIsOfTheView(t *testing.T) {
	s := memory(t)
	add(t, s, quad("a", "p", "b", ""), quad("a", "p", "b", "g"), quad("a", "p", "c", "g"), quad("a", "q", "c", "g"))
	if got := count(t, s, ex("p")); got != 3 {
		t.Errorf("%d rows of p, want 3", got)
	}
	if got := count(t, s, ex("unknown")); got != 0 {
		t.Errorf("%d rows of a predicate that is not there", got)
	}
	err := s.Update(t.Context(), func(tx *Tx) error {
		if err := tx.Delete(quad("a", "p", "c", "g")); err != nil {
			return err
		}
		for _, q := range []ttl.Quad{quad("x", "p", "y", "h"), quad("x", "p", "y", "h"), quad("a", "p", "b", "g")} {
			if err := tx.Add(q); err != nil {
				return err
			}
		}
		if err := tx.DeleteGraph(""); err != nil {
			return err
		}
		sc, err := tx.Scanner()
		if err != nil {
			return err
		}
		defer sc.Close()
		id, _, err := sc.Find(ex("p"))
		if err != nil {
			return err
		}
		if n, err := sc.PredicateCount(id); n != 2 || err != nil {
			t.Errorf("within the transaction: %d rows, %v; want 2", n, err)
		}
		if got := count(t, s, ex("p")); got != 3 {
			t.Errorf("beside the transaction: %d rows, want 3", got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := count(t, s, ex("p")); got != 2 {
		t.Errorf("after the transaction: %d rows, want 2", got)
	}
	clean(t, s)
}

// Of a graph that a transaction drops, what it had changed there does not count
// either.
func TestPredicateCountOfADroppedGraph(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*Tx) error
	}{
		{"deleted before", func(tx *Tx) error { return tx.Delete(quad("a", "p", "c", "g")) }},
		{"added before", func(tx *Tx) error { return tx.Add(quad("a", "p", "d", "g")) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := memory(t)
			add(t, s, quad("a", "p", "b", "g"), quad("a", "p", "c", "g"), quad("a", "p", "c", ""))
			err := s.Update(t.Context(), func(tx *Tx) error {
				if err := tc.change(tx); err != nil {
					return err
				}
				if err := tx.DeleteGraph(ontology.IRI(ex("g").Value)); err != nil {
					return err
				}
				sc, err := tx.Scanner()
				if err != nil {
					return err
				}
				defer sc.Close()
				id, _, err := sc.Find(ex("p"))
				if err != nil {
					return err
				}
				if n, err := sc.PredicateCount(id); n != 1 || err != nil {
					t.Errorf("within the transaction: %d rows, %v; want 1", n, err)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := count(t, s, ex("p")); got != 1 {
				t.Errorf("after the transaction: %d rows, want 1", got)
			}
			clean(t, s)
		})
	}
}
