package planner

import (
	"fmt"
	"slices"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
)

// Decide makes the plan for a need. It is a pure function: the order of
// facts.Rungs and of the need's capabilities does not matter, and nothing of
// what it is given is changed or kept.
//
// Errors, all *errs.Error: Invalid for a need that makes no sense (no runtime,
// an unknown bundle, one module in two versions), TooLarge for one past MaxNeed
// or MaxClosure, Unsupported if no rung can take it, Unavailable if one could but
// for its breaker, with every rung's reason in Parts; Internal for facts without
// a graph.
func Decide(facts Facts, need Need) (Plan, error) {
	w, err := prepare(facts, need)
	if err != nil {
		return Plan{}, err
	}
	rungs := slices.Clone(facts.Rungs)
	slices.SortFunc(rungs, byScore)

	plan := Plan{Need: w.need, Rungs: make([]RungVerdict, 0, len(rungs)), Fallbacks: []ontology.RungName{}}
	plan.Why = bundleSentences(facts.Graph.Capability, need.Capabilities)
	var best option
	for _, r := range rungs {
		v := RungVerdict{Rung: r.Name, Score: r.score(), LeftOut: leftOut(r, facts.Language, need)}
		plan.Rungs = append(plan.Rungs, v)
		plan.Why = append(plan.Why, rungSentence(r, v))
		if v.LeftOut != "" {
			continue
		}
		o := w.onRung(r, len(plan.Choices) > 0)
		if len(plan.Choices) == 0 {
			best = o
		} else {
			plan.Fallbacks = append(plan.Fallbacks, r.Name)
		}
		plan.Choices = append(plan.Choices, o.choice)
	}
	if len(plan.Choices) == 0 {
		return Plan{}, noRung(rungs, plan.Rungs, facts.Language, need)
	}
	plan.Choice = best.choice
	plan.Candidates = best.candidates
	if plan.Candidates == nil {
		plan.Candidates = []CandidateVerdict{}
	}
	plan.Why = append(plan.Why, best.why...)
	plan.Why = append(plan.Why, fallbackSentence(plan.Rung, plan.Fallbacks))
	return plan, nil
}

// prepare checks the need and expands it.
func prepare(facts Facts, need Need) (want, error) {
	if facts.Graph == nil {
		return want{}, errs.New(errs.Internal, "facts without a graph")
	}
	if err := checkNeed(facts, need); err != nil {
		return want{}, err
	}
	known := facts.Graph.Capability
	expanded, err := Expand(known, need.Capabilities)
	if err != nil {
		return want{}, err
	}
	closure, err := Closure(known, expanded)
	if err != nil {
		return want{}, err
	}
	if a, b, twice := twoVersions(closure); twice {
		return want{}, errs.New(errs.Invalid, "the need asks for %s and for %s; one process can hold only one of them", a.Short(), b.Short())
	}
	need.Capabilities = append([]ontology.Capability{}, need.Capabilities...) // never nil, never shared
	return want{need: need, expanded: expanded, closure: closure, graph: facts.Graph}, nil
}

// checkNeed refuses what no plan can be made from.
func checkNeed(facts Facts, need Need) error {
	if need.Runtime == "" {
		return errs.New(errs.Invalid, "the need names no runtime")
	}
	if facts.Language == "" {
		return errs.New(errs.Invalid, "runtime %q is not declared", need.Runtime)
	}
	if need.Isolation > ontology.IsolationMicroVM {
		return errs.New(errs.Invalid, "the need's isolation is not a known level")
	}
	if need.Match > ontology.MatchExact {
		return errs.New(errs.Invalid, "the need's match policy is not a known one")
	}
	return nil
}

// noRung says of each rung why it cannot take the need.
func noRung(rungs []Rung, verdicts []RungVerdict, language string, need Need) error {
	parts := make([]errs.Part, 0, len(verdicts))
	pinned, unavailable, soon := "", false, false
	for i, v := range verdicts {
		parts = append(parts, errs.Part{Detail: fmt.Sprintf("%s: %s", v.Rung, v.LeftOut)})
		if v.Rung == need.Rung {
			pinned = v.LeftOut
		}
		if need.Rung == "" || v.Rung == need.Rung {
			unavailable = unavailable || rungs[i].Unavailable != ""
		}
		closed := rungs[i]
		closed.BreakerOpen = ""
		soon = soon || leftOut(closed, language, need) == ""
	}
	hint := "banyan rungs" // what each rung offers
	if unavailable {
		hint = "banyan doctor" // what is missing, and the command that mends it
	}
	err := errs.New(errs.Unsupported, "no rung can take this job")
	switch {
	case soon: // the same request may well be taken in a moment
		err = errs.New(errs.Unavailable, "no rung can take this job now: what could has failed, and is tried again in a moment")
	case need.Rung != "" && pinned != "":
		err = errs.New(errs.Unsupported, "rung %s cannot take this job: %s", need.Rung, pinned)
	case need.Rung != "":
		err = errs.New(errs.Unsupported, "there is no rung %q here", need.Rung)
	case len(rungs) == 0:
		err = errs.New(errs.Unsupported, "no rung is set up here")
	}
	return err.WithHint("%s", hint).WithParts(parts...)
}
