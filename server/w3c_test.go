package server_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// The namespaces of the manifests.
const (
	nsMF  = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
	nsUT  = "http://www.w3.org/2009/sparql/tests/test-update#"
	nsHT  = "http://www.w3.org/2011/http#"
	nsHTS = "http://www.w3.org/2011/http-statusCodes#"
	nsCNT = "http://www.w3.org/2011/content#"
)

// protocolDiffers lists the tests that are not met, each with the reason.
var protocolDiffers = map[string]string{
	"put_get_repeat_direct":        "direct graph identification (a URL for each graph) is not offered",
	"put_delete_get_delete_direct": "direct graph identification is not offered",
	"post_get_post_get_direct":     "direct graph identification is not offered",
	"head_existing_direct":         "direct graph identification is not offered",
	"post_get_post_get_indirect":   "a form of several files is not taken: a merge is one document, all or nothing",
	"post_get_new_graph":           "a graph is named by who makes it: POST without a graph is refused",
}

// manifest is a graph that is walked by predicates.
type manifest map[ttl.Term]map[string][]ttl.Term

func readManifest(t *testing.T, file string) (manifest, ttl.Term) {
	t.Helper()
	const base = "http://example.org/m/"
	triples := parseGraph(t, readFile(t, file), base+path.Base(file))
	m := manifest{}
	for _, q := range triples {
		if m[q.S] == nil {
			m[q.S] = map[string][]ttl.Term{}
		}
		m[q.S][q.P.Value] = append(m[q.S][q.P.Value], q.O)
	}
	return m, ttl.NewIRI(base + path.Base(file))
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func parseGraph(t *testing.T, text, base string) (out []ttl.Triple) {
	t.Helper()
	r := ttl.NewReader(strings.NewReader(text), ttl.Options{Base: base})
	for {
		q, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		out = append(out, q)
	}
}

func (m manifest) all(s ttl.Term, p string) []ttl.Term { return m[s][p] }

func (m manifest) one(s ttl.Term, p string) ttl.Term {
	if o := m[s][p]; len(o) > 0 {
		return o[0]
	}
	return ttl.Term{}
}

func (m manifest) list(l ttl.Term) (out []ttl.Term) {
	for l.Value != ttl.RDFNil && !l.IsZero() {
		out = append(out, m.one(l, ttl.RDFFirst))
		l = m.one(l, ttl.RDFRest)
	}
	return out
}

// headers reads the list of headers of a request or an answer.
func (m manifest) headers(of ttl.Term) map[string]string {
	out := map[string]string{}
	for _, h := range m.list(m.one(of, nsHT+"headers")) {
		out[http.CanonicalHeaderKey(m.one(h, nsHT+"fieldName").Value)] = m.one(h, nsHT+"fieldValue").Value
	}
	return out
}

// TestW3CProtocols runs the W3C tests of the SPARQL 1.1 Protocol and of the
// Graph Store HTTP Protocol, as their manifests describe the requests.
func TestW3CProtocols(t *testing.T) {
	dir := os.Getenv("BANYAN_W3C_DIR")
	if dir == "" {
		const why = "BANYAN_W3C_DIR does not name a copy of the W3C rdf-tests"
		if os.Getenv("BANYAN_REQUIRE_W3C") == "1" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	for _, suite := range []struct {
		file         string
		tests, meets int
	}{
		{"protocol/manifest.ttl", 34, 34},
		{"graph-store-protocol/manifest-indirect.ttl", 9, 7},
		{"graph-store-protocol/manifest-direct.ttl", 4, 0},
	} {
		file := filepath.Join(dir, "sparql", "sparql11", filepath.FromSlash(suite.file))
		m, root := readManifest(t, file)
		tests := m.list(m.one(root, nsMF+"entries"))
		passed := 0
		for _, test := range tests {
			name := test.Value[strings.LastIndexByte(test.Value, '#')+1:]
			if _, differs := protocolDiffers[name]; differs {
				continue
			}
			if t.Run(name, func(t *testing.T) { runProtocolTest(t, m, test, filepath.Dir(file)) }) {
				passed++
			}
		}
		t.Logf("%-45s %2d of %2d", suite.file, passed, len(tests))
		if len(tests) != suite.tests || passed != suite.meets {
			t.Errorf("%s: %d of %d tests pass, want %d of %d", suite.file, passed, len(tests), suite.meets, suite.tests)
		}
	}
}

func runProtocolTest(t *testing.T, m manifest, test ttl.Term, dir string) {
	r := startGraph(t, nil)
	for _, d := range m.all(test, nsUT+"graphData") {
		graph := m.one(d, ontology.RDFS+"label").Value
		data := readFile(t, filepath.Join(dir, path.Base(m.one(d, nsUT+"graph").Value)))
		if _, err := r.eng.Import(t.Context(), strings.NewReader(data), banyan.ImportOptions{Graph: ontology.IRI(graph), Format: "ntriples"}); err != nil {
			t.Fatal(err)
		}
	}
	isUpdate := strings.Contains(test.Value, "update")
	for _, req := range m.list(m.one(m.one(test, nsMF+"action"), nsHT+"requests")) {
		headers := m.headers(req)
		where := m.one(req, nsHT+"absolutePath").Value
		method := m.one(req, nsHT+"methodName").Value
		_, query, _ := strings.Cut(where, "?")
		switch {
		case strings.HasPrefix(where, "/gsp"):
			where = "/graphs?" + query
		case isUpdate && method == "POST" && !strings.HasPrefix(headers["Content-Type"], "application/sparql-query"):
			where = "/sparql/update?" + query
		default:
			where = "/sparql?" + query
		}
		body := m.one(req, nsHT+"body")
		text := m.one(body, nsCNT+"chars").Value
		if m.one(body, nsCNT+"characterEncoding").Value == "UTF-16" {
			text = inUTF16(text)
		}
		send := []string{"Content-Type: "}
		for name, value := range headers {
			send = append(send, name+": "+value)
		}
		judgeAnswer(t, m, m.one(req, nsHT+"resp"), r.do(method, where, text, send...))
	}
}

func inUTF16(s string) string {
	b := []byte{0xFE, 0xFF}
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.BigEndian.AppendUint16(b, u)
	}
	return string(b)
}

// judgeAnswer compares an answer with what the manifest expects.
func judgeAnswer(t *testing.T, m manifest, want ttl.Term, got reply) {
	t.Helper()
	if got.err != nil {
		t.Fatal(got.err)
	}
	names := map[string]int{"OK": 200, "Created": 201, "NoContent": 204, "NotFound": 404, "StatusCode2xx": 2, "StatusCode3xx": 3, "StatusCode4xx": 4}
	allowed := m.all(want, nsMF+"expectedStatus")
	if !slices.ContainsFunc(allowed, func(s ttl.Term) bool {
		n, ok := names[strings.TrimPrefix(s.Value, nsHTS)]
		if !ok {
			t.Fatalf("a status that the test does not know: %s", s.Value)
		}
		return n == got.status || n == got.status/100
	}) {
		t.Fatalf("status %d, want %v: %s", got.status, allowed, got.body)
	}
	ct := got.header.Get("Content-Type")
	for name, value := range m.headers(want) {
		if got.header.Get(name) != value {
			t.Errorf("%s: %q, want %q", name, got.header.Get(name), value)
		}
	}
	switch m.one(want, nsMF+"expectedFormat").Value {
	case "boolean", "tabular":
		if !strings.HasPrefix(ct, "application/sparql-results+json") {
			t.Errorf("Content-Type %q", ct)
		}
	case "RDF":
		if !strings.HasPrefix(ct, "text/turtle") {
			t.Errorf("Content-Type %q", ct)
		}
	}
	if b := m.one(want, nsMF+"expectedBoolean"); !b.IsZero() && !strings.Contains(got.body, `"boolean":`+b.Value) {
		t.Errorf("body %s, want the boolean %s", got.body, b.Value)
	}
	if b := m.one(want, nsHT+"body"); !b.IsZero() {
		if diff := cmp.Diff(coloured(parseGraph(t, m.one(b, nsCNT+"chars").Value, "")), coloured(parseGraph(t, got.body, ""))); diff != "" {
			t.Errorf("another graph (-want +got):\n%s", diff)
		}
	}
}

// coloured writes a graph's triples with each blank node named by what is said
// of it: enough to compare graphs whose blank nodes differ in that.
func coloured(g []ttl.Triple) (out []string) {
	colour := map[ttl.Term]string{}
	show := func(t ttl.Term) string {
		if t.Kind == ttl.Blank {
			return "_:(" + colour[t] + ")"
		}
		return fmt.Sprintf("%d %q %s %s", t.Kind, t.Value, t.Lang, t.Datatype)
	}
	for range 3 {
		next := map[ttl.Term]string{}
		for _, q := range g {
			for _, side := range [...]struct {
				node ttl.Term
				says string
			}{{q.S, show(q.P) + " " + show(q.O)}, {q.O, show(q.S) + " ^" + show(q.P)}} {
				if side.node.Kind == ttl.Blank {
					parts := append(strings.Split(next[side.node], "|"), side.says)
					slices.Sort(parts)
					next[side.node] = strings.Join(parts, "|")
				}
			}
		}
		colour = next
	}
	for _, q := range g {
		out = append(out, show(q.S)+" "+show(q.P)+" "+show(q.O))
	}
	slices.Sort(out)
	return out
}
