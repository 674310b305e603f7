package w3c

import (
	"fmt"

	"github.com/seed-ff860830/banyan/ttl"
	"github.com/seed-ff860830/banyan/ttl/rdfgraph"
)

// Dataset is a default graph, under the empty name, and named graphs.
type Dataset map[string][]ttl.Triple

// Dataset reads the files of a dataset.
func (f Files) Dataset(d DatasetFiles) (Dataset, error) {
	out := Dataset{}
	n := 0
	load := func(graph, file string) error {
		n++
		ts, err := f.Graph(file, fmt.Sprintf("f%d-", n))
		out[graph] = append(out[graph], ts...)
		return err
	}
	for _, file := range d.Default {
		if err := load("", file); err != nil {
			return nil, err
		}
	}
	for _, g := range d.Named {
		if err := load(g.Name, g.File); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Quads returns the dataset's statements.
func (d Dataset) Quads() []ttl.Quad {
	var out []ttl.Quad
	for graph, ts := range d {
		for _, t := range ts {
			q := ttl.Quad{S: t.S, P: t.P, O: t.O}
			if graph != "" {
				q.G = ttl.NewIRI(graph)
			}
			out = append(out, q)
		}
	}
	return out
}

// DatasetOf returns the dataset of some statements.
func DatasetOf(quads []ttl.Quad) Dataset {
	d := Dataset{}
	for _, q := range quads {
		d[q.G.Value] = append(d[q.G.Value], ttl.Triple{S: q.S, P: q.P, O: q.O})
	}
	return d
}

// CompareDatasets returns nil if two datasets are the same up to the names of
// blank nodes, graph by graph. A graph that is empty is the same as none: the
// store keeps no empty graphs, which SPARQL 1.1 Update leaves open.
func CompareDatasets(got, want Dataset) error {
	for graph := range got {
		if len(got[graph]) > 0 && len(want[graph]) == 0 {
			return fmt.Errorf("graph %q has %d statements, and should have none:\n%v", graph, len(got[graph]), got[graph])
		}
	}
	for graph := range want {
		if err := CompareGraphs(got[graph], want[graph]); err != nil {
			return fmt.Errorf("graph %q: %w", graph, err)
		}
	}
	return nil
}

// CompareGraphs returns nil if two graphs are isomorphic.
func CompareGraphs(got, want []ttl.Triple) error {
	same, err := rdfgraph.Isomorphic(canonicalTriples(got), canonicalTriples(want))
	if err == nil && !same {
		err = fmt.Errorf("another graph:\ngot  %v\nwant %v", got, want)
	}
	return err
}

func canonicalTriples(ts []ttl.Triple) []ttl.Triple {
	out := make([]ttl.Triple, len(ts))
	for i, t := range ts {
		out[i] = ttl.Triple{S: t.S, P: t.P, O: canonical(t.O)}
	}
	return out
}
