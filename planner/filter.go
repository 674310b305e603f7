package planner

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-ff860830/banyan/ontology"
)

// neutralReward is the reward of a rung of which nothing is known.
const neutralReward = 0.5

// nudge is how many ranks the whole span of rewards is worth.
const nudge = 10

// score places a rung on the ladder, lower is better (DESIGN §7.2). It is kept
// to four decimals.
func (r Rung) score() float64 {
	return round(float64(r.Rank)-nudge*(r.reward()-neutralReward), 4)
}

// reward returns the rung's reward in [0,1]; what is no number is neutral.
func (r Rung) reward() float64 {
	if math.IsNaN(r.Reward) {
		return neutralReward
	}
	return min(max(r.Reward, 0), 1)
}

// byScore orders rungs as they are tried: score, then rank, then name.
func byScore(a, b Rung) int {
	return cmp.Or(cmp.Compare(a.score(), b.score()), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Name, b.Name))
}

// leftOut returns why a rung cannot take the need, as a sentence; "" if it can.
// All reasons are given, so that somebody who mends one is not met by the next.
func leftOut(r Rung, language string, need Need) string {
	if need.Rung != "" && need.Rung != r.Name {
		return fmt.Sprintf("the job asks for %s only", need.Rung)
	}
	var why []string
	if !slices.Contains(r.Languages, language) {
		why = append(why, fmt.Sprintf("it does not run %s", language))
	}
	if r.Isolation < need.Isolation {
		why = append(why, isolationReason(r.Isolation, need.Isolation))
	}
	if need.Callbacks && !r.Callbacks {
		why = append(why, "a job in it cannot call its host, and this one needs to")
	}
	if need.Network && !r.Network {
		why = append(why, "it cannot give a job the network, and this one needs it")
	}
	if need.ThirdParty && !r.ThirdParty {
		why = append(why, "it cannot load libraries beyond the runtime's own, and the job needs some")
	}
	if r.Unavailable != "" {
		why = append(why, "not available: "+r.Unavailable)
	}
	if r.BreakerOpen != "" {
		why = append(why, "kept out by its breaker: "+r.BreakerOpen)
	}
	return strings.Join(why, "; ")
}

func isolationReason(has, want ontology.Isolation) string {
	if has == ontology.IsolationNone {
		return fmt.Sprintf("it has no walls, and the job needs isolation %s at least", want)
	}
	return fmt.Sprintf("its isolation is %s, and the job needs %s at least", has, want)
}
