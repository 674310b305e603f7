package kg

import (
	"testing"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// orphaned returns a store with snapshot 2, whose parent 1 somebody took out of
// the graph by hand.
func orphaned(t *testing.T) *Store {
	t.Helper()
	s := memory(t)
	child := testSnapshot(2)
	child.DerivedFrom = snapID(1)
	mustPut(t, s, testSnapshot(1))
	mustPut(t, s, child)
	err := s.Update(t.Context(), func(tx *Tx) error {
		for q, err := range tx.Match(ttl.Quad{S: iri(snapID(1).IRI()), G: iri(ontology.GraphSnapshots)}) {
			if err != nil {
				return err
			}
			if err := tx.Delete(q); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A parent that comes back must not descend from what still names it: the line
// of ancestors would have no end.
func TestAParentThatComesBackClosesNoCircle(t *testing.T) {
	s := orphaned(t)
	back := testSnapshot(1)
	back.DerivedFrom = snapID(2)
	if err := s.PutSnapshot(t.Context(), back); errs.KindOf(err) != errs.Conflict {
		t.Fatalf("a snapshot derived from its own child: %v, want a conflict", err)
	}
	if got := s.Ancestors(snapID(2)); len(got) != 0 {
		t.Errorf("ancestors %v", got)
	}
}

func TestSavingsFollowAParentThatComesBack(t *testing.T) {
	s := orphaned(t)
	mustPut(t, s, testSnapshot(1))
	compareViews(t, s, []Lookup{{Runtime: "python", Rung: "forkserver", Need: py("numpy", "m1", "m2")}})
}
