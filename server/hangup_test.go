package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/server"
	"github.com/seed-ff860830/banyan/ttl"
)

// endless is a query whose evaluation would take for ever and finds nothing.
const endless = `SELECT ?a { <http://e/many> <http://e/p> ?a, ?b, ?c, ?d, ?e, ?f FILTER(STRLEN(?a) + STRLEN(?f) > 1000) }`

// oneQuery lets one query run and one wait.
func oneQuery(c *banyan.Config) { c.MaxQueries, c.MaxQueriesQueued = 1, 1 }

func TestB33_ClientThatHangsUpEndsItsQuery(t *testing.T) {
	r := startGraph(t, oneQuery)
	r.mustUpdate(manyValues(60))
	for name, send := range map[string]func(context.Context) reply{
		"GET": func(ctx context.Context) reply {
			return r.send(ctx, "GET", "/sparql?query="+url.QueryEscape(endless), "")
		},
		"POST": func(ctx context.Context) reply {
			return r.send(ctx, "POST", "/sparql", endless, "Content-Type: application/sparql-query")
		},
	} {
		ctx, hangUp := context.WithCancel(t.Context())
		done := make(chan reply, 1)
		go func() { done <- send(ctx) }()
		eventually(t, "the query runs", func() bool { return r.queries() == 1 })
		hangUp()
		if a := <-done; a.err == nil {
			t.Fatalf("%s: answered %d %s", name, a.status, a.body)
		}
		eventually(t, "the query ended", func() bool { return r.queries() == 0 })
	}
	eventually(t, "it is logged as canceled", func() bool { return strings.Contains(r.log.String(), `"kind":"canceled"`) })
}

// queries tells how many queries hold a place, by asking for one: with a single
// place, and the caller's patience of a moment, it is none or one.
func (r *graphRig) queries() int {
	ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := r.eng.Query(ctx, "ASK {}", banyan.QueryOptions{})
	if err != nil {
		return 1
	}
	return 0
}

func TestQueriesOverload(t *testing.T) {
	r := startGraph(t, func(c *banyan.Config) {
		oneQuery(c)
		c.QueryTimeout = 300 * time.Millisecond
	})
	r.mustUpdate(manyValues(60))
	statuses := make(chan reply, 4)
	for range cap(statuses) {
		go func() { statuses <- r.get(endless) }()
	}
	busy := 0
	for range cap(statuses) {
		switch a := <-statuses; a.status {
		case http.StatusTooManyRequests:
			busy++
			if a.header.Get("Retry-After") == "" {
				t.Error("429 without Retry-After")
			}
		case http.StatusServiceUnavailable: // its time was over
			if p := r.trouble(a, 503); p.Kind != "timeout" {
				t.Errorf("problem %+v", p)
			}
		default:
			t.Errorf("status %d: %s", a.status, a.body)
		}
	}
	if busy == 0 {
		t.Error("nobody was turned away")
	}
	if a := r.get("ASK {}"); a.status != 200 {
		t.Errorf("afterwards: %d %s", a.status, a.body)
	}
}

// A client that does not read must not keep its query's place.
func TestSlowReaderLosesItsAnswer(t *testing.T) {
	ended := make(chan struct{})
	f := &fake{query: func(context.Context, string, banyan.QueryOptions) (*banyan.QueryResult, error) {
		return &banyan.QueryResult{Vars: []string{"x"}, Rows: func(yield func([]ttl.Term, error) bool) {
			for yield([]ttl.Term{ttl.NewString(strings.Repeat("x", 1000))}, nil) {
			}
			close(ended)
		}}, nil
	}}
	r := start(t, f, func(c *server.Config) { c.WriteTimeout = 50 * time.Millisecond })
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /sparql?query=x HTTP/1.1\r\nHost: localhost\r\nAccept: text/csv\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-ended // or the test's own time is over
}

// cut is an engine whose answers end with an error, after 100 kB.
var cut = &fake{query: func(context.Context, string, banyan.QueryOptions) (*banyan.QueryResult, error) {
	return &banyan.QueryResult{Vars: []string{"x"}, Rows: func(yield func([]ttl.Term, error) bool) {
		for range 100 {
			if !yield([]ttl.Term{ttl.NewString(strings.Repeat("x", 1000))}, nil) {
				return
			}
		}
		yield(nil, errs.New(errs.Timeout, "the time for the query is over"))
	}}, nil
}}

// In HTTP/1.0 an answer ends with its connection, so a cut one is reset.
func TestCutAnswerInHTTP10(t *testing.T) {
	r := start(t, cut, nil)
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /sparql?query=x HTTP/1.0\r\nHost: localhost\r\nAccept: text/csv\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(conn)
	if err == nil {
		t.Errorf("half an answer looks whole: %d bytes", len(b))
	}
	if a := r.do("GET", "/healthz", ""); a.status != 200 {
		t.Errorf("/healthz %d", a.status)
	}
}

// TestCutAnswerOnTheWire looks at the bytes: the last chunk of a whole answer
// must not be there.
func TestCutAnswerOnTheWire(t *testing.T) {
	r := start(t, cut, nil)
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /sparql?query=x HTTP/1.1\r\nHost: localhost\r\nAccept: text/csv\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(bufio.NewReader(conn))
	if !strings.HasPrefix(string(b), "HTTP/1.1 200 OK\r\n") || !strings.Contains(string(b), "Transfer-Encoding: chunked") {
		t.Fatalf("the answer begins %.200q, %v", b, err)
	}
	if strings.HasSuffix(string(b), "0\r\n\r\n") {
		t.Error("the answer ends as a whole one does")
	}
	if strings.Contains(string(b), "the time for the query") {
		t.Error("the error's text stands in the answer")
	}
}

// TestWritesNeedWhatImportsNeed: an update and a write to the graph store can
// declare what an import can; a query reads, and is fine on loopback.
func TestWritesNeedWhatImportsNeed(t *testing.T) {
	eng := startGraph(t, nil).eng
	sock, err := net.Listen("unix", filepath.Join(t.TempDir(), "b.sock"))
	if err != nil {
		t.Fatal(err)
	}
	sv := serve(t, eng, func(c *server.Config) { c.TrustLoopback = false }, listen(t), sock)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", sock.Addr().String())
	}
	unix := &rig{t: t, url: "http://banyan", log: sv.log, client: &http.Client{Transport: &http.Transport{DialContext: dial}}}
	defer unix.client.CloseIdleConnections()
	const turtle, update = "Content-Type: text/turtle", "Content-Type: application/sparql-update"
	for _, tc := range []struct {
		method, path, body, header string
		write                      bool
	}{
		{"POST", "/sparql/update", "INSERT DATA { <urn:a> <urn:p> 1 }", update, true},
		{"POST", "/sparql/update", "update=" + url.QueryEscape("INSERT DATA { <urn:a> <urn:p> 1 }"), formType, true},
		{"PUT", "/graphs?graph=urn:g", "<urn:a> <urn:p> 1 .", turtle, true},
		{"POST", "/graphs?graph=urn:g", "<urn:a> <urn:p> 2 .", turtle, true},
		{"POST", "/graphs?default", "<urn:a> <urn:p> 2 .", turtle, true},
		{"PUT", "/graphs?default", "<urn:a> <urn:p> 2 .", turtle, true},
		{"DELETE", "/graphs?graph=urn:g", "", turtle, true},
		{"DELETE", "/graphs?default", "", turtle, true},
		{"GET", "/v1/backup", "", "Accept: */*", true},
		{"GET", "/sparql?query=ASK%7B%7D", "", "Accept: */*", false},
		{"POST", "/sparql", "ASK {}", "Content-Type: application/sparql-query", false},
		{"GET", "/graphs?default", "", "Accept: */*", false},
	} {
		what := fmt.Sprintf("%s %s", tc.method, tc.path)
		a := sv.do(tc.method, tc.path, tc.body, tc.header)
		if tc.write {
			if p := sv.trouble(a, 403); p.Hint == "" {
				t.Errorf("%s over TCP: %+v", what, p)
			}
		} else if a.status != 200 {
			t.Errorf("%s over TCP: %d %s", what, a.status, a.body)
		}
		if a := unix.do(tc.method, tc.path, tc.body, tc.header); a.status/100 != 2 {
			t.Errorf("%s over the socket: %d %s", what, a.status, a.body)
		}
	}
	if there, err := eng.GraphExists(t.Context(), ontology.IRI("urn:g")); err != nil || there {
		t.Errorf("at the end urn:g is there: %v, %v", there, err)
	}
}

// Pages of other sites may neither ask nor change, on loopback without a token.
func TestForeignPagesAreRefusedSPARQL(t *testing.T) {
	r := startGraph(t, nil)
	for _, h := range []string{"Origin: http://evil.example", "Sec-Fetch-Site: cross-site", "Host: evil.example"} {
		r.trouble(r.get("ASK {}", h), 403)
		r.trouble(r.do("POST", "/sparql/update", "update=CLEAR+ALL", formType, h), 403)
		r.trouble(r.do("DELETE", "/graphs?default", "", h), 403)
	}
}
