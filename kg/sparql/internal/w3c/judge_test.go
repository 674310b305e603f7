package w3c_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan/kg/sparql/internal/w3c"
	"github.com/seed-ff860830/banyan/kg/sparql/results"
	"github.com/seed-ff860830/banyan/ttl"
)

func judgeDataset(want w3c.Dataset) (mutants int, err error) {
	if err := w3c.CompareDatasets(want, want); err != nil {
		return 0, fmt.Errorf("is not like itself: %w", err)
	}
	for name, wrong := range w3c.MutateDataset(want) {
		if w3c.CompareDatasets(wrong, want) == nil {
			return 0, fmt.Errorf("%s is not seen", name)
		}
		mutants++
	}
	return mutants, nil
}

func judgeAnswer(want *w3c.Expected) (mutants int, err error) {
	if err := want.Compare(want.Answer); err != nil {
		return 0, fmt.Errorf("is not like itself: %w", err)
	}
	for name, wrong := range w3c.Mutations(want.Answer) {
		if want.Compare(wrong) == nil {
			return 0, fmt.Errorf("%s is not seen", name)
		}
		mutants++
	}
	return mutants, nil
}

// rows makes a table of terms as Turtle writes them.
func rows(t *testing.T, vars string, lines ...string) *results.Set {
	t.Helper()
	doc := vars + "\n" + strings.Join(lines, "\n")
	set, err := results.Read(strings.NewReader(doc), results.TSV, results.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestJudgeOfTables(t *testing.T) {
	for name, c := range map[string]struct {
		e         w3c.Expected
		want, got []string
		same      bool
	}{
		"another order":                    {want: []string{"1\t2", "3\t4"}, got: []string{"3\t4", "1\t2"}, same: true},
		"another order where it counts":    {e: w3c.Expected{Ordered: true}, want: []string{"1\t2", "3\t4"}, got: []string{"3\t4", "1\t2"}},
		"the order where it counts":        {e: w3c.Expected{Ordered: true}, want: []string{"1\t2", "3\t4", "1\t2"}, got: []string{"1\t2", "3\t4", "1\t2"}, same: true},
		"blank nodes renamed":              {want: []string{"_:a\t_:b", "_:b\t1"}, got: []string{"_:b\t_:x", "_:x\t1"}, same: true},
		"blank nodes not linked":           {want: []string{"_:a\t_:b", "_:b\t1"}, got: []string{"_:a\t_:b", "_:c\t1"}},
		"blank nodes crossed":              {want: []string{"_:a\t1", "_:b\t2", "_:a\t3"}, got: []string{"_:a\t1", "_:b\t2", "_:b\t3"}},
		"duplicates":                       {want: []string{"1\t1", "1\t1", "2\t2"}, got: []string{"1\t1", "1\t1", "2\t2"}, same: true},
		"another row twice":                {want: []string{"1\t1", "1\t1", "2\t2"}, got: []string{"1\t1", "2\t2", "2\t2"}},
		"fewer duplicates":                 {want: []string{"1\t1", "1\t1"}, got: []string{"1\t1"}},
		"fewer duplicates where they may":  {e: w3c.Expected{Lax: true}, want: []string{"1\t1", "1\t1"}, got: []string{"1\t1"}, same: true},
		"more duplicates where fewer may":  {e: w3c.Expected{Lax: true}, want: []string{"1\t1"}, got: []string{"1\t1", "1\t1"}},
		"none where fewer may":             {e: w3c.Expected{Lax: true}, want: []string{"1\t1"}, got: []string{}},
		"a value swapped":                  {want: []string{"1\t2"}, got: []string{"2\t1"}},
		"unbound":                          {want: []string{"1\t"}, got: []string{"1\t"}, same: true},
		"the empty string":                 {want: []string{"1\t"}, got: []string{"1\t\"\""}},
		"another form of an integer":       {want: []string{"1\t1"}, got: []string{"1\t01"}},
		"another form of a decimal":        {want: []string{"1\t2.0"}, got: []string{"1\t2.00"}, same: true},
		"a decimal a little off":           {want: []string{"1\t0.333333333333333333333333"}, got: []string{"1\t0.333333333333333333333334"}},
		"another form of a double":         {want: []string{"1\t2.0E0"}, got: []string{"1\t2e0"}, same: true},
		"a decimal for a double":           {want: []string{"1\t2.0"}, got: []string{"1\t2e0"}},
		"the case of a language":           {want: []string{"1\t\"a\"@en-US"}, got: []string{"1\t\"a\"@EN-us"}, same: true},
		"another language":                 {want: []string{"1\t\"a\"@en"}, got: []string{"1\t\"a\"@de"}},
		"a string for a number":            {want: []string{"1\t1"}, got: []string{"1\t\"1\""}},
		"a string for a number, no types":  {e: w3c.Expected{Plain: true, Format: results.CSV}, want: []string{"\"1\"\t\"1.0E6\""}, got: []string{"1\t1.0e6"}, same: true},
		"another number where are no type": {e: w3c.Expected{Plain: true, Format: results.CSV}, want: []string{"\"1\"\t\"1.0E6\""}, got: []string{"1\t1.0e7"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := c.e
			e.Set = rows(t, "?a\t?b", c.want...)
			err := e.Compare(w3c.Answer{Set: rows(t, "?a\t?b", c.got...)})
			if (err == nil) != c.same {
				t.Errorf("Compare: %v, want the same: %t", err, c.same)
			}
			if _, err := judgeAnswer(&e); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestJudgeOfOtherForms(t *testing.T) {
	yes, no := true, false
	truth, lie := w3c.Answer{Set: &results.Set{Boolean: &yes}}, w3c.Answer{Set: &results.Set{Boolean: &no}}
	table := w3c.Answer{Set: rows(t, "?a", "1")}
	graph := w3c.Answer{Graph: []ttl.Triple{{S: ttl.NewBlank("a"), P: ttl.NewIRI("x:p"), O: ttl.NewBlank("b")}}}
	other := w3c.Answer{Graph: []ttl.Triple{{S: ttl.NewBlank("a"), P: ttl.NewIRI("x:p"), O: ttl.NewBlank("a")}}}
	all := []w3c.Answer{truth, lie, table, {Set: rows(t, "?b", "1")}, graph, other, {}}
	for i, want := range all {
		for j, got := range all {
			e := w3c.Expected{Answer: want}
			if err := e.Compare(got); (err == nil) != (i == j) {
				t.Errorf("answer %d for %d: %v", j, i, err)
			}
		}
		if _, err := judgeAnswer(&w3c.Expected{Answer: want}); err != nil {
			t.Errorf("answer %d: %v", i, err)
		}
	}
}

func TestJudgeOfDatasets(t *testing.T) {
	t1 := ttl.Triple{S: ttl.NewBlank("a"), P: ttl.NewIRI("x:p"), O: ttl.NewString("1")}
	t2 := ttl.Triple{S: ttl.NewBlank("b"), P: ttl.NewIRI("x:p"), O: ttl.NewString("1")}
	one := w3c.Dataset{"": {t1}, "x:g": {t1, t2}}
	if err := w3c.CompareDatasets(w3c.DatasetOf(one.Quads()), w3c.Dataset{"": {t2}, "x:g": {t2, t1}, "x:empty": nil}); err != nil {
		t.Error(err)
	}
	if n, err := judgeDataset(one); err != nil || n != 7 {
		t.Errorf("%d mutations are seen, want 7: %v", n, err)
	}
	if w3c.CompareDatasets(w3c.Dataset{"": {t1}}, w3c.Dataset{"x:g": {t1}}) == nil {
		t.Error("another graph is not seen")
	}
}

// fixture writes files below a folder that stands for the suites.
func fixture(t *testing.T, files map[string]string) w3c.Files {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return w3c.Files{Dir: dir}
}

const head = `
@prefix mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#> .
@prefix qt: <http://www.w3.org/2001/sw/DataAccess/tests/test-query#> .
@prefix ut: <http://www.w3.org/2009/sparql/tests/test-update#> .
@prefix rs: <http://www.w3.org/2001/sw/DataAccess/tests/result-set#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix : <https://example.org/tests/manifest#> .
`

func TestManifestsAreRead(t *testing.T) {
	f := fixture(t, map[string]string{
		"manifest.ttl": head + `[] a mf:Manifest ; mf:include ( <a/manifest.ttl> ) .`,
		"a/manifest.ttl": head + `<> a mf:Manifest ; mf:entries ( :good :bad :eval :update ) .
:good a mf:PositiveSyntaxTest11 ; mf:action <good.rq> .
:bad a mf:NegativeUpdateSyntaxTest11 ; mf:action <bad.ru> .
:eval a mf:QueryEvaluationTest ; mf:resultCardinality mf:LaxCardinality ;
  mf:action [ qt:query <q.rq> ; qt:data <d.ttl> ; qt:graphData <g.ttl> ] ; mf:result <r.srx> .
:update a mf:UpdateEvaluationTest ;
  mf:action [ ut:request <u.ru> ; ut:graphData [ ut:graph <g.ttl> ; rdfs:label "http://example.org/g" ] ] ; mf:result [] .`,
		"a/q.rq": "SELECT * FROM <g.ttl> from NAMED <h.ttl> FROM <http://elsewhere.example/> {}",
	})
	got, err := f.Load("manifest.ttl")
	if err != nil {
		t.Fatal(err)
	}
	const a = w3c.Base + "a/"
	want := []w3c.Test{
		{Name: "good", Folder: "a", Kind: w3c.QuerySyntax, Text: a + "good.rq"},
		{Name: "bad", Folder: "a", Kind: w3c.UpdateSyntax, Bad: true, Text: a + "bad.ru"},
		{
			Name: "eval", Folder: "a", Kind: w3c.Evaluation, Text: a + "q.rq", Result: a + "r.srx", Lax: true,
			Before: w3c.DatasetFiles{Default: []string{a + "d.ttl"}, Named: []w3c.GraphFile{{Name: a + "g.ttl", File: a + "g.ttl"}, {Name: a + "h.ttl", File: a + "h.ttl"}}},
		},
		{
			Name: "update", Folder: "a", Kind: w3c.UpdateEval, Text: a + "u.ru",
			Before: w3c.DatasetFiles{Named: []w3c.GraphFile{{Name: "http://example.org/g", File: a + "g.ttl"}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, text := range []string{
		`<> a mf:Manifest ; mf:entries ( :x ) . :x a mf:NoSuchTest ; mf:action <q.rq> .`,
		`<> a mf:Manifest ; mf:entries ( :x ) . :x a mf:PositiveSyntaxTest ; mf:action <../../q.rq> .`,
		`<> a mf:Manifest ; mf:entries ( :x ) . :x a mf:PositiveSyntaxTest .`,
		`<> a mf:Manifest ; mf:include ( <nothing.ttl> ) .`,
		`<> mf:entries ( :x ) .`,
		`<> a mf:Manifest . :other a mf:Manifest .`,
		`<> a mf:Manifest ; mf:entries`,
	} {
		if tests, err := fixture(t, map[string]string{"manifest.ttl": head + text}).Load("manifest.ttl"); err == nil && !strings.Contains(text, "..") {
			t.Errorf("%s: %v, want an error", text, tests)
		}
	}
	if _, err := f.Text(w3c.Base + "../secret"); err == nil {
		t.Error("a file outside of the folder was read")
	}
}

func TestResultSetsAreReadFromTurtleAndRDFXML(t *testing.T) {
	f := fixture(t, map[string]string{
		"q.rq":  "SELECT ?x ?y { { SELECT * { } ORDER BY ?y } } ORDER BY ?x",
		"r.ttl": head + `[] a rs:ResultSet ; rs:resultVariable "x", "y" ; rs:solution [ rs:index 2 ; rs:binding [ rs:variable "x" ; rs:value _:b ], [ rs:variable "y" ; rs:value 1 ] ], [ rs:index 1 ] .`,
		"r.rdf": `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rs="http://www.w3.org/2001/sw/DataAccess/tests/result-set#">
<rs:ResultSet><rs:resultVariable>x</rs:resultVariable><rs:resultVariable>y</rs:resultVariable>
<rs:solution rdf:parseType="Resource"><rs:index>2</rs:index><rs:binding rdf:parseType="Resource"><rs:variable>y</rs:variable><rs:value rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">1</rs:value></rs:binding>
<rs:binding><rdf:Description><rs:variable>x</rs:variable><rs:value rdf:nodeID="b"/></rdf:Description></rs:binding></rs:solution>
<rs:solution rdf:parseType="Resource"><rs:index>1</rs:index></rs:solution></rs:ResultSet></rdf:RDF>`,
		"yes.ttl":   head + `[] a rs:ResultSet ; rs:boolean true .`,
		"graph.ttl": head + `:a :b :c .`,
	})
	want := rows(t, "?x\t?y", "\t", "_:z\t1")
	for _, file := range []string{"r.ttl", "r.rdf"} {
		e, err := f.Expected(w3c.Test{Text: w3c.Base + "q.rq", Result: w3c.Base + file})
		if err != nil {
			t.Fatal(err)
		}
		if !e.Ordered {
			t.Errorf("%s: the order does not count", file)
		}
		if err := e.Compare(w3c.Answer{Set: want}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		slices.Reverse(e.Set.Rows)
		if err := e.Compare(w3c.Answer{Set: want}); err == nil {
			t.Errorf("%s: the order is not seen", file)
		}
	}
	yes, err := f.Expected(w3c.Test{Text: w3c.Base + "q.rq", Result: w3c.Base + "yes.ttl"})
	if err != nil || yes.Set == nil || yes.Set.Boolean == nil || !*yes.Set.Boolean {
		t.Errorf("a boolean: %+v, %v", yes, err)
	}
	graph, err := f.Expected(w3c.Test{Text: w3c.Base + "q.rq", Result: w3c.Base + "graph.ttl"})
	if err != nil || graph.Set != nil || len(graph.Graph) != 1 || graph.Ordered {
		t.Errorf("a graph: %+v, %v", graph, err)
	}
}

func TestOnlyTheQuerysOwnOrderCounts(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT * {} ORDER BY ?x":                                  true,
		"select * {} order by ?x":                                  true,
		"SELECT * { { SELECT * {} ORDER BY ?x } }":                 false,
		"# ORDER BY\nSELECT * {}":                                  false,
		"PREFIX o: <http://e/ORDER> SELECT * { ?x o:p 'ORDER BY'}": false,
		"SELECT * { FILTER(1 < 2) ?s ?p \"}\" } ORDER BY ?s":       true,
		`SELECT * { ?s ?p "\"}" FILTER(?s<?p) } ORDER BY ?s`:       true,
	} {
		f := fixture(t, map[string]string{"q.rq": text, "r.tsv": "?a\n"})
		e, err := f.Expected(w3c.Test{Text: w3c.Base + "q.rq", Result: w3c.Base + "r.tsv"})
		if err != nil || e.Ordered != want {
			t.Errorf("%q orders: %+v %v, want %t", text, e, err, want)
		}
	}
}

func TestRDFXMLBeyondTheSuitesIsRefused(t *testing.T) {
	for _, body := range []string{
		`<x/>`,
		`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:ID="x"/></rdf:RDF>`,
		`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description><a xmlns="x:" rdf:parseType="Collection"/></rdf:Description></rdf:RDF>`,
		`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">text</rdf:RDF>`,
		`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">`,
	} {
		f := fixture(t, map[string]string{"d.rdf": body})
		if ts, err := f.Graph(w3c.Base+"d.rdf", "b"); err == nil {
			t.Errorf("%s: %v, want an error", body, ts)
		}
	}
}
