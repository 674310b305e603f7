package forkserver

import (
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
)

// rank is the rung's place on the ladder (DESIGN §7).
const rank = 15

func traits() rungs.Traits {
	return rungs.Traits{
		Rank:       rank,
		Isolation:  ontology.IsolationProcess,
		Languages:  []string{"python"},
		ThirdParty: true,
		WarmFork:   true,
		Branch:     true,
	}
}
