package sparql_test

import (
	"testing"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg/sparql"
)

// classified fails the test for an error that no caller could be shown.
func classified(t *testing.T, err error) {
	if k := errs.KindOf(err); err != nil && k != errs.Invalid && k != errs.TooLarge {
		t.Errorf("the parser's error is %s: %v", k, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`PREFIX : <http://e/> SELECT ?x (COUNT(DISTINCT ?y) AS ?n) { ?x :p/^:q*|!(a|^:r) ?y FILTER(?y IN (1, -2.5e3, "a"@en)) } GROUP BY ?x HAVING(COUNT(*) > 1) ORDER BY DESC(?n) LIMIT 5`,
		`CONSTRUCT { ?s ?p [] } WHERE { GRAPH ?g { ?s ?p (1 2) } OPTIONAL { ?s ?q ?r } MINUS { ?s a ?t } }`,
		`DESCRIBE <http://e/\u00e9> VALUES ?x { UNDEF """a"b""" }`, `ASK { { SELECT * { ?s ?p ?o } } UNION { BIND(IF(BOUND(?a), 1, 2) AS ?b) } }`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := sparql.Parse(text, sparql.ParseOptions{Base: "http://e/"})
		classified(t, err)
	})
}

func FuzzParseUpdate(f *testing.F) {
	for _, seed := range []string{
		`INSERT DATA { <s> <p> 1 GRAPH <g> { _:a <p> [] } } ; DELETE WHERE { ?s ?p ?o }`,
		`WITH <g> DELETE { ?s ?p ?o } INSERT { ?s ?p 1 } USING NAMED <h> WHERE { ?s ?p ?o }`,
		`LOAD SILENT <a> INTO GRAPH <b> ; CLEAR ALL ; DROP NAMED ; CREATE GRAPH <g> ; COPY DEFAULT TO <g> ; MOVE <a> TO <b> ; ADD <a> TO DEFAULT`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := sparql.ParseUpdate(text, sparql.ParseOptions{Base: "http://e/"})
		classified(t, err)
	})
}
