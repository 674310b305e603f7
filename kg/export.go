package kg

import (
	"context"
	"io"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// prefixes are declared at the head of exported Turtle.
var prefixes = map[string]string{
	"bn":      ontology.Base,
	"py":      string(ontology.PythonNS),
	"bundle":  string(ontology.BundleNS),
	"rdf":     ontology.RDF,
	"rdfs":    ontology.RDFS,
	"owl":     ontology.OWL,
	"xsd":     ontology.XSD,
	"prov":    ontology.PROV,
	"dcterms": ontology.DCTerms,
	"skos":    ontology.SKOS,
	"spdx":    ontology.SPDX,
}

// Export writes one graph, or with "" all of them, as the state of one commit.
// N-Quads keeps the graphs apart; in the other formats all graphs are written
// as their union, each triple once. A graph that is not there is NotFound, and
// then nothing was written.
func (s *Store) Export(ctx context.Context, w io.Writer, graph ontology.IRI, format ttl.Format) error {
	return s.Read(ctx, func(r *ReadTx) error {
		pattern := ttl.Quad{}
		if graph != "" {
			pattern.G = iri(graph)
			n, err := r.Count(pattern)
			if err != nil {
				return err
			}
			if n == 0 {
				return errs.New(errs.NotFound, "there is no graph <%s>", graph)
			}
		}
		out := ttl.NewWriter(w, ttl.WriterOptions{Format: format, Prefixes: prefixes})
		var last ttl.Quad
		for q, err := range r.Match(pattern) {
			if err != nil {
				return err
			}
			if format != ttl.NQuads {
				q.G = ttl.Term{}
				if q == last {
					continue // the same triple in another graph
				}
				last = q
			}
			if err := out.WriteQuad(q); err != nil {
				return err
			}
		}
		return out.Close()
	})
}
