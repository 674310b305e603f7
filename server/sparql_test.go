package server_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/ontology"
)

const formType = "Content-Type: application/x-www-form-urlencoded"

// The Accept headers are those that the named clients send.
func TestFormatsByAccept(t *testing.T) {
	r := startGraph(t, nil)
	r.mustUpdate(`INSERT DATA { <http://e/a> <http://e/p> "x" }`)
	const (
		sel    = `SELECT ?o { <http://e/a> <http://e/p> ?o }`
		ask    = `ASK { <http://e/a> ?p ?o }`
		cons   = `CONSTRUCT WHERE { <http://e/a> <http://e/p> ?o }`
		jsonCT = "application/sparql-results+json; charset=utf-8"
		xmlCT  = "application/sparql-results+xml; charset=utf-8"
		csvCT  = "text/csv; charset=utf-8; header=present"
		tsvCT  = "text/tab-separated-values; charset=utf-8"
		ttlCT  = "text/turtle; charset=utf-8"
		ntCT   = "application/n-triples"
	)
	for _, tc := range []struct{ client, accept, more, query, want string }{
		{"none", "", "", sel, jsonCT},
		{"curl", "*/*", "", sel, jsonCT},
		{"SPARQLWrapper, default", "application/sparql-results+xml", "", sel, xmlCT},
		{"SPARQLWrapper, JSON", "application/sparql-results+json,application/json,text/javascript,application/javascript", "&format=json&output=", sel, ""},
		{"SPARQLWrapper, JSON, with its parameter", "application/sparql-results+json,application/json,text/javascript,application/javascript", "&format=json", sel, jsonCT},
		{"SPARQLWrapper, CSV", "text/csv", "", sel, csvCT},
		{"SPARQLWrapper, TSV", "text/tab-separated-values", "", sel, tsvCT},
		{"SPARQLWrapper, Turtle", "application/turtle,text/turtle", "", cons, ttlCT},
		{"SPARQLWrapper, N3", "text/rdf+n3,application/n-triples,application/turtle,application/n3,text/n3", "", cons, ttlCT},
		{"rdflib, SELECT", "application/sparql-results+xml, application/rdf+xml", "", sel, xmlCT},
		{"rdflib, CSV", "text/csv, application/sparql-results+json;q=0.5", "", sel, csvCT},
		{"Jena, SELECT", "application/sparql-results+json, application/sparql-results+xml;q=0.9, text/tab-separated-values;q=0.7, text/csv;q=0.5, application/json;q=0.2, application/xml;q=0.2, */*;q=0.1", "", sel, jsonCT},
		{"Jena, ASK", "application/sparql-results+json, application/json;q=0.2, application/sparql-results+xml;q=0.9, application/xml;q=0.2, */*;q=0.1", "", ask, jsonCT},
		{"Jena, CONSTRUCT", "text/turtle,application/n-triples;q=0.9,application/ld+json;q=0.8,application/rdf+xml;q=0.7,application/trix+xml;q=0.4,*/*;q=0.3", "", cons, ttlCT},
		{"YASGUI, SELECT", "application/sparql-results+json,*/*;q=0.9", "", sel, jsonCT},
		{"YASGUI, CONSTRUCT", "text/turtle,*/*;q=0.9", "", cons, ttlCT},
		{"knakk/sparql, SELECT", "application/sparql-results+json", "", sel, jsonCT},
		{"knakk/sparql, CONSTRUCT", "", "&format=text/turtle", cons, ttlCT},
		{"Comunica", "application/sparql-results+json;q=1.0,application/sparql-results+xml;q=0.7", "", sel, jsonCT},
		{"RDF4J, CONSTRUCT", "application/rdf+xml;q=0.5, application/n-triples, text/plain;q=0.9, text/turtle;q=0.8", "", cons, ntCT},
		{"a browser", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "", sel, xmlCT},
		{"Java's own", "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", "", sel, jsonCT},
		{"text/xml", "text/xml", "", sel, xmlCT},
		{"q-values", "text/csv;q=0.5, text/tab-separated-values;q=0.501", "", sel, tsvCT},
		{"a format beats Accept", "text/csv", "&format=xml", sel, xmlCT},
		{"output is another name of format", "text/csv", "&output=tsv", sel, tsvCT},
		{"a media type as format", "text/csv", "&output=application%2Fsparql-results%2Bjson", sel, jsonCT},
		{"n-triples by name", "", "&format=nt", cons, ntCT},
		{"ASK has no CSV, but something else fits", "text/csv, */*;q=0.1", "", ask, jsonCT},
	} {
		a := r.get(tc.query, "Accept: "+tc.accept)
		if tc.more != "" {
			a = r.do("GET", "/sparql?query="+url.QueryEscape(tc.query)+tc.more, "", "Accept: "+tc.accept)
		}
		if tc.want == "" {
			r.trouble(a, 400)
			continue
		}
		if a.status != 200 || a.header.Get("Content-Type") != tc.want || !strings.Contains(a.header.Get("Vary"), "Accept") || a.body == "" {
			t.Errorf("%s: %d %q, want %q: %s", tc.client, a.status, a.header.Get("Content-Type"), tc.want, a.body)
		}
	}
	for _, tc := range []struct{ accept, more, query, offered string }{
		{"text/html", "", sel, "application/sparql-results+json"},
		{"text/turtle", "", sel, "text/csv"},
		{"text/csv", "", ask, "application/sparql-results+xml"},
		{"application/sparql-results+json", "", cons, "application/n-triples"},
		{"application/rdf+xml", "", cons, "text/turtle"},
		{"", "&format=turtle", sel, "text/csv"},
		{"", "&format=csv", cons, "text/turtle"},
	} {
		a := r.do("GET", "/sparql?query="+url.QueryEscape(tc.query)+tc.more, "", "Accept: "+tc.accept)
		if p := r.trouble(a, 406); !strings.Contains(p.Message, tc.offered) {
			t.Errorf("%s %s: the offers are not told: %s", tc.accept, tc.more, p.Message)
		}
	}
	r.trouble(r.do("GET", "/sparql?query=ASK%7B%7D&format=pdf", ""), 400)
}

func TestProtocolMistakes(t *testing.T) {
	r := startGraph(t, nil)
	before := r.triples()
	ask := "query=" + url.QueryEscape("ASK {}")
	const direct, update = "Content-Type: application/sparql-query", "Content-Type: application/sparql-update"
	for name, tc := range map[string]struct {
		method, path, body string
		headers            []string
		status             int
		says               string
	}{
		"no query":                         {"GET", "/sparql", "", nil, 400, "?query"},
		"an empty query":                   {"GET", "/sparql?query=%20", "", nil, 400, "?query"},
		"two queries":                      {"GET", "/sparql?" + ask + "&" + ask, "", nil, 400, "more than once"},
		"two queries, one in the form":     {"POST", "/sparql?" + ask, ask, []string{formType}, 400, "more than once"},
		"two queries, one as the body":     {"POST", "/sparql?" + ask, "ASK {}", []string{direct}, 400, "more than once"},
		"a query of bytes":                 {"GET", "/sparql?query=ASK%7B%7D%FF", "", nil, 400, "UTF-8"},
		"a body of bytes":                  {"POST", "/sparql", "ASK {} #\xff", []string{direct}, 400, "UTF-8"},
		"a broken escape":                  {"GET", "/sparql?query=%zz", "", nil, 400, "percent-encode"},
		"a broken escape in a form":        {"POST", "/sparql", "query=%zz", []string{formType}, 400, "form"},
		"an unknown parameter":             {"GET", "/sparql?" + ask + "&default-graph=urn:x", "", nil, 400, "default-graph"},
		"a graph that is no IRI":           {"GET", "/sparql?" + ask + "&default-graph-uri=x", "", nil, 400, "?default-graph-uri"},
		"a graph of none":                  {"GET", "/sparql?" + ask + "&named-graph-uri=", "", nil, 400, "?named-graph-uri"},
		"format and output":                {"GET", "/sparql?" + ask + "&format=json&output=json", "", nil, 400, "same"},
		"syntax":                           {"GET", "/sparql?query=" + url.QueryEscape("SELECT * {\n  ?s ?p }"), "", nil, 400, "line 2, column"},
		"an update as a query":             {"GET", "/sparql?query=" + url.QueryEscape("CLEAR ALL"), "", nil, 400, "line 1"},
		"an update by GET":                 {"GET", "/sparql?update=CLEAR+ALL", "", nil, 400, "no update"},
		"an update to the query's path":    {"POST", "/sparql", "update=CLEAR+ALL", []string{formType}, 400, "no update"},
		"an update's type to that path":    {"POST", "/sparql", "CLEAR ALL", []string{update}, 415, "sparql-update"},
		"a query to the update's path":     {"POST", "/sparql/update", ask, []string{formType}, 400, "no query"},
		"another charset":                  {"POST", "/sparql", "ASK {}", []string{direct + "; charset=latin1"}, 415, "latin1"},
		"multipart":                        {"POST", "/sparql", "--x--", []string{"Content-Type: multipart/form-data; boundary=x"}, 415, "multipart"},
		"no type":                          {"POST", "/sparql", "ASK {}", []string{"Content-Type: "}, 415, "Content-Type"},
		"JSON":                             {"POST", "/sparql", "{}", nil, 415, "application/json"},
		"a compressed body":                {"POST", "/sparql", "ASK {}", []string{direct, "Content-Encoding: gzip"}, 415, "gzip"},
		"SERVICE":                          {"GET", "/sparql?query=" + url.QueryEscape("ASK { SERVICE <http://e/> {} }"), "", nil, 422, "SERVICE"},
		"GET of the update's path":         {"GET", "/sparql/update", "", nil, 405, "method"},
		"PUT":                              {"PUT", "/sparql?" + ask, "", nil, 405, "method"},
		"no update":                        {"POST", "/sparql/update", "using-graph-uri=urn:x", []string{formType}, 400, "?update"},
		"a format for an update":           {"POST", "/sparql/update", "update=CLEAR+ALL&format=json", []string{formType}, 400, "format"},
		"a query's dataset for an update":  {"POST", "/sparql/update?default-graph-uri=urn:x", "CLEAR ALL", []string{update}, 400, "default-graph-uri"},
		"two datasets":                     {"POST", "/sparql/update?using-graph-uri=urn:x", "DELETE { ?s ?p ?o } USING <urn:y> WHERE { ?s ?p ?o }", []string{update}, 400, "USING"},
		"LOAD":                             {"POST", "/sparql/update", "LOAD <http://e/x>", []string{update}, 422, "LOAD"},
		"Banyan's own graph":               {"POST", "/sparql/update", "DROP GRAPH <" + string(ontology.GraphBuiltin) + ">", []string{update}, 403, "own"},
		"half an update":                   {"POST", "/sparql/update", "INSERT DATA { <urn:a> <urn:b> 1 } ; INSERT DATA {", []string{update}, 400, "line 1"},
		"too large a body":                 {"POST", "/sparql", "ASK {} #" + strings.Repeat("x", 17<<20), []string{direct}, 413, "bytes"},
		"too large a text":                 {"POST", "/sparql", "ASK {} #" + strings.Repeat("x", 5<<20), []string{direct}, 413, "larger"},
		"too deep":                         {"POST", "/sparql", "ASK " + strings.Repeat("{", 100_000), []string{direct}, 400, "deeper"},
		"both graphs":                      {"GET", "/graphs?graph=urn:x&default", "", nil, 400, "not both"},
		"a value for default":              {"GET", "/graphs?default=urn:x", "", nil, 400, "no value"},
		"DELETE of nothing":                {"DELETE", "/graphs", "", nil, 400, "needed"},
		"DELETE of a graph that is not":    {"DELETE", "/graphs?graph=urn:none", "", nil, 404, "urn:none"},
		"DELETE of Banyan's own":           {"DELETE", "/graphs?graph=" + url.QueryEscape(string(ontology.GraphBuiltin)), "", nil, 403, "own"},
		"POST of nothing":                  {"POST", "/graphs", "", []string{"Content-Type: text/turtle"}, 400, "needed"},
		"POST to Banyan's own":             {"POST", "/graphs?graph=" + url.QueryEscape(string(ontology.GraphSnapshots)), "<urn:a> <urn:b> 1 .", []string{"Content-Type: text/turtle"}, 403, "own"},
		"POST of a manifest":               {"POST", "/graphs?graph=urn:x", "{}", []string{"Content-Type: application/json"}, 415, "application/json"},
		"PUT of a manifest to the default": {"PUT", "/graphs?default", "{}", []string{"Content-Type: application/json"}, 415, "application/json"},
		"PUT of RDF/XML":                   {"PUT", "/graphs?graph=urn:x", "<x/>", []string{"Content-Type: application/rdf+xml"}, 415, "rdf+xml"},
		"PUT of broken Turtle":             {"PUT", "/graphs?default", "<urn:a> <urn:b>\n .", []string{"Content-Type: text/turtle"}, 400, ":2:"},
		"GET of a graph that is not":       {"GET", "/graphs?graph=urn:none", "", nil, 404, "urn:none"},
		"GET as RDF/XML":                   {"GET", "/graphs?default", "", []string{"Accept: application/rdf+xml"}, 406, "text/turtle"},
	} {
		t.Run(name, func(t *testing.T) {
			at := *r.rig
			at.t = t
			a := at.do(tc.method, tc.path, tc.body, tc.headers...)
			if p := at.trouble(a, tc.status); !strings.Contains(p.Message, tc.says) {
				t.Errorf("%q does not say %q", p.Message, tc.says)
			}
			if tc.status == 405 && a.header.Get("Allow") == "" {
				t.Error("405 without Allow")
			}
		})
	}
	if n := r.triples(); n != before {
		t.Errorf("mistakes left %d triples of %d", n, before)
	}
}

// A syntax error says its place in a form that programs can read.
func TestSyntaxErrorHasItsPlace(t *testing.T) {
	r := startGraph(t, nil)
	p := r.trouble(r.get("SELECT *\nWHERE { ?s ?p }"), 400)
	if len(p.Errors) != 1 || !strings.HasPrefix(p.Errors[0].Pointer, "2:") {
		t.Errorf("errors %+v", p.Errors)
	}
}

func TestUpdateReports(t *testing.T) {
	r := startGraph(t, nil)
	const update = "Content-Type: application/sparql-update"
	a := r.do("POST", "/sparql/update", `INSERT DATA { <urn:a> <urn:p> 1, 2 } ; DELETE DATA { <urn:a> <urn:p> 2 }`, update)
	if a.status != 200 || a.body != `{"operations":2,"inserted":2,"deleted":1,"cleared":0}`+"\n" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := r.do("POST", "/sparql/update", "update="+url.QueryEscape("CLEAR SILENT GRAPH <urn:x>"), formType, "Accept: text/turtle"); a.status != 204 || a.body != "" {
		t.Errorf("a client that takes no JSON: %d %s", a.status, a.body)
	}
	if a := r.do("PUT", "/graphs?graph=urn:g", "<urn:a> <urn:p> 1 .", "Content-Type: text/turtle", "Accept: text/turtle"); a.status != 201 || a.body != "" {
		t.Errorf("the same for a graph: %d %s", a.status, a.body)
	}
	if a := r.get(`ASK { <urn:a> <urn:p> 1 }`); !strings.Contains(a.body, "true") {
		t.Errorf("the update was not done: %s", a.body)
	}
}

func TestHeadSendsNoBody(t *testing.T) {
	r := startGraph(t, nil)
	r.mustUpdate(manyValues(60))
	for _, path := range []string{
		"/sparql?query=" + url.QueryEscape("SELECT ?a ?b { <http://e/many> <http://e/p> ?a, ?b }"),
		"/sparql?query=ASK%7B%7D", "/graphs", "/graphs?graph=http://e/many", "/graphs?default",
	} {
		if a := r.do("HEAD", path, ""); a.err != nil || a.status != 200 || a.body != "" || a.header.Get("Content-Type") == "" {
			t.Errorf("%s: %+v", path, a)
		}
	}
	for path, want := range map[string]int{"/sparql?query=x": 400, "/graphs?graph=urn:none": 404, "/sparql/update": 405} {
		if a := r.do("HEAD", path, ""); a.status != want {
			t.Errorf("%s: %d, want %d", path, a.status, want)
		}
	}
}

func TestAnswersAreCompressedIfThatIsWorthIt(t *testing.T) {
	r := startGraph(t, nil)
	r.mustUpdate(manyValues(60))
	r.client.Transport.(*http.Transport).DisableCompression = true
	const big = "SELECT ?a ?b { <http://e/many> <http://e/p> ?a, ?b }"
	plain := r.get(big)
	if plain.header.Get("Content-Encoding") != "" || len(plain.body) < 3600*120 {
		t.Fatalf("without Accept-Encoding: %v, %d bytes", plain.header, len(plain.body))
	}
	zipped := r.get(big, "Accept-Encoding: br, gzip")
	if zipped.header.Get("Content-Encoding") != "gzip" || !strings.Contains(zipped.header.Get("Vary"), "Accept-Encoding") || len(zipped.body) > len(plain.body)/4 {
		t.Fatalf("with it: %v, %d bytes", zipped.header, len(zipped.body))
	}
	z, err := gzip.NewReader(strings.NewReader(zipped.body))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(z); err != nil || string(b) != plain.body {
		t.Errorf("unzipped it is another answer: %v, %d bytes of %d", err, len(b), len(plain.body))
	}
	for _, a := range []reply{r.get("ASK {}", "Accept-Encoding: gzip"), r.get("ASK {", "Accept-Encoding: gzip"), r.get(big, "Accept-Encoding: gzip;q=0")} {
		if ce := a.header.Get("Content-Encoding"); ce != "" {
			t.Errorf("Content-Encoding %q for %d bytes", ce, len(a.body))
		}
	}
}

// An answer that breaks off after its first bytes must not look whole, in no
// format and no encoding; one that fails before is a problem.
func TestAnswersThatFail(t *testing.T) {
	r := startGraph(t, nil)
	r.mustUpdate(manyValues(100)) // 10,000 rows are twice the bound
	const late = "SELECT ?a ?b { <http://e/many> <http://e/p> ?a, ?b }"
	for _, query := range []string{late, "CONSTRUCT { ?a0 <http://e/p> [ <http://e/p> ?a, ?b ] } WHERE { <http://e/many> <http://e/p> ?a, ?b BIND(<http://e/x> AS ?a0) }"} {
		formats := []string{"text/csv", "text/tab-separated-values", "application/sparql-results+json", "application/sparql-results+xml"}
		if query != late {
			formats = []string{"text/turtle", "application/n-triples"}
		}
		for _, f := range formats {
			// Go's client asks for gzip by itself, and then unpacks.
			for _, encoding := range []string{"Accept-Encoding: identity", "Accept-Encoding: gzip", "X-None: 1"} {
				if a := r.get(query, "Accept: "+f, encoding); a.err == nil {
					t.Errorf("%s, %s: half an answer looks whole: %d, %d bytes", f, encoding, a.status, len(a.body))
				}
			}
		}
	}
	eventually(t, "the failure is logged", func() bool { return strings.Contains(r.log.String(), "limit of 5000 solutions") })
	p := r.trouble(r.get("SELECT ?none { <http://e/many> <http://e/p> ?a, ?b }", "Accept: text/csv"), 413)
	if !strings.Contains(p.Message, "5000") || p.Hint == "" {
		t.Errorf("problem %+v", p)
	}
}

func TestB43_QueriesCarryNoSyntaxOfTheirCallers(t *testing.T) {
	r := startGraph(t, nil)
	r.mustUpdate(`INSERT DATA { GRAPH <http://e/%20ünï> { <http://e/a> <http://e/p> 1 } }`)
	before := r.triples()
	evil := []string{"http://e/x> } ; DROP ALL #", `x" } UNION { ?s ?p ?o } #`, `a\\`, "http://e/\n", "http://e/a b", `http://e/\u003E`, "?s"}
	for _, iri := range evil {
		for _, path := range []string{
			"GET /sparql?query=ASK%7B%7D&default-graph-uri=", "GET /sparql?query=ASK%7B%7D&named-graph-uri=",
			"DELETE /graphs?graph=", "POST /graphs?graph=", "PUT /graphs?graph=", "GET /graphs?graph=",
		} {
			method, path, _ := strings.Cut(path, " ")
			r.trouble(r.do(method, path+escape(iri), "", "Content-Type: text/turtle"), 400)
		}
		for _, name := range []string{"using-graph-uri", "using-named-graph-uri"} {
			r.trouble(r.do("POST", "/sparql/update?"+name+"="+escape(iri), "DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }", "Content-Type: application/sparql-update"), 400)
		}
		// As a name it is just one that nothing has.
		if a := r.get("SELECT * { GRAPH ?g { ?s ?p ?o } FILTER(STR(?g) = " + quoted(iri) + ") }"); a.status != 200 || strings.Contains(a.body, `"value"`) {
			t.Errorf("%q as a literal: %d %s", iri, a.status, a.body)
		}
	}
	if n := r.triples(); n != before {
		t.Fatalf("%d triples, before %d", n, before)
	}
	if a := r.do("GET", "/sparql?query="+escape("ASK { ?s ?p 1 }")+"&default-graph-uri="+escape("http://e/%20ünï"), ""); !strings.Contains(a.body, "true") {
		t.Errorf("a legal IRI: %d %s", a.status, a.body)
	}
	if a := r.do("GET", "/graphs?graph="+escape("http://e/%20ünï"), ""); a.status != 200 {
		t.Errorf("a legal IRI in the graph store: %d %s", a.status, a.body)
	}
}

// quoted writes a SPARQL string.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func TestBase(t *testing.T) {
	r := startGraph(t, nil)
	a := r.get("CONSTRUCT { <s> <p> <> } WHERE {}", "Accept: application/n-triples")
	base := r.url + "/sparql"
	if want := "<" + r.url + "/s> <" + r.url + "/p> <" + base + "> .\n"; a.body != want {
		t.Errorf("got %s, want %s", a.body, want)
	}
}

func TestDefaultGraphIsTheUnion(t *testing.T) {
	r := startGraph(t, nil)
	r.mustUpdate(`INSERT DATA { <urn:a> <urn:p> "no name" . GRAPH <urn:g> { <urn:a> <urn:p> "g" } GRAPH <urn:h> { <urn:a> <urn:p> "h" } }`)
	for more, want := range map[string]string{
		"": "o\r\ng\r\nh\r\nno name\r\n", "&default-graph-uri=urn:g": "o\r\ng\r\n",
		"&default-graph-uri=urn:g&default-graph-uri=urn:h": "o\r\ng\r\nh\r\n", "&named-graph-uri=urn:g": "o\r\n",
	} {
		q := url.QueryEscape("SELECT ?o { <urn:a> <urn:p> ?o } ORDER BY ?o")
		if a := r.do("GET", "/sparql?query="+q+more, "", "Accept: text/csv"); a.body != want {
			t.Errorf("%q: %q, want %q", more, a.body, want)
		}
	}
}
