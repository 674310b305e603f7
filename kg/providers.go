package kg

import (
	"iter"

	"github.com/seed-ff860830/banyan/ontology"
)

// Providers returns the subjects that provide every one of the capabilities,
// each once and in no order, from the index in memory: the ?s of
//
//	?s bn:provides c1, c2, …
//
// whatever state they are in. caps are ids of terms. ok is false if the index
// cannot answer for exactly the scanner's view, and the rows must be read: the
// index is of another commit, the view has changes that are not committed,
// bn:provides stands in another graph than GraphSnapshots, or a subject there
// provides something and is not a snapshot that can be read.
func (c *Scanner) Providers(caps []ID) (seq iter.Seq2[ID, error], ok bool) {
	v, ok := c.index()
	if !ok || len(caps) == 0 {
		return nil, false
	}
	need := make([]ontology.Capability, len(caps))
	for i, id := range caps {
		if id.kind() != kindIRI { // nothing provides a literal where the index is whole
			return none, true
		}
		t, err := c.Term(id)
		if err != nil {
			return nil, false
		}
		need[i] = ontology.Capability(t.Value)
	}
	syms, all := v.syms.find(need)
	if !all {
		return none, true
	}
	return func(yield func(ID, error) bool) {
		seen := 0
		v.providers(syms, func(n *node) bool {
			if seen++; seen%checkEvery == 0 {
				if err := c.r.wanted(); err != nil {
					yield(0, err)
					return false
				}
			}
			return yield(n.iri, nil)
		})
	}, true
}

// none yields nothing.
func none(func(ID, error) bool) {}

// index returns the capability index if it says of bn:provides exactly what
// the scanner's view does.
func (c *Scanner) index() (*View, bool) {
	cat := c.r.s.cat
	v := cat.view.Load()
	if c.meta.commit < max(v.commit, 1) || !v.whole {
		return nil, false
	}
	// A commit after the view's that changes the snapshots was foreseen before
	// the scanner could see it.
	if cat.foreseen.Load() > v.commit {
		return nil, false
	}
	return v, c.onlySnapshotsProvide()
}

// elsewhere is whether bn:provides stands in another graph than GraphSnapshots
// as of one commit.
type elsewhere struct {
	commit uint64
	stands bool
}

// onlySnapshotsProvide reports whether bn:provides stands in no graph but
// GraphSnapshots. It is found out once a commit.
func (c *Scanner) onlySnapshotsProvide() bool {
	cat := c.r.s.cat
	if known := cat.elsewhere.Load(); known != nil && known.commit == c.meta.commit {
		return !known.stands
	}
	stands, err := c.providedElsewhere()
	if err != nil {
		return false
	}
	cat.elsewhere.Store(&elsewhere{commit: c.meta.commit, stands: stands})
	return !stands
}

// providedElsewhere holds the count of bn:provides in all graphs against that
// in GraphSnapshots.
func (c *Scanner) providedElsewhere() (bool, error) {
	p, ok, err := c.Find(iri(ontology.PropProvides))
	if err != nil || !ok {
		return false, err
	}
	own, _, err := c.Find(iri(ontology.GraphSnapshots))
	if err != nil {
		return true, err
	}
	all, err := c.PredicateCount(p)
	if err != nil {
		return true, err
	}
	inside, err := readCount(c.r.txn, predicateAt{p, c.names[own]})
	return all != inside, err
}
