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
	v := c.r.s.cat.view.Load()
	if c.meta.commit == 0 || v.snaps != c.meta.snapsAt() || !v.whole {
		return nil, false
	}
	return v, c.onlySnapshotsProvide()
}

// snapsAt is the number of the last commit that changed GraphSnapshots.
func (m meta) snapsAt() uint64 { return m.commit }

// maxGraphs bounds the graphs that are looked into for bn:provides.
const maxGraphs = 64

// onlySnapshotsProvide reports whether bn:provides stands in no graph but
// GraphSnapshots.
func (c *Scanner) onlySnapshotsProvide() bool {
	if len(c.names) > maxGraphs {
		return false
	}
	p, ok, err := c.Find(iri(ontology.PropProvides))
	if err != nil || !ok {
		return false
	}
	own, _, err := c.Find(iri(ontology.GraphSnapshots))
	if err != nil {
		return false
	}
	for name, g := range c.names {
		if name == own {
			continue
		}
		if n, err := c.Count(Row{P: p, G: g}, 1); n > 0 || err != nil {
			return false
		}
	}
	return true
}
