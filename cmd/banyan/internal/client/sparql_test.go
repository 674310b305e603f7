package client

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
)

// answering is a client of a server that answers every request alike and, with
// cut, breaks the connection off then.
func answering(t *testing.T, ctype, body string, cut bool) (*Client, *http.Request) {
	t.Helper()
	seen := &http.Request{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*seen = *r.Clone(r.Context())
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", ctype)
		_, _ = io.WriteString(w, body)
		if cut {
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(srv.Close)
	c, err := New(Config{URL: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, seen
}

// drain reads an answer and returns how many rows or triples came.
func drain(res *banyan.QueryResult) (n int, err error) {
	if res.Rows != nil {
		for _, err := range res.Rows {
			if err != nil {
				return n, err
			}
			n++
		}
		return n, nil
	}
	for _, err := range res.Triples {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func TestQueryReadsEachForm(t *testing.T) {
	for _, c := range []struct {
		ctype, body string
		kind        banyan.QueryKind
		n           int
	}{
		{"text/tab-separated-values; charset=utf-8", "?x\n1\n2\n", banyan.QuerySelect, 2},
		{"text/tab-separated-values", "?x\n", banyan.QuerySelect, 0},
		{"application/n-triples", "<a:a> <a:b> <a:c> .\n", banyan.QueryConstruct, 1},
		{"application/sparql-results+json", `{"head":{},"boolean":true}`, banyan.QueryAsk, 0},
	} {
		cl, _ := answering(t, c.ctype, c.body, false)
		res, err := cl.Query(t.Context(), "…", banyan.QueryOptions{})
		if err != nil || res.Kind != c.kind {
			t.Errorf("%s: %+v, %v", c.ctype, res, err)
			continue
		}
		if c.kind == banyan.QueryAsk {
			if !res.Bool {
				t.Error("true became false")
			}
			continue
		}
		if n, err := drain(res); n != c.n || err != nil {
			t.Errorf("%s: %d, %v", c.ctype, n, err)
		}
	}
}

// An answer that stops in the middle, wherever that is, is an error.
func TestQueryThatBreaksOff(t *testing.T) {
	for _, c := range []struct{ ctype, body string }{
		{"text/tab-separated-values", ""},
		{"text/tab-separated-values", "?x\n1\n2\n"},
		{"text/tab-separated-values", "?x\n1\n\"half"},
		{"application/n-triples", ""},
		{"application/n-triples", "<a:a> <a:b> <a:c> .\n"},
		{"application/n-triples", "<a:a> <a:b"},
		{"application/sparql-results+json", `{"head":{},"bool`},
	} {
		cl, _ := answering(t, c.ctype, c.body, true)
		res, err := cl.Query(t.Context(), "…", banyan.QueryOptions{})
		if err == nil {
			_, err = drain(res)
		}
		if errs.KindOf(err) != errs.Unavailable || !strings.Contains(err.Error(), "in the middle of its answer") {
			t.Errorf("%s %q: %v", c.ctype, c.body, err)
		}
	}
}

func TestQueryRefusesAnotherAnswer(t *testing.T) {
	for _, c := range []struct{ ctype, body string }{
		{"text/html", "<p>no"},
		{"text/tab-separated-values", "<p>no"},
		{"text/tab-separated-values", "?x\n<p>no\n"},
		{"application/n-triples", "<p>no"},
		{"application/sparql-results+json", "[]"},
		{"application/sparql-results+json", `{"head":{"vars":[]},"results":{"bindings":[]}}`},
	} {
		cl, _ := answering(t, c.ctype, c.body, false)
		res, err := cl.Query(t.Context(), "…", banyan.QueryOptions{})
		if err == nil {
			_, err = drain(res)
		}
		if errs.KindOf(err) != errs.Unavailable || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%s %q: %v", c.ctype, c.body, err)
		}
	}
}

func TestQuerySendsTheDataset(t *testing.T) {
	cl, seen := answering(t, "text/tab-separated-values", "?x\n1\n2\n", false)
	g := []ontology.IRI{"http://e/a?b&c", "http://e/d"}
	res, err := cl.Query(t.Context(), "…", banyan.QueryOptions{DefaultGraphs: g, NamedGraphs: g[:1], MaxRows: 1})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := drain(res); n != 1 || errs.KindOf(err) != errs.TooLarge {
		t.Errorf("a longer answer: %d, %v", n, err)
	}
	q := seen.URL.Query()
	if len(q["default-graph-uri"]) != 2 || q.Get("default-graph-uri") != string(g[0]) || len(q["named-graph-uri"]) != 1 {
		t.Errorf("the query is %v", q)
	}
}

func TestUpdateReport(t *testing.T) {
	cl, seen := answering(t, "application/json", `{"operations":1,"inserted":2,"deleted":3,"cleared":4}`, false)
	rep, err := cl.Update(t.Context(), "…", banyan.UpdateOptions{UsingGraphs: []ontology.IRI{"a:b"}})
	if err != nil || rep != (banyan.UpdateReport{Operations: 1, Inserted: 2, Deleted: 3, Cleared: 4}) {
		t.Errorf("%+v, %v", rep, err)
	}
	if seen.Header.Get("Content-Type") != "application/sparql-update" || seen.URL.Query().Get("using-graph-uri") != "a:b" {
		t.Errorf("sent %v, %v", seen.Header, seen.URL)
	}
}
