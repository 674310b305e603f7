package planner

import (
	"math"

	"github.com/seed-ff860830/banyan/ontology"
)

// DefaultImportMillis is what importing a module costs while nobody measured
// it, in milliseconds. On the reference machine numpy takes 85-120 and pandas
// on top of it 110-290, most of the standard library under 10; this is between.
const DefaultImportMillis = 60

// maxMillis bounds any single cost: a day. A larger figure is a mistake.
const maxMillis = 24 * 60 * 60 * 1000

// costs are the milliseconds that a rung takes while nothing was measured.
type costs struct{ fork, boot float64 }

// defaultCosts are by isolation, since that is what a fork and a boot pay for.
// They are this project's measurements with a small Python parent, rounded:
// a cold python3 and its walls, a suspended interpreter in a wasm memory, an
// agent in a warm container, a paused guest restored from a memory file.
var defaultCosts = map[ontology.Isolation]costs{
	ontology.IsolationNone:      {fork: 1, boot: 30},
	ontology.IsolationProcess:   {fork: 2, boot: 40},
	ontology.IsolationWasm:      {fork: 1, boot: 400},
	ontology.IsolationContainer: {fork: 3, boot: 200},
	ontology.IsolationMicroVM:   {fork: 150, boot: 9000},
}

// cost is a number of milliseconds, and whether any of it is a default: a plan
// must not pass a guess off as a measurement.
type cost struct {
	ms    float64
	guess bool
}

// forkMillis returns what one fork on the rung costs.
func (r Rung) forkMillis() cost {
	return costOr(r.ForkMillis, defaultCosts[r.Isolation].fork)
}

// bootMillis returns what one boot on the rung costs, imports not included.
func (r Rung) bootMillis() cost {
	return costOr(r.BootMillis, defaultCosts[r.Isolation].boot)
}

// importMillis returns what loading all of cs costs. A capability's WarmMillis
// is its own share; what it implies is counted on its own. A module that stands
// in cs with and without a version is counted once, by the dearer figure.
func importMillis(known Known, cs []ontology.Capability) cost {
	modules := make([]ontology.Capability, 0, len(cs))
	millis := make(map[ontology.Capability]float64, len(cs))
	for _, c := range cs {
		u := c.Unversioned()
		if _, seen := millis[u]; !seen {
			modules = append(modules, u)
		}
		k, _ := known(c)
		millis[u] = max(millis[u], costOr(k.WarmMillis, 0).ms)
	}
	var sum cost
	for _, m := range modules { // in order: a float sum depends on it
		one := costOr(millis[m], DefaultImportMillis)
		sum = cost{sum.ms + one.ms, sum.guess || one.guess}
	}
	return sum
}

// costOr returns ms if it can be a measurement, else the default.
func costOr(ms, otherwise float64) cost {
	if !measured(ms) {
		return cost{otherwise, true}
	}
	return cost{ms, false}
}

// measured reports whether ms can be a measurement: above zero, below a day.
// It is false of NaN.
func measured(ms float64) bool { return ms > 0 && ms <= maxMillis }

// round keeps a figure to a given number of decimals, so that equal scores
// compare equal and JSON shows no noise.
func round(x float64, decimals int) float64 {
	p := math.Pow10(decimals)
	return math.Round(x*p)/p + 0 // + 0 turns −0 into 0
}
