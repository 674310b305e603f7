package banyan

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
)

// graphEngine is an engine without rungs: the graph alone.
func graphEngine(t *testing.T, tweak func(*Config)) *Engine {
	t.Helper()
	cfg := Config{InMemory: true, Rungs: []rungs.Rung{}}
	if tweak != nil {
		tweak(&cfg)
	}
	e, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func mustUpdate(t *testing.T, e *Engine, text string) {
	t.Helper()
	if _, err := e.Update(t.Context(), text, UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// rowsOf reads a SELECT with one variable.
func rowsOf(t *testing.T, e *Engine, text string, o QueryOptions) (out []string, err error) {
	t.Helper()
	res, err := e.Query(t.Context(), text, o)
	if err != nil {
		return nil, err
	}
	for row, err := range res.Rows {
		if err != nil {
			return nil, err
		}
		out = append(out, row[0].Value)
	}
	return out, nil
}

func TestQueryKinds(t *testing.T) {
	e := graphEngine(t, nil)
	mustUpdate(t, e, `INSERT DATA { <urn:a> <urn:p> "1" . GRAPH <urn:g> { <urn:b> <urn:p> "2" } }`)
	got, err := rowsOf(t, e, `SELECT ?o { ?s <urn:p> ?o } ORDER BY ?o`, QueryOptions{})
	if err != nil || !cmp.Equal(got, []string{"1", "2"}) {
		t.Errorf("the default graph is the union of all: got %v, %v", got, err)
	}
	for name, tt := range map[string]struct {
		o    QueryOptions
		want []string
	}{
		"standard dataset":      {QueryOptions{StandardDataset: true}, []string{"1"}},
		"named by the protocol": {QueryOptions{DefaultGraphs: []ontology.IRI{"urn:g"}}, []string{"2"}},
	} {
		if got, err := rowsOf(t, e, `SELECT ?o { ?s <urn:p> ?o }`, tt.o); err != nil || !cmp.Equal(got, tt.want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, tt.want)
		}
	}
	res, err := e.Query(t.Context(), `ASK { <urn:b> ?p ?o }`, QueryOptions{})
	if err != nil || res.Kind != QueryAsk || !res.Bool {
		t.Errorf("ASK: %+v, %v", res, err)
	}
	for text, want := range map[string]QueryKind{`CONSTRUCT { ?s ?p "x" } WHERE { ?s ?p "1" . FILTER(?s = <urn:a>) }`: QueryConstruct, `DESCRIBE <urn:a>`: QueryDescribe} {
		res, err := e.Query(t.Context(), text, QueryOptions{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for tr, err := range res.Triples {
			if err != nil || tr.S.Value != "urn:a" {
				t.Errorf("%s: %v, %v", text, tr, err)
			}
			n++
		}
		if n != 1 || res.Kind != want {
			t.Errorf("%s: %d triples of %v", text, n, res.Kind)
		}
	}
}

func TestQueryBoundsAreErrors(t *testing.T) {
	e := graphEngine(t, func(c *Config) { c.MaxQueryRows = 3 })
	mustUpdate(t, e, `INSERT DATA { <urn:a> <urn:p> 1, 2, 3, 4 }`)
	for name, tt := range map[string]struct {
		text string
		o    QueryOptions
		want errs.Kind
	}{
		"rows of the engine":        {`SELECT ?o { <urn:a> <urn:p> ?o }`, QueryOptions{}, errs.TooLarge},
		"rows asked for":            {`SELECT ?o { <urn:a> <urn:p> ?o } LIMIT 2`, QueryOptions{MaxRows: 1}, errs.TooLarge},
		"no more than the engine's": {`SELECT ?o { <urn:a> <urn:p> ?o }`, QueryOptions{MaxRows: 10}, errs.TooLarge},
		"time":                      {`SELECT ?a { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . FILTER(?a = ?j && ?c = "none") }`, QueryOptions{Timeout: time.Nanosecond}, errs.Timeout},
		"syntax":                    {"SELECT ?o {\n ?s ?p }", QueryOptions{}, errs.Invalid},
		"service":                   {`SELECT ?s { SERVICE <http://e/> { ?s ?p ?o } }`, QueryOptions{}, errs.Unsupported},
	} {
		_, err := rowsOf(t, e, tt.text, tt.o)
		if errs.KindOf(err) != tt.want {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	_, err := e.Query(t.Context(), "SELECT ?o {\n ?s ?p }", QueryOptions{})
	var se *Error
	if !errors.As(err, &se) || len(se.Parts) != 1 || !strings.HasPrefix(se.Parts[0].Pointer, "2:") {
		t.Errorf("the place of a syntax error: %v, parts %v", err, se.Parts)
	}
}

// Places for queries are taken while an answer is read, and given back however
// the reading ends.
func TestQueriesQueue(t *testing.T) {
	e := graphEngine(t, func(c *Config) {
		c.MaxQueries, c.MaxQueriesQueued, c.QueryTimeout = 1, 1, 200*time.Millisecond
	})
	mustUpdate(t, e, `INSERT DATA { <urn:a> <urn:p> 1, 2 }`)
	const text = `SELECT ?o { <urn:a> <urn:p> ?o }`
	res, err := e.Query(t.Context(), text, QueryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range res.Rows {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rowsOf(t, e, text, QueryOptions{}); errs.KindOf(err) != errs.Exhausted {
			t.Errorf("a second query while the only place is taken: %v", err)
		}
		break
	}
	if got, err := rowsOf(t, e, text, QueryOptions{}); err != nil || len(got) != 2 {
		t.Errorf("after the first was broken off: %v, %v", got, err)
	}
}

func TestCloseEndsQueries(t *testing.T) {
	e := graphEngine(t, nil)
	mustUpdate(t, e, `INSERT DATA { <urn:a> <urn:p> 1, 2 }`)
	res, err := e.Query(t.Context(), `SELECT ?x { ?x ?y ?z . ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }`, QueryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	var last error
	first := true
	for _, err := range res.Rows {
		if first {
			first = false
			go func() { closed <- e.Close() }()
		}
		last = err
	}
	if errs.KindOf(last) != errs.Unavailable {
		t.Errorf("a query that Close ended: %v", last)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if _, err := e.Query(t.Context(), `ASK {}`, QueryOptions{}); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("a query after Close: %v", err)
	}
}

func TestUpdateRefusals(t *testing.T) {
	e := graphEngine(t, nil)
	before := e.store.Triples()
	for text, want := range map[string]errs.Kind{
		`INSERT DATA { GRAPH <` + string(ontology.GraphSnapshots) + `> { <urn:a> <urn:p> 1 } }`: errs.Denied,
		`DROP GRAPH <` + string(ontology.GraphBuiltin) + `>`:                                    errs.Denied,
		`LOAD <http://e/>`: errs.Unsupported,
		`INSERT DATA {`:    errs.Invalid,
	} {
		if _, err := e.Update(t.Context(), text, UpdateOptions{}); errs.KindOf(err) != want {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
	_, err := e.Update(t.Context(), `WITH <urn:g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }`, UpdateOptions{UsingGraphs: []ontology.IRI{"urn:g"}})
	if errs.KindOf(err) != errs.Invalid {
		t.Errorf("the protocol's dataset beside WITH: %v", err)
	}
	if n := e.store.Triples(); n != before {
		t.Errorf("refused updates left %d triples of %d", n, before)
	}
}

func TestQueryEndsWithItsContext(t *testing.T) {
	e := graphEngine(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	res, err := e.Query(ctx, `SELECT ?x { ?x ?y ?z . ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }`, QueryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var last error
	for _, err := range res.Rows {
		cancel()
		last = err
	}
	if errs.KindOf(last) != errs.Canceled {
		t.Errorf("the caller went away: %v", last)
	}
}
