package rungs

import "github.com/seed-ff860830/banyan/ontology"

// Get returns what the registry knows of one live parent, without borrowing it.
func (r *Registry) Get(id ontology.SnapshotID) (Live, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[id]
	if e == nil {
		return Live{}, false
	}
	return e.snapshot(), true
}
