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

// option is what one rung can do for a need.
type option struct {
	choice     Choice
	candidates []CandidateVerdict
	why        []string
}

// onRung finds the best route on one rung (DESIGN §7.3).
func (w want) onRung(r Rung) option {
	o := option{choice: Choice{Rung: r.Name, Score: r.score(), Missing: []ontology.Capability{}}}
	if !r.WarmFork {
		// Such a rung keeps no warm parent, whatever the graph may hold of it.
		o.why = append(o.why, fmt.Sprintf("%s starts every job cold", r.Name))
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
	if w.need.Match == ontology.MatchExact {
		k = maxExact
	}
	found := w.graph.Supersets(w.lookup(r, w.expanded...), k)
	fork := r.forkMillis()
	ms := round(fork.ms, 3)
	passed := 0
	for _, c := range found[:min(k, len(found))] {
		if len(o.candidates) == MaxCandidates {
			break
		}
		if reason := w.notExact(c); reason != "" {
			if passed++; passed <= MaxCandidates {
				o.why = append(o.why, fmt.Sprintf("%s is passed over: %s", c.ID, reason))
			}
			continue
		}
		o.candidates = append(o.candidates, verdict(c, r.Name, RouteReuse, ms))
	}
	if len(o.candidates) == 0 {
		return false
	}
	best := o.candidates[0]
	o.choice.Route, o.choice.Snapshot, o.choice.ExpectedMS = RouteReuse, best.Snapshot, ms
	o.why = append(o.why, w.reuseSentence(best, len(o.candidates)), reuseCost(fork))
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
			o.why = append(o.why, fmt.Sprintf("%s is no base: %s", c.ID, reason))
			continue
		}
		ms := round(imports.ms+2*fork.ms, 3)
		if len(o.candidates) < MaxCandidates {
			o.candidates = append(o.candidates, verdict(c, r.Name, RouteBranch, ms))
		}
		if best == nil || ms < best.ExpectedMS {
			best = &Choice{Rung: r.Name, Route: RouteBranch, Base: c.ID, Missing: missing, ExpectedMS: ms, Score: r.score()}
			loads = imports
		}
	}
	if best == nil {
		return false
	}
	o.choice = *best
	o.why = append(o.why, w.branchSentence(o), branchCost(loads, fork))
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
	o.why = append(o.why, w.bootSentence(r), bootCost(start, imports, fork))
}

func verdict(c kg.Candidate, rung ontology.RungName, route Route, ms float64) CandidateVerdict {
	holds := slices.Clone(c.Declares)
	if holds == nil {
		holds = []ontology.Capability{}
	}
	return CandidateVerdict{Snapshot: c.ID, Rung: rung, Route: route, Holds: holds, Extra: c.Extra, ExpectedMS: ms}
}
