package kg

import (
	"github.com/seed-ff860830/banyan/internal/nearest"
	"github.com/seed-ff860830/banyan/ontology"
)

// nearestTerm returns the local name of the vocabulary that a mistyped one most
// likely meant, "" if none is near.
func nearestTerm(name string) string {
	locals := make([]string, len(ontology.Terms))
	for i, t := range ontology.Terms {
		locals[i], _ = cutBase(t)
	}
	return nearest.Of(name, locals)
}
