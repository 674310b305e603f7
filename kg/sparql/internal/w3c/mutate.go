package w3c

import (
	"slices"

	"github.com/seed-ff860830/banyan/kg/sparql/results"
	"github.com/seed-ff860830/banyan/ttl"
)

// stranger is a term that no test has.
var stranger = ttl.NewIRI("https://example.org/mutation")

// Mutations returns wrong answers that are as near to a right one as can be:
// with a row or statement more, one less, one term changed, one binding gone,
// a truth turned. A judge that passes one of them does not judge.
func Mutations(right Answer) map[string]Answer {
	out := map[string]Answer{}
	switch {
	case right.Set == nil:
		for name, g := range mutateGraph(right.Graph) {
			out[name] = Answer{Graph: g}
		}
	case right.Set.Boolean != nil:
		no := !*right.Set.Boolean
		out["the truth turned"] = Answer{Set: &results.Set{Boolean: &no}}
	default:
		for name, rows := range mutateRows(right.Set) {
			out[name] = Answer{Set: &results.Set{Vars: right.Set.Vars, Rows: rows}}
		}
	}
	return out
}

func mutateGraph(ts []ttl.Triple) map[string][]ttl.Triple {
	more := append(slices.Clone(ts), ttl.Triple{S: stranger, P: stranger, O: stranger})
	out := map[string][]ttl.Triple{"a statement more": more}
	if len(ts) > 0 {
		last := slices.Clone(ts)
		last[len(last)-1].O = stranger
		out["a term changed"] = last
		// A graph is a set: all copies of the first statement go.
		out["a statement less"] = slices.DeleteFunc(slices.Clone(ts), func(t ttl.Triple) bool { return t == ts[0] })
	}
	return out
}

func mutateRows(s *results.Set) map[string][][]ttl.Term {
	row := make([]ttl.Term, len(s.Vars))
	if len(row) > 0 {
		row[0] = stranger
	}
	out := map[string][][]ttl.Term{"a row more": append(slices.Clone(s.Rows), row)}
	if len(s.Rows) == 0 {
		return out
	}
	out["a row less"] = withoutUnique(s.Rows)
	last := len(s.Rows) - 1
	for j, t := range s.Rows[last] {
		changed := slices.Clone(s.Rows)
		changed[last] = slices.Clone(changed[last])
		changed[last][j] = stranger
		out["a term changed"] = changed
		if t.IsZero() {
			continue
		}
		gone := slices.Clone(s.Rows)
		gone[last] = slices.Clone(gone[last])
		gone[last][j] = ttl.Term{}
		out["a binding gone"] = gone
	}
	return out
}

// withoutUnique drops the rows that are like the last one, so that the answer
// is wrong also where duplicates do not count.
func withoutUnique(rows [][]ttl.Term) [][]ttl.Term {
	last := rows[len(rows)-1]
	return slices.DeleteFunc(slices.Clone(rows), func(r []ttl.Term) bool { return slices.Equal(r, last) })
}

// MutateDataset returns wrong datasets as Mutations does answers.
func MutateDataset(right Dataset) map[string]Dataset {
	out := map[string]Dataset{"a graph more": right.with("https://example.org/mutation", []ttl.Triple{{S: stranger, P: stranger, O: stranger}})}
	for graph, ts := range right {
		for name, g := range mutateGraph(ts) {
			out[name+" in <"+graph+">"] = right.with(graph, g)
		}
	}
	return out
}

// with returns a copy of a dataset with one graph replaced.
func (d Dataset) with(graph string, ts []ttl.Triple) Dataset {
	out := Dataset{graph: ts}
	for g := range d {
		if g != graph {
			out[g] = d[g]
		}
	}
	return out
}
