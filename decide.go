package banyan

import (
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
	"github.com/seed-ff860830/banyan/rungs"
)

// decide gathers the facts of this moment and lets the planner decide.
func (e *Engine) decide(req request, view *kg.View) (planner.Plan, error) {
	now := time.Now()
	probes := *e.probes.Load()
	facts := planner.Facts{Language: req.runtime.Language, Graph: view, Rungs: make([]planner.Rung, 0, len(e.rungs))}
	for name, r := range e.rungs {
		f := rungFacts(r)
		if err := probes[name]; err != nil {
			f.Unavailable = errs.Public(err)
		}
		f.Reward, f.BreakerOpen, f.ForkMillis, f.BootMillis = e.learned.facts(name, now)
		facts.Rungs = append(facts.Rungs, f)
	}
	return planner.Decide(facts, req.need)
}

// rungFacts are a rung's traits in the planner's words.
func rungFacts(r rungs.Rung) planner.Rung {
	t := r.Traits()
	return planner.Rung{
		Name: r.Name(), Rank: t.Rank, Isolation: t.Isolation, Languages: t.Languages, Callbacks: t.Callbacks,
		ThirdParty: t.ThirdParty, Network: t.Network, WarmFork: t.WarmFork, Branch: t.Branch,
	}
}

// closure returns capabilities with all that they imply.
func closure(cs []ontology.Capability, view *kg.View) ([]ontology.Capability, error) {
	return planner.Closure(view.Capability, cs)
}
