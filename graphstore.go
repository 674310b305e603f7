package banyan

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"path"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// maxMergeBytes bounds a document that is merged into a graph, or put into the
// unnamed one: it is held in memory and written as one transaction. It is the
// import's own bound.
const maxMergeBytes = 32 << 20

// unnamedStandIn names the unnamed graph where the check of a document wants a
// name. Nothing is written under it.
const unnamedStandIn ontology.IRI = "urn:x-banyan:unnamed-graph"

// importInto adds a document to a graph, or replaces the unnamed one. It is
// checked as every import is, since a declaration is believed whichever graph
// it stands in; what the graph holds already is not looked at again. Then it
// is one transaction.
func (e *Engine) importInto(ctx context.Context, r io.Reader, name string, o ImportOptions) (ImportReport, error) {
	body, err := io.ReadAll(io.LimitReader(r, maxMergeBytes+1))
	if err != nil {
		return ImportReport{}, errs.Wrap(errs.Invalid, err, "the document could not be read to its end")
	}
	if len(body) > maxMergeBytes {
		return ImportReport{}, errs.New(errs.TooLarge, "the document has more than the %d bytes that can be merged", maxMergeBytes)
	}
	format, err := mergeFormat(o.Format, o.Name)
	if err != nil {
		return ImportReport{}, err
	}
	leave, err := e.updates.enter(ctx)
	if err != nil {
		return ImportReport{}, err
	}
	defer leave()
	target := o.Graph
	if o.Unnamed {
		target = unnamedStandIn
	}
	checked, err := e.store.ImportTurtle(ctx, bytes.NewReader(body), kg.ImportOptions{Name: name, Graph: target, Format: format.String(), DryRun: true})
	if err != nil {
		return ImportReport{}, err
	}
	rep := ImportReport{
		Graph: o.Graph, Triples: checked.Triples, Runtimes: checked.Runtimes,
		Capabilities: checked.Capabilities, Bundles: checked.Bundles, DryRun: o.DryRun,
	}
	if rep.Replaced, err = e.graphSize(ctx, o.Graph); err != nil || o.DryRun {
		return rep, err
	}
	if err := e.writeGraph(ctx, body, format, o); err != nil {
		return ImportReport{}, err
	}
	e.cannot.clear() // what could not be loaded may now be declared otherwise
	rep.Triples, err = e.graphSize(ctx, o.Graph)
	return rep, err
}

// mergeFormat returns the format of a document that is merged.
func mergeFormat(format, name string) (ttl.Format, error) {
	if format == "" {
		if f, ok := ttl.FormatByName(path.Ext(name)); ok && f != ttl.NQuads {
			return f, nil
		}
		return ttl.Turtle, nil
	}
	f, ok := ttl.FormatByName(format)
	if !ok || f == ttl.NQuads {
		return 0, errs.New(errs.Unsupported, "%q is not a format that can be merged into a graph", format).WithHint("use turtle or ntriples")
	}
	return f, nil
}

// writeGraph writes a checked document in one transaction.
func (e *Engine) writeGraph(ctx context.Context, body []byte, format ttl.Format, o ImportOptions) error {
	blanks, err := newBlanks(o.Merge)
	if err != nil {
		return err
	}
	var g ttl.Term
	if !o.Unnamed {
		g = ttl.NewIRI(string(o.Graph))
	}
	return e.store.Update(ctx, func(tx *kg.Tx) error {
		if !o.Merge {
			if err := tx.DeleteGraph(o.Graph); err != nil {
				return err
			}
		}
		doc := ttl.NewReader(bytes.NewReader(body), ttl.Options{Format: format})
		for {
			t, err := doc.Read()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			if err := tx.Add(ttl.Quad{S: blanks.of(t.S), P: t.P, O: blanks.of(t.O), G: g}); err != nil {
				return err
			}
		}
	})
}

// blanks gives a document's blank nodes their labels in the store. Of a merge
// they are new ones, each time; of a document that replaces the unnamed graph
// they are the same each time, as for named graphs.
type blanks struct{ seed []byte }

func newBlanks(fresh bool) (blanks, error) {
	if !fresh {
		return blanks{}, nil
	}
	b := blanks{seed: make([]byte, 16)}
	_, err := rand.Read(b.seed)
	return b, err
}

// of returns the term of the store for a term of the document: 128 bits of
// SHA-256, so that no document can choose labels that meet those of another.
func (b blanks) of(t ttl.Term) ttl.Term {
	if t.Kind != ttl.Blank {
		return t
	}
	sum := sha256.Sum256([]byte(string(b.seed) + "\x00" + t.Value))
	return ttl.NewBlank("b" + hex.EncodeToString(sum[:16]))
}

// graphPattern matches all of a graph; "" is the unnamed one.
func graphPattern(graph ontology.IRI) ttl.Quad {
	if graph == "" {
		return ttl.Quad{G: kg.DefaultGraph}
	}
	return ttl.Quad{G: ttl.NewIRI(string(graph))}
}

// graphSize counts a graph's statements.
func (e *Engine) graphSize(ctx context.Context, graph ontology.IRI) (int, error) {
	n, err := e.store.Count(ctx, graphPattern(graph))
	return int(n), err
}

// GraphExists reports whether a named graph is there: that is, holds a
// statement. The unnamed graph, "", always is.
func (e *Engine) GraphExists(ctx context.Context, graph ontology.IRI) (bool, error) {
	if e.closing.Load() {
		return false, errClosing()
	}
	if graph == "" {
		return true, nil
	}
	for _, err := range e.store.Match(ctx, graphPattern(graph)) {
		return err == nil, err
	}
	return false, nil
}

// GraphDelete takes a graph out with all that it holds; "" is the unnamed
// graph, which is emptied. A graph that is not there is NotFound, and one of
// Banyan's own Denied.
func (e *Engine) GraphDelete(ctx context.Context, graph ontology.IRI) error {
	if e.closing.Load() {
		return errClosing()
	}
	switch graph {
	case ontology.GraphSnapshots, ontology.GraphHost, ontology.GraphBuiltin:
		return errs.New(errs.Denied, "the graph <%s> is Banyan's own; it cannot be deleted", graph)
	}
	leave, err := e.updates.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	there, err := e.GraphExists(ctx, graph)
	if err != nil {
		return err
	}
	if !there {
		return errs.New(errs.NotFound, "there is no graph <%s>", graph)
	}
	if err := e.store.Update(ctx, func(tx *kg.Tx) error { return tx.DeleteGraph(graph) }); err != nil {
		return err
	}
	e.cannot.clear()
	return nil
}

// exportUnnamed writes the unnamed graph.
func (e *Engine) exportUnnamed(ctx context.Context, w io.Writer, format ttl.Format) error {
	out := ttl.NewWriter(w, ttl.WriterOptions{Format: format, Prefixes: queryPrefixes})
	for q, err := range e.store.Match(ctx, graphPattern("")) {
		if err == nil {
			err = out.Write(ttl.Triple{S: q.S, P: q.P, O: q.O})
		}
		if err != nil {
			return err
		}
	}
	return out.Close()
}
