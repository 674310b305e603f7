package planner_test

import (
	"cmp"
	"slices"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
)

// naiveGraph is the reference of planner.Graph: it scans everything it has for
// every question. The real index has to answer the same.
type naiveGraph struct {
	Snapshots    []naiveSnapshot   `json:"snapshots"`
	Capabilities []naiveCapability `json:"capabilities"`
}

type naiveSnapshot struct {
	ID            ontology.SnapshotID    `json:"id"`
	Rung          ontology.RungName      `json:"rung"`
	Runtime       ontology.RuntimeID     `json:"runtime"`
	State         ontology.SnapshotState `json:"state"`
	Declares      []ontology.Capability  `json:"declares"`
	Provides      []ontology.Capability  `json:"provides"` // left out: what it declares
	WarmMillis    float64                `json:"warm_ms"`
	ResidentBytes int64                  `json:"resident_bytes"`
}

type naiveCapability struct {
	ID         ontology.Capability   `json:"id"`
	Implies    []ontology.Capability `json:"implies"` // the transitive closure
	WarmMillis float64               `json:"warm_ms"`
	Bundle     bool                  `json:"bundle"`
}

func (s naiveSnapshot) provides() []ontology.Capability {
	if s.Provides == nil {
		return s.Declares
	}
	return s.Provides
}

// forkable says whether the snapshot may serve a lookup at all.
func (s naiveSnapshot) forkable(l kg.Lookup) bool {
	gone := s.State == ontology.StateRetired || s.State == ontology.StateRevoked
	return !gone && s.Rung == l.Rung && s.Runtime == l.Runtime
}

func (g *naiveGraph) Capability(c ontology.Capability) (kg.Capability, bool) {
	for _, k := range g.Capabilities {
		if k.ID == c {
			return kg.Capability{ID: k.ID, ImportName: k.ID.Module(), Implies: k.Implies, WarmMillis: k.WarmMillis, Bundle: k.Bundle}, true
		}
	}
	return kg.Capability{}, false
}

// closed is the set of cs and all that they imply.
func (g *naiveGraph) closed(cs []ontology.Capability) map[ontology.Capability]bool {
	set := map[ontology.Capability]bool{}
	var add func(c ontology.Capability)
	add = func(c ontology.Capability) {
		if set[c] {
			return
		}
		set[c] = true
		add(c.Unversioned())
		k, _ := g.Capability(c)
		for _, i := range k.Implies {
			add(i)
		}
	}
	for _, c := range cs {
		add(c)
	}
	return set
}

func (g *naiveGraph) candidate(s naiveSnapshot, need map[ontology.Capability]bool) kg.Candidate {
	extra := 0
	for _, c := range s.Declares {
		if !need[c] {
			extra++
		}
	}
	return kg.Candidate{ID: s.ID, Declares: s.Declares, Extra: extra, WarmMillis: s.WarmMillis, ResidentBytes: s.ResidentBytes}
}

// Supersets: least beyond the need first, then least memory, then by id.
func (g *naiveGraph) Supersets(l kg.Lookup, k int) []kg.Candidate {
	var out []kg.Candidate
	need := g.closed(l.Need)
	for _, s := range g.Snapshots {
		if s.forkable(l) && isSubset(l.Need, s.provides()) {
			out = append(out, g.candidate(s, need))
		}
	}
	slices.SortFunc(out, func(a, b kg.Candidate) int {
		return cmp.Or(cmp.Compare(a.Extra, b.Extra), cmp.Compare(a.ResidentBytes, b.ResidentBytes), cmp.Compare(a.ID, b.ID))
	})
	return out[:min(k, len(out))]
}

// Bases: most warm-up saved first, then by id. A bare runtime is a base too.
func (g *naiveGraph) Bases(l kg.Lookup, k int) []kg.Candidate {
	var out []kg.Candidate
	need := g.closed(l.Need)
	for _, s := range g.Snapshots {
		if c := g.candidate(s, need); s.forkable(l) && c.Extra == 0 {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b kg.Candidate) int {
		return cmp.Or(cmp.Compare(b.WarmMillis, a.WarmMillis), cmp.Compare(a.ID, b.ID))
	})
	return out[:min(k, len(out))]
}

func isSubset(a, b []ontology.Capability) bool {
	return !slices.ContainsFunc(a, func(c ontology.Capability) bool { return !slices.Contains(b, c) })
}

// py makes the capabilities of Python modules.
func py(names ...string) []ontology.Capability {
	cs := make([]ontology.Capability, len(names))
	for i, n := range names {
		c, err := ontology.NewCapability(ontology.PythonNS, n)
		if err != nil {
			panic(err)
		}
		cs[i] = c
	}
	return cs
}

// ladder is the rungs of DESIGN §7.2 that run Python, all able and neutral.
func ladder() []planner.Rung {
	rung := func(name ontology.RungName, rank int, iso ontology.Isolation) planner.Rung {
		return planner.Rung{
			Name: name, Rank: rank, Isolation: iso, Languages: []string{"python"},
			Callbacks: true, ThirdParty: true, WarmFork: true, Branch: true, Reward: 0.5,
		}
	}
	wasm := rung("wasm", 10, ontology.IsolationWasm)
	wasm.ThirdParty, wasm.Callbacks = false, false
	container := rung("container", 18, ontology.IsolationContainer)
	container.Network = true
	local := rung("local", 30, ontology.IsolationNone)
	local.WarmFork, local.Branch, local.Network = false, false, true
	return []planner.Rung{
		wasm, rung("forkserver", 15, ontology.IsolationProcess), container,
		rung("microvm", 25, ontology.IsolationMicroVM), local,
	}
}
