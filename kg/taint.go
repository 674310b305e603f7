package kg

import (
	"slices"

	"github.com/seed-ff860830/banyan/ontology"
)

// Taint says what is bad: what is to be revoked follows from it.
type Taint struct {
	// Snapshots are bad with all that was derived from them.
	Snapshots []ontology.SnapshotID
	// Capabilities are bad in every snapshot that provides one of them.
	Capabilities []ontology.Capability
}

// Tainted returns, by id, the snapshots that are to be revoked for a taint,
// from memory: the bad ones, those that provide a bad capability, and all that
// was derived from either, in whatever state but revoked already. A snapshot
// or a capability that is not known taints nothing. TaintedQuery is the same
// as SPARQL.
func (s *Store) Tainted(by Taint) []ontology.SnapshotID {
	s.cat.mu.RLock()
	defer s.cat.mu.RUnlock()
	view := s.cat.view.Load()
	bad := map[ontology.SnapshotID]bool{}
	for _, id := range by.Snapshots {
		if _, ok := s.cat.nodes[id]; ok {
			bad[id] = true
		}
	}
	for _, c := range by.Capabilities {
		if syms, ok := view.syms.find([]ontology.Capability{c}); ok {
			view.providers(syms, func(n *node) bool {
				bad[n.id] = true
				return true
			})
		}
	}
	all := make([]ontology.SnapshotID, 0, len(bad))
	for id := range bad {
		all = append(all, id)
	}
	all = append(all, s.cat.descendants(all...)...)
	slices.Sort(all)
	return slices.DeleteFunc(all, func(id ontology.SnapshotID) bool {
		n, ok := s.cat.nodes[id]
		return !ok || n.state == ontology.StateRevoked
	})
}
