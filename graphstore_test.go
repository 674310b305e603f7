package banyan

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
)

func exported(t *testing.T, e *Engine, o ExportOptions) string {
	t.Helper()
	var b bytes.Buffer
	o.Format = "ntriples"
	if err := e.Export(t.Context(), &b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMergeKeepsWhatIsThereAndMakesNewBlankNodes(t *testing.T) {
	e := graphEngine(t, nil)
	for n, o := range []ImportOptions{{Graph: "urn:g", Merge: true}, {Unnamed: true, Merge: true}} {
		for i := range 2 {
			rep, err := e.Import(t.Context(), strings.NewReader(`<urn:a> <urn:p> [ <urn:q> 1 ], 7 .`), o)
			if err != nil {
				t.Fatal(err)
			}
			// The ground triple is one; the blank node is another each time.
			if want := 3 + 2*i; rep.Triples != want || rep.Replaced != i*3 {
				t.Errorf("case %d, merge %d: %+v, want %d triples", n, i, rep, want)
			}
		}
	}
	got := exported(t, e, ExportOptions{Unnamed: true})
	if n := strings.Count(got, "\n"); n != 5 {
		t.Errorf("the unnamed graph has %d lines, want 5 and nothing of the named ones:\n%s", n, got)
	}
}

func TestUnnamedGraphIsReplaced(t *testing.T) {
	e := graphEngine(t, nil)
	for range 2 {
		rep, err := e.Import(t.Context(), strings.NewReader(`<urn:a> <urn:p> [ <urn:q> 1 ] .`), ImportOptions{Unnamed: true})
		if err != nil || rep.Triples != 2 {
			t.Fatalf("%+v, %v", rep, err)
		}
	}
	before := exported(t, e, ExportOptions{Unnamed: true})
	rep, err := e.Import(t.Context(), strings.NewReader(`<urn:b> <urn:p> 2 .`), ImportOptions{Unnamed: true, DryRun: true})
	if err != nil || rep.Triples != 1 || rep.Replaced != 2 {
		t.Errorf("dry run: %+v, %v", rep, err)
	}
	if got := exported(t, e, ExportOptions{Unnamed: true}); got != before {
		t.Errorf("a dry run changed the graph:\n%s", got)
	}
}

// A declaration is believed whichever graph it stands in, so each way into a
// graph checks it.
func TestEveryWayInChecksDeclarations(t *testing.T) {
	e := graphEngine(t, nil)
	before := e.store.Triples()
	const bad = `@prefix bn: <` + ontology.Base + "> .\n<urn:x> bn:exec \"/bin/sh\" ."
	for _, o := range []ImportOptions{{Graph: "urn:g"}, {Graph: "urn:g", Merge: true}, {Unnamed: true}, {Unnamed: true, Merge: true}} {
		if _, err := e.Import(t.Context(), strings.NewReader(bad), o); errs.KindOf(err) != errs.Invalid {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, o := range []ImportOptions{{Graph: ontology.GraphSnapshots, Merge: true}, {Graph: ontology.GraphBuiltin}} {
		if _, err := e.Import(t.Context(), strings.NewReader(`<urn:x> <urn:p> 1 .`), o); errs.KindOf(err) != errs.Denied {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, o := range []ImportOptions{{Merge: true, Name: "x.ttl"}, {Unnamed: true, Graph: "urn:g"}} {
		if _, err := e.Import(t.Context(), strings.NewReader(``), o); errs.KindOf(err) != errs.Invalid {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if n := e.store.Triples(); n != before {
		t.Errorf("refused writes left %d triples of %d", n, before)
	}
}

func TestGraphDelete(t *testing.T) {
	e := graphEngine(t, nil)
	mustUpdate(t, e, `INSERT DATA { <urn:a> <urn:p> 1 . GRAPH <urn:g> { <urn:a> <urn:p> 2 } }`)
	for graph, want := range map[ontology.IRI]bool{"urn:g": true, "urn:none": false, "": true} {
		if got, err := e.GraphExists(t.Context(), graph); err != nil || got != want {
			t.Errorf("exists <%s>: %v, %v", graph, got, err)
		}
	}
	if err := e.GraphDelete(t.Context(), "urn:g"); err != nil {
		t.Error(err)
	}
	if err := e.GraphDelete(t.Context(), "urn:g"); errs.KindOf(err) != errs.NotFound {
		t.Errorf("deleted twice: %v", err)
	}
	if err := e.GraphDelete(t.Context(), ontology.GraphBuiltin); errs.KindOf(err) != errs.Denied {
		t.Errorf("Banyan's own: %v", err)
	}
	for range 2 { // it is always there
		if err := e.GraphDelete(t.Context(), ""); err != nil {
			t.Error(err)
		}
	}
	if got := exported(t, e, ExportOptions{Unnamed: true}); got != "" {
		t.Errorf("after its deletion the unnamed graph holds %s", got)
	}
}
