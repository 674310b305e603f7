package planner

import (
	"fmt"
	"slices"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
)

// MaxCandidates bounds the snapshots that a plan shows, and those that are
// weighed as bases.
const MaxCandidates = 5

// maxExact bounds how many supersets are looked through for an exact one, or
// for a certain base. One beyond is not found: that costs time, not correctness.
const maxExact = 256

// want is a need made ready for the rungs: what one decision needs of it.
type want struct {
	need     Need
	expanded []ontology.Capability // sorted, no bundles
	closure  []ontology.Capability // sorted
	graph    Graph
}

// option is what one rung can do for a need. A fallback's is quiet: it keeps the
// choice and spares the explanation, which is most of the work.
type option struct {
	quiet      bool
	choice     Choice
	candidates []CandidateVerdict
	why        []string
}

// say adds a sentence to the explanation.
func (o *option) say(sentence func() string) {
	if !o.quiet {
		o.why = append(o.why, sentence())
	}
}

// show adds a snapshot to those that the plan shows.
func (o *option) show(c kg.Candidate, route Route, ms float64) {
	if o.quiet || len(o.candidates) == MaxCandidates {
		return
	}
	holds := append([]ontology.Capability{}, c.Declares...) // never nil, never shared
	o.candidates = append(o.candidates, CandidateVerdict{
		Snapshot: c.ID, Rung: o.choice.Rung, Route: route, Holds: holds, Extra: c.Extra, ExpectedMS: ms,
	})
}

// onRung finds the best route on one rung (DESIGN §7.3).
func (w want) onRung(r Rung, quiet bool) option {
	o := option{quiet: quiet, choice: Choice{Rung: r.Name, Score: r.score(), Missing: []ontology.Capability{}}}
	if !r.WarmFork {
		// Such a rung keeps no warm parent, whatever the graph may hold of it.
		o.say(func() string { return fmt.Sprintf("%s starts every job cold", r.Name) })
		w.boot(r, &o)
		return o
	}
	if w.reuse(r, &o) || r.Branch && w.branch(r, &o) {
		return o
	}
	w.boot(r, &o)
	return o
}

// lookup asks for snapshots of the need's runtime on a rung.
func (w want) lookup(r Rung, cs ...ontology.Capability) kg.Lookup {
	return kg.Lookup{Runtime: w.need.Runtime, Rung: r.Name, Need: cs}
}

// reuse takes the first snapshot that holds all; the graph answers cheapest first.
func (w want) reuse(r Rung, o *option) bool {
	k := MaxCandidates
	switch {
	case w.need.Match == ontology.MatchExact:
		k = maxExact
	case o.quiet:
		k = 1
	}
	found := w.graph.Supersets(w.lookup(r, w.expanded...), k)
	fork := r.forkMillis()
	ms := round(fork.ms, 3)
	var best kg.Candidate
	good, passed := 0, 0
	for _, c := range found[:min(k, len(found))] {
		if reason := w.notExact(c); reason != "" {
			if passed++; passed <= MaxCandidates {
				o.say(func() string { return fmt.Sprintf("%s is passed over: %s", c.ID, reason) })
			}
			continue
		}
		if good++; good == 1 {
			best = c
		}
		o.show(c, RouteReuse, ms)
		if o.quiet || good == MaxCandidates {
			break
		}
	}
	if good == 0 {
		return false
	}
	o.choice.Route, o.choice.Snapshot, o.choice.ExpectedMS = RouteReuse, best.ID, ms
	o.say(func() string { return w.reuseSentence(best, good) })
	o.say(func() string { return reuseCost(fork) })
	return true
}

// notExact returns why a superset will not do under MatchExact, "" if it will.
// Both sides are closed, so that it does not matter how a snapshot spelt it.
func (w want) notExact(c kg.Candidate) string {
	if w.need.Match != ontology.MatchExact {
		return ""
	}
	declared, err := Closure(w.graph.Capability, c.Declares)
	if err != nil {
		return "it declares too much to compare"
	}
	if extra := minus(declared, w.closure); len(extra) > 0 {
		return fmt.Sprintf("it was made for %s as well, and the job asks for an exact match", listed(extra))
	}
	if len(declared) != len(w.closure) {
		return fmt.Sprintf("it was not made for %s, and the job asks for an exact match", listed(minus(w.closure, declared)))
	}
	return ""
}

// branch takes the base from which the need is reached soonest.
func (w want) branch(r Rung, o *option) bool {
	found := w.graph.Bases(w.lookup(r, w.expanded...), MaxCandidates)
	versions := map[ontology.Capability][]ontology.SnapshotID{}
	var best *Choice
	var loads cost
	fork := r.forkMillis()
	for _, c := range found[:min(MaxCandidates, len(found))] {
		missing, imports, reason := w.missingFrom(r, c, versions)
		if reason != "" {
			o.say(func() string { return fmt.Sprintf("%s is no base: %s", c.ID, reason) })
			continue
		}
		ms := round(imports.ms+2*fork.ms, 3)
		o.show(c, RouteBranch, ms)
		if best == nil || ms < best.ExpectedMS {
			best = &Choice{Rung: r.Name, Route: RouteBranch, Base: c.ID, Missing: missing, ExpectedMS: ms, Score: r.score()}
			loads = imports
		}
	}
	if best == nil {
		return false
	}
	o.choice = *best
	o.say(func() string { return w.branchSentence(o) })
	o.say(func() string { return branchCost(loads, fork) })
	return true
}

// missingFrom returns what a base lacks of the need and what loading it costs,
// or why the snapshot cannot be a base. versions keeps, per versioned need,
// the snapshots of this rung that were observed to hold it.
func (w want) missingFrom(r Rung, c kg.Candidate, versions map[ontology.Capability][]ontology.SnapshotID) (missing []ontology.Capability, imports cost, reason string) {
	declared, err := Closure(w.graph.Capability, c.Declares)
	if err != nil {
		return nil, cost{}, "it declares too much to compare"
	}
	if extra := minus(declared, w.closure); len(extra) > 0 {
		return nil, cost{}, fmt.Sprintf("it holds %s beyond the need", listed(extra))
	}
	rest := minus(w.closure, declared)
	for _, v := range rest {
		if v.Version() == "" || !contains(declared, v.Unversioned()) {
			continue
		}
		// The module is loaded, in a version that the snapshot did not declare.
		// A second import changes nothing, so only what was observed counts.
		if !w.observed(r, c.ID, v, versions) {
			return nil, cost{}, fmt.Sprintf("it holds %s already, and not as %s", v.Unversioned().Short(), v.Short())
		}
		declared = append(slices.Clone(declared), v)
		slices.Sort(declared)
	}
	rest = minus(w.closure, declared)
	if missing = minus(w.expanded, declared); len(missing) == 0 {
		return nil, cost{}, "there is nothing left to load on it, and it does not serve as it is"
	}
	return missing, importMillis(w.graph.Capability, rest), ""
}

// observed reports whether the graph says that a snapshot provides v.
func (w want) observed(r Rung, id ontology.SnapshotID, v ontology.Capability, versions map[ontology.Capability][]ontology.SnapshotID) bool {
	ids, asked := versions[v]
	if !asked {
		for _, c := range w.graph.Supersets(w.lookup(r, v), maxExact) {
			ids = append(ids, c.ID)
		}
		versions[v] = ids
	}
	return slices.Contains(ids, id)
}

// boot starts the runtime and loads everything.
func (w want) boot(r Rung, o *option) {
	imports, start, fork := importMillis(w.graph.Capability, w.closure), r.bootMillis(), r.forkMillis()
	o.choice.Route, o.choice.Missing = RouteBoot, slices.Clone(w.expanded)
	if o.choice.Missing == nil {
		o.choice.Missing = []ontology.Capability{}
	}
	o.choice.ExpectedMS = round(start.ms+imports.ms+fork.ms, 3)
	o.say(func() string { return w.bootSentence(r) })
	o.say(func() string { return bootCost(start, imports, fork) })
}
