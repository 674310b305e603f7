package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
)

// cannedGraph answers every question at once, so that Decide alone is measured.
type cannedGraph struct {
	supersets, bases []kg.Candidate
	capabilities     map[ontology.Capability]kg.Capability
}

func (g cannedGraph) Supersets(kg.Lookup, int) []kg.Candidate { return g.supersets }
func (g cannedGraph) Bases(kg.Lookup, int) []kg.Candidate     { return g.bases }
func (g cannedGraph) Capability(c ontology.Capability) (kg.Capability, bool) {
	k, ok := g.capabilities[c]
	return k, ok
}

// BenchmarkDecide plans over 8 rungs and 5 candidates each.
func BenchmarkDecide(b *testing.B) {
	var rungs []planner.Rung
	for i := range 8 {
		r := ladder()[1]
		r.Name, r.Rank = ontology.RungName(fmt.Sprintf("rung%d", i)), 5*i
		rungs = append(rungs, r)
	}
	candidates := func(names ...string) []kg.Candidate {
		out := make([]kg.Candidate, 5)
		for i := range out {
			out[i] = kg.Candidate{ID: ontology.SnapshotID(fmt.Sprintf("sn_%d", i)), Declares: py(names...)}
		}
		return out
	}
	known := map[ontology.Capability]kg.Capability{py("pandas")[0]: {Implies: py("numpy"), WarmMillis: 290}}
	full := candidates("numpy", "pandas", "scipy")
	for name, bc := range map[string]struct {
		graph cannedGraph
		match ontology.MatchPolicy
	}{
		"reuse":  {graph: cannedGraph{supersets: full, capabilities: known}},
		"exact":  {graph: cannedGraph{supersets: full, capabilities: known}, match: ontology.MatchExact},
		"branch": {graph: cannedGraph{bases: candidates("numpy"), capabilities: known}},
		"boot":   {graph: cannedGraph{capabilities: known}},
	} {
		b.Run(name, func(b *testing.B) {
			facts := planner.Facts{Rungs: rungs, Language: "python", Graph: bc.graph}
			need := planner.Need{Runtime: "python", Capabilities: py("numpy", "pandas", "scipy"), ThirdParty: true, Match: bc.match}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := planner.Decide(facts, need); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPythonImports reads a program of an agent's usual shape.
func BenchmarkPythonImports(b *testing.B) {
	code := "import numpy as np\nimport pandas as pd\nfrom matplotlib import pyplot\n\n" +
		strings.Repeat("def f(x):\n    \"\"\"import nothing\"\"\"\n    return f'{x:>10} {np.sqrt(x)!r}', [x for x in (1, 2)]  # note\n\n", 40)
	b.SetBytes(int64(len(code)))
	b.ReportAllocs()
	for b.Loop() {
		planner.Imports("python", code)
	}
}
