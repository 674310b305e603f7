package sparql_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/kg/sparql"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// table runs a SELECT and returns its rows as text.
func table(t *testing.T, s *kg.Store, query string, o sparql.Options) ([]string, error) {
	t.Helper()
	r, err := sparql.Run(t.Context(), s, query, o)
	if err != nil {
		return nil, err
	}
	var out []string
	for row, err := range r.Rows {
		if err != nil {
			return out, err
		}
		var cells []string
		for _, c := range row {
			cells = append(cells, c.Value)
		}
		out = append(out, strings.Join(cells, " "))
	}
	return out, nil
}

func update(t *testing.T, s *kg.Store, text string) {
	t.Helper()
	if _, err := sparql.Update(t.Context(), s, text, sparql.Options{}); err != nil {
		t.Fatalf("update: %v", err)
	}
}

func TestSyntaxErrorsSayWhere(t *testing.T) {
	for text, place := range map[string]string{
		"SELECT *\n{ ?s ?p }":                       "line 2, column 9",
		"SELECT ?x { ?s é:p ?o }":                   "line 1, column 16",
		"ASK { FILTER(FOO(1)) }":                    "line 1, column 14",
		"SELECT (1 AS ?s) { ?s ?p ?o }":             "line 1, column 8",
		"SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o }":   "line 1, column 8",
		"ASK { ?s ?p ?o BIND(1 AS ?s) }":            "line 1, column 16",
		"ASK { _:a ?p ?o . OPTIONAL { _:a ?q 1 } }": "line 1, column 30",
	} {
		_, err := sparql.Parse(text, sparql.ParseOptions{})
		if err == nil || !strings.HasPrefix(err.Error(), place+":") {
			t.Errorf("%q: %v, want %s", text, err, place)
		}
	}
}

const people = `PREFIX : <http://e/> INSERT DATA {
	:a :knows :b . :b :knows :c . :c :knows :a . :a :age 30 . :b :age 20 .
	GRAPH :g { :a :age 30 . :d :age 40 } }`

func TestBoundsAreErrorsNeverShorterAnswers(t *testing.T) {
	s := openStore(t)
	update(t, s, people)
	const all = `SELECT * { ?s <http://e/age> ?o }`
	const product = `SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o }`
	for name, c := range map[string]struct {
		query string
		o     sparql.Options
		want  errs.Kind
	}{
		"rows":   {all, sparql.Options{MaxRows: 2}, errs.TooLarge},
		"memory": {all + ` ORDER BY ?o`, sparql.Options{MaxMemory: 300}, errs.TooLarge},
		"paths":  {`SELECT * { ?s <http://e/knows>+ ?o }`, sparql.Options{MaxPathSteps: 4}, errs.TooLarge},
		"time":   {product, sparql.Options{Timeout: 20 * time.Millisecond}, errs.Timeout},
	} {
		_, err := table(t, s, c.query, c.o)
		if err == nil || errs.KindOf(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if got, err := table(t, s, all, sparql.Options{MaxRows: 3}); err != nil || len(got) != 3 {
		t.Errorf("at the bound: %v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := sparql.Run(ctx, s, product, sparql.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var last error
	for _, err := range r.Rows {
		cancel()
		last = err
	}
	if errs.KindOf(last) != errs.Canceled {
		t.Errorf("cancelled: %v, want Canceled", last)
	}
}

func TestDefaultGraphIsTheUnionUnlessADatasetIsNamed(t *testing.T) {
	s := openStore(t)
	update(t, s, people)
	const q = `SELECT ?s { ?s <http://e/age> ?o } ORDER BY ?s`
	for name, c := range map[string]struct {
		query string
		o     sparql.Options
		want  []string
	}{
		"union":    {q, sparql.Options{}, []string{"http://e/a", "http://e/b", "http://e/d"}},
		"standard": {q, sparql.Options{StandardDataset: true}, []string{"http://e/a", "http://e/b"}},
		"protocol": {q, sparql.Options{DefaultGraphs: []ontology.IRI{"http://e/g"}}, []string{"http://e/a", "http://e/d"}},
		"from":     {`SELECT ?s FROM <http://e/g> { ?s <http://e/age> ?o } ORDER BY ?s`, sparql.Options{}, []string{"http://e/a", "http://e/d"}},
		"nowhere":  {`SELECT ?s FROM <http://e/none> { ?s ?p ?o }`, sparql.Options{}, nil},
		"graph":    {`SELECT ?g ?s { GRAPH ?g { ?s <http://e/age> 40 } }`, sparql.Options{}, []string{"http://e/g http://e/d"}},
	} {
		got, err := table(t, s, c.query, c.o)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s (-want +got) %v:\n%s", name, err, diff)
		}
	}
}

func TestSolutionsAreTheSpecifications(t *testing.T) {
	s := openStore(t)
	update(t, s, people)
	const pre = `PREFIX : <http://e/> `
	for query, want := range map[string][]string{
		// A subquery does not see the rows around it: LIMIT applies once.
		`SELECT ?s ?n { ?s :age 20 { SELECT (COUNT(*) AS ?n) { ?s :age ?x } } }`: {"http://e/b 3"},
		// A filter inside OPTIONAL sees the left side, one further inside does not.
		`SELECT ?s ?o { ?s :age ?a OPTIONAL { ?s :knows ?o FILTER(?a > 25) } } ORDER BY ?s`:       {"http://e/a http://e/b", "http://e/b ", "http://e/d "},
		`SELECT ?s ?o { ?s :age ?a OPTIONAL { { ?s :knows ?o FILTER(?a > 25) } } } ORDER BY ?s`:   {"http://e/a ", "http://e/b ", "http://e/d "},
		`SELECT ?s { ?s :age ?a MINUS { ?x :knows ?y } } ORDER BY ?s`:                             {"http://e/a", "http://e/b", "http://e/d"},
		`SELECT ?s { ?s :age ?a FILTER NOT EXISTS { ?s :knows ?y } }`:                             {"http://e/d"},
		`SELECT ?s { ?s :age ?a FILTER(?a > 35 || ?none) }`:                                       {"http://e/d"},
		`SELECT ?s { ?s :age ?a FILTER(?a > 35 && ?none) }`:                                       nil,
		`SELECT (COUNT(*) AS ?n) { ?s :nothing ?o }`:                                              {"0"},
		`SELECT (COUNT(*) AS ?n) { ?s :nothing ?o } GROUP BY ?s`:                                  nil,
		`SELECT (SUM(?a) AS ?n) (AVG(?a) AS ?m) { ?s :age ?a }`:                                   {"90 30.0"},
		`SELECT ?o { :a :knows+ ?o } ORDER BY ?o`:                                                 {"http://e/a", "http://e/b", "http://e/c"},
		`SELECT ?o { VALUES ?o { :a :zz } ?s :knows ?o }`:                                         {"http://e/a"},
		`SELECT ?x { VALUES ?x { 1 "a" :i } FILTER(isLiteral(?x)) } ORDER BY ?x OFFSET 1 LIMIT 1`: {"a"},
		// A GRAPH inside a GRAPH leaves the outer one's variable to the names of graphs.
		`SELECT ?x ?s FROM NAMED :g { GRAPH ?x { GRAPH :g { ?s :age 40 } } }`: {"http://e/g http://e/d"},
		`SELECT ?s { GRAPH ?s { GRAPH :g { ?s :age 40 } } }`:                  nil,
		`SELECT (1/3 AS ?x) {}`: {"0.333333333333333333333333"},
	} {
		got, err := table(t, s, pre+query, sparql.Options{})
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s (-want +got) %v:\n%s", query, err, diff)
		}
	}
}

func TestUpdateIsAllOrNothing(t *testing.T) {
	s := openStore(t)
	update(t, s, people)
	before := s.Triples()
	for text, want := range map[string]errs.Kind{
		`DELETE WHERE { <http://e/a> <http://e/age> ?o } ; LOAD <http://e/f>`:                           errs.Unsupported,
		`INSERT DATA { <http://e/z> <http://e/p> 1 } ; DROP GRAPH <http://e/none>`:                      errs.NotFound,
		`INSERT DATA { <http://e/z> <http://e/p> 1 } ; CREATE GRAPH <http://e/g>`:                       errs.Conflict,
		`INSERT { ?s ?p 1 } WHERE { SERVICE <http://e/x> { ?s ?p ?o } }`:                                errs.Unsupported,
		`INSERT DATA { <http://e/z> <http://e/p> 1 } ; DROP GRAPH <` + string(ontology.GraphHost) + `>`: errs.Denied,
	} {
		_, err := sparql.Update(t.Context(), s, text, sparql.Options{})
		if err == nil || errs.KindOf(err) != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		if got := s.Triples(); got != before {
			t.Errorf("%s left %d statements, want %d", text, got, before)
		}
	}
	// An operation sees what those before it did.
	update(t, s, `INSERT DATA { <http://e/n> <http://e/v> 1 } ; DELETE { ?s ?p ?o } INSERT { ?s ?p ?n } WHERE { ?s <http://e/v> ?o . ?s ?p ?o BIND(?o + 1 AS ?n) }`)
	got, err := table(t, s, `SELECT ?o { <http://e/n> <http://e/v> ?o }`, sparql.Options{})
	if diff := cmp.Diff([]string{"2"}, got); diff != "" || err != nil {
		t.Errorf("(-want +got) %v:\n%s", err, diff)
	}
}

func TestBanyansOwnGraphsAreNotWritable(t *testing.T) {
	s := openStore(t)
	for _, g := range []ontology.IRI{ontology.GraphSnapshots, ontology.GraphHost, ontology.GraphBuiltin} {
		name := "<" + string(g) + ">"
		for _, text := range []string{
			`INSERT DATA { GRAPH ` + name + ` { <http://e/s> <http://e/p> 1 } }`,
			`INSERT { GRAPH ?g { <http://e/s> <http://e/p> 1 } } WHERE { BIND(IRI("` + string(g) + `") AS ?g) }`,
			`WITH ` + name + ` INSERT { <http://e/s> <http://e/p> 1 } WHERE {}`,
			`CLEAR GRAPH ` + name, `DROP SILENT GRAPH ` + name, `COPY DEFAULT TO ` + name, `MOVE ` + name + ` TO DEFAULT`,
		} {
			if _, err := sparql.Update(t.Context(), s, text, sparql.Options{}); errs.KindOf(err) != errs.Denied || err == nil {
				t.Errorf("%s: %v, want Denied", text, err)
			}
		}
	}
	before, err := s.Count(t.Context(), ttl.Quad{G: ttl.NewIRI(string(ontology.GraphBuiltin))})
	if err != nil || before == 0 {
		t.Fatalf("the built-in graph holds %d, %v", before, err)
	}
	update(t, s, people)
	update(t, s, `DROP ALL`)
	if got := s.Triples(); got != before {
		t.Errorf("after DROP ALL there are %d statements, want Banyan's own %d", got, before)
	}
	if _, err := sparql.Update(t.Context(), s, `CLEAR GRAPH <`+string(ontology.GraphBuiltin)+`>`, sparql.Options{AllowSystem: true}); err != nil {
		t.Errorf("with AllowSystem: %v", err)
	}
}
