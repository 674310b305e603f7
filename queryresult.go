package banyan

import (
	"io"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg/sparql/results"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// ofGraph reports whether the answer is a graph, not rows or a truth.
func (r *QueryResult) ofGraph() bool { return r.Kind == QueryConstruct || r.Kind == QueryDescribe }

// Formats returns the names of the formats that the answer can be written in,
// the default first: "json", "xml", "csv" and "tsv" for rows, "json" and "xml"
// for the answer of an ASK, "turtle" and "ntriples" for a graph.
func (r *QueryResult) Formats() []string {
	if r.ofGraph() {
		return []string{ttl.Turtle.String(), ttl.NTriples.String()}
	}
	offers := results.Formats()
	if r.Kind == QueryAsk {
		offers = results.BooleanFormats()
	}
	names := make([]string, len(offers))
	for i, f := range offers {
		names[i] = f.String()
	}
	return names
}

// Write evaluates the query and writes its answer as it comes, in one of
// Formats (another is Unsupported). It holds one small buffer. If it returns
// an error, what was written is not the answer; CSV, TSV and graphs have no end
// mark, so a caller that handed it on already has to make that known.
func (r *QueryResult) Write(w io.Writer, format string) error {
	if r.ofGraph() {
		return r.writeGraph(w, format)
	}
	f, ok := results.FormatByName(format)
	if !ok || r.Kind == QueryAsk && !f.HasBoolean() {
		return errNoFormat(format, r)
	}
	out := results.NewWriter(w, f)
	if r.Kind == QueryAsk {
		return out.Boolean(r.Bool)
	}
	// The head waits for the first row, so that an evaluation that fails at
	// once fails before anything was written.
	begun := false
	for row, err := range r.Rows {
		if err == nil && !begun {
			begun = true
			err = out.Begin(r.Vars)
		}
		if err == nil {
			err = out.Row(row)
		}
		if err != nil {
			return err
		}
	}
	if !begun {
		if err := out.Begin(r.Vars); err != nil {
			return err
		}
	}
	return out.End()
}

// queryPrefixes are declared at the head of answers in Turtle.
var queryPrefixes = map[string]string{
	"bn": ontology.Base, "py": string(ontology.PythonNS), "bundle": string(ontology.BundleNS),
	"rdf": ontology.RDF, "rdfs": ontology.RDFS, "owl": ontology.OWL, "xsd": ontology.XSD,
	"prov": ontology.PROV, "dcterms": ontology.DCTerms, "skos": ontology.SKOS,
}

func (r *QueryResult) writeGraph(w io.Writer, format string) error {
	f, ok := ttl.FormatByName(format)
	if !ok || f == ttl.NQuads {
		return errNoFormat(format, r)
	}
	out := ttl.NewWriter(w, ttl.WriterOptions{Format: f, Prefixes: queryPrefixes})
	for t, err := range r.Triples {
		if err == nil {
			err = out.Write(t)
		}
		if err != nil {
			return err
		}
	}
	return out.Close()
}

func errNoFormat(format string, r *QueryResult) error {
	return errs.New(errs.Unsupported, "an answer to %v cannot be written as %q; known: %v", r.Kind, format, r.Formats())
}
