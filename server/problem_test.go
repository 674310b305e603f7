package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/planner"
	"github.com/seed-ff860830/banyan/server"
)

// failing is an engine whose execute returns err.
func failing(err error) *fake {
	return &fake{execute: func(context.Context, banyan.Job) (*banyan.Result, error) { return nil, err }}
}

func TestEveryKindHasItsStatus(t *testing.T) {
	for _, k := range errs.Kinds() {
		r := start(t, failing(fmt.Errorf("execute: %w", errs.Wrap(k, errors.New("open /etc/secret"), "the sentence").WithHint("the hint"))), nil)
		a := r.do("POST", "/v1/execute", `{"code":"1"}`)
		p := r.trouble(a, k.HTTPStatus())
		if p.Kind != k.String() || strings.Contains(a.body, "secret") {
			t.Errorf("%s: %s", k, a.body)
		}
		hidden := k == errs.Internal
		if (p.Message == "the sentence") == hidden || (p.Hint == "the hint") == hidden {
			t.Errorf("%s: message %q, hint %q", k, p.Message, p.Hint)
		}
		retry := p.Status == 429 || p.Status == 503
		if got := a.header.Get("Retry-After"); (got == "1") != retry || (p.RetryAfterMS == 1000) != retry {
			t.Errorf("%s: Retry-After %q, retry_after_ms %d", k, got, p.RetryAfterMS)
		}
		if hidden && !strings.Contains(r.log.String(), "secret") {
			t.Errorf("the log does not have what the caller does not see: %s", r.log)
		}
	}
}

func TestUnclassifiedErrorsAreHiddenAndLogged(t *testing.T) {
	r := start(t, failing(errors.New("dial /root/secret.sock")), nil)
	a := r.do("POST", "/v1/execute", `{"code":"1"}`, "X-Request-Id: rid-1")
	p := r.trouble(a, 500)
	if strings.Contains(a.body, "secret") || p.Kind != "internal" {
		t.Errorf("body %s", a.body)
	}
	var line map[string]any
	if err := json.Unmarshal([]byte(r.log.String()), &line); err != nil {
		t.Fatal(err)
	}
	if line["request_id"] != "rid-1" || line["level"] != "ERROR" || !strings.Contains(fmt.Sprint(line["error"]), "secret") {
		t.Errorf("log line %v", line)
	}
}

// rungError is what an engine returns when a rung has failed.
type rungError struct {
	error
	plan any
	wait time.Duration
}

func (e rungError) Unwrap() error             { return e.error }
func (e rungError) FailedPlan() any           { return e.plan }
func (e rungError) RetryAfter() time.Duration { return e.wait }

func TestRungFailureCarriesThePlan(t *testing.T) {
	plan := planner.Plan{Choice: planner.Choice{Rung: "forkserver"}, Why: []string{"it is the best"}}
	r := start(t, failing(fmt.Errorf("run: %w", rungError{error: errs.New(errs.RungFailed, "the rung failed"), plan: plan})), nil)
	p := r.trouble(r.do("POST", "/v1/execute", `{"code":"1"}`), 502)
	if m, ok := p.Plan.(map[string]any); !ok || m["rung"] != "forkserver" {
		t.Errorf("plan %v", p.Plan)
	}
	// A plan that has no JSON must not take the error with it.
	r = start(t, failing(rungError{error: errs.New(errs.RungFailed, "the rung failed"), plan: make(chan int)}), nil)
	if p := r.trouble(r.do("POST", "/v1/execute", `{"code":"1"}`), 502); p.Plan != nil || p.Message != "the rung failed" {
		t.Errorf("problem %+v", p)
	}
}

func TestRetryAfterIsRoundedUpAndBounded(t *testing.T) {
	for wait, want := range map[time.Duration]string{0: "1", 1500 * time.Millisecond: "2", 240 * time.Hour: "3600"} {
		r := start(t, failing(rungError{error: errs.New(errs.Exhausted, "full"), wait: wait}), nil)
		if a := r.do("POST", "/v1/execute", `{"code":"1"}`); a.status != 429 || a.header.Get("Retry-After") != want {
			t.Errorf("%v: %d, Retry-After %q, want %q", wait, a.status, a.header.Get("Retry-After"), want)
		}
	}
}

func TestUnsupportedListsEachRungsReason(t *testing.T) {
	parts := []errs.Part{{Pointer: "wasm", Detail: "numpy is not available in wasm"}, {Pointer: "local", Detail: "is off"}}
	r := start(t, failing(errs.New(errs.Unsupported, "no rung can run this").WithParts(parts...)), nil)
	p := r.trouble(r.do("POST", "/v1/execute", `{"code":"1"}`), 422)
	if diff := cmp.Diff(parts, p.Errors); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

func TestB26_BadFileNameIsNamed(t *testing.T) {
	r := start(t, &fake{execute: func(_ context.Context, j banyan.Job) (*banyan.Result, error) {
		return nil, errs.New(errs.Invalid, "the file's name leaves the work directory").WithID(j.Files[0].Path).
			WithParts(errs.Part{Pointer: "/files/0/path", Detail: "leaves the work directory"})
	}}, nil)
	for _, name := range []string{"../x", "/abs", "a\u0000b", "<&>\"\\"} {
		body, err := json.Marshal(banyan.Job{Code: "1", Files: []banyan.File{{Path: name, Text: new(string)}}})
		if err != nil {
			t.Fatal(err)
		}
		p := r.trouble(r.do("POST", "/v1/execute", string(body)), 400)
		if !strings.Contains(p.Message, name) || len(p.Errors) != 1 || p.Errors[0].Pointer != "/files/0/path" {
			t.Errorf("%q: problem %+v", name, p)
		}
	}
}

func TestB24_InvalidRequestsReachNoEngine(t *testing.T) {
	r := start(t, &fake{}, nil) // any call would be a 500
	for _, tc := range []struct{ name, body, pointer, says string }{
		{"unknown member", `{"code":"1","limit":{}}`, "/limit", `did you mean \"limits\"?`},
		{"unknown nested", `{"code":"1","limits":{"wall":1}}`, "/limits/wall", `unknown member`},
		{"twice", `{"code":"1","code":"2"}`, "/code", "more than once"},
		{"wrong type", `{"code":1}`, "/code", "must be a string, not a number"},
		{"enum", `{"code":"1","isolation":"armour"}`, "/isolation", "armour"},
		{"trailing", `{"code":"1"}{}`, "", "something follows"},
		{"array", `[]`, "", "must be an object"},
		{"not JSON", `code=1`, "", "not valid JSON"},
		{"not UTF-8", "{\"code\":\"\xff\"}", "", "not UTF-8"},
		{"negative mode", `{"code":"1","files":[{"path":"a","mode":-1}]}`, "/files/0/mode", "must not be negative"},
	} {
		for _, path := range []string{"/v1/execute", "/v1/plan"} {
			a := r.do("POST", path, tc.body)
			p := r.trouble(a, 400)
			if len(p.Errors) == 0 || p.Errors[0].Pointer != tc.pointer || !strings.Contains(a.body, tc.says) {
				t.Errorf("%s: %s", tc.name, a.body)
			}
		}
	}
	for _, path := range []string{"/v1/execute", "/v1/warm", "/v1/snapshots/" + snapID + "/branch"} {
		if p := r.trouble(r.do("POST", path, ""), 400); !strings.Contains(p.Message, "empty") {
			t.Errorf("%s: %+v", path, p)
		}
		r.trouble(r.do("POST", path, `{"nope":1}`), 400)
		r.trouble(r.do("POST", path+"?x=1", `{}`), 400)
	}
	r.trouble(r.do("POST", "/v1/reap", `{"al":true}`), 400)
}

func TestB43_NamesAndIRIsThatCarrySyntax(t *testing.T) {
	imported := 0
	r := start(t, &fake{
		imports: func(_ context.Context, rd io.Reader, o banyan.ImportOptions) (banyan.ImportReport, error) {
			imported++
			_, err := io.Copy(io.Discard, rd)
			return banyan.ImportReport{Graph: o.Graph}, err
		},
		export: func(context.Context, io.Writer, banyan.ExportOptions) error { imported++; return nil },
	}, nil)
	for _, iri := range []string{
		"http://e/x> } ; DROP ALL #", `x" } UNION { ?s ?p ?o } #`, `a\\`, "http://e/\n", "http://e/a b", `http://e/\u003E`, "?s", "", "relative",
		":x", "1a:x", "http:", "http://e/\x00", "http://e/\xff", "urn:" + strings.Repeat("x", 3000),
	} {
		q := "/graphs?graph=" + escape(iri)
		r.trouble(r.do("PUT", q, "x", "Content-Type: text/turtle"), 400)
		r.trouble(r.do("GET", q, ""), 400)
	}
	for _, name := range []string{"../x.ttl", "a/b.ttl", `a\b.ttl`, "a\nb.ttl", "..", strings.Repeat("x", 300) + ".ttl", "\xff.ttl"} {
		r.trouble(r.do("PUT", "/graphs?name="+escape(name), "x", "Content-Type: text/turtle"), 400)
	}
	for _, q := range []string{"?graph=urn:x&graph=urn:y", "?graph=urn:x&dryrun=true", "?graph=urn:x&dry_run=yes", "?graph=urn:x&dry_run=", "?default=x", "?default&graph=urn:x", "", "?graph=%zz"} {
		r.trouble(r.do("PUT", "/graphs"+q, "x", "Content-Type: text/turtle"), 400)
	}
	for _, q := range []string{"?limit=0", "?limit=1001", "?limit=x", "?limit=", "?live=2", "?cursor=" + strings.Repeat("x", 300), "?offset=1"} {
		r.trouble(r.do("GET", "/v1/snapshots"+q, ""), 400)
	}
	for _, id := range []string{"sn_x>", "nope", "sn_..%2f..", "sn_" + strings.Repeat("a", 100), "%00", "sn_a%20b"} {
		r.trouble(r.do("GET", "/v1/snapshots/"+id, ""), 404)
		r.trouble(r.do("GET", "/v1/snapshots/"+id+"/lineage", ""), 404)
		r.trouble(r.do("DELETE", "/v1/snapshots/"+id, ""), 404)
		r.trouble(r.do("POST", "/v1/snapshots/"+id+"/branch", "{}"), 404)
	}
	if imported != 0 {
		t.Fatalf("%d bad requests reached the engine", imported)
	}
	if a := r.do("PUT", "/graphs?graph="+escape("http://e/%20ünï?q#f"), "x", "Content-Type: text/turtle"); a.status != 201 {
		t.Errorf("a legal IRI: %d %s", a.status, a.body)
	}
}

// escape percent-encodes every byte.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02X", s[i])
	}
	return b.String()
}

func TestMediaTypes(t *testing.T) {
	r := start(t, &fake{}, nil)
	for _, h := range []string{
		"Content-Type: text/plain", "Content-Type: application/x-www-form-urlencoded", "Content-Type: ", "Content-Type: application/json; charset=latin1",
		"Content-Type: ;;", "Content-Encoding: gzip",
	} {
		a := r.do("POST", "/v1/execute", `{"code":"1"}`, h)
		p := r.trouble(a, 415)
		if !strings.Contains(a.header.Get("Accept"), "application/json") || p.Hint == "" {
			t.Errorf("%s: %v %+v", h, a.header, p)
		}
	}
	for _, h := range []string{"Content-Type: application/rdf+xml", "Content-Type: ", "Content-Encoding: deflate"} {
		r.trouble(r.do("PUT", "/graphs?graph=urn:x", "x", "Content-Type: text/turtle", h), 415)
	}
	for _, accept := range []string{"text/html", "text/event-stream", "application/json;q=0"} {
		r.trouble(r.do("POST", "/v1/execute", `{"code":"1"}`, "Accept: "+accept), 406)
	}
	for _, accept := range []string{"application/json", "text/html, */*;q=0.1", "application/*"} {
		if a := r.do("GET", "/healthz", "", "Accept: "+accept); a.status != 200 {
			t.Errorf("Accept %s: %d", accept, a.status)
		}
	}
}

func TestB33_BodiesAreBounded(t *testing.T) {
	reads := 0
	r := start(t, &fake{
		execute: func(context.Context, banyan.Job) (*banyan.Result, error) { return &banyan.Result{}, nil },
		imports: func(_ context.Context, rd io.Reader, _ banyan.ImportOptions) (banyan.ImportReport, error) {
			reads++
			_, err := io.Copy(io.Discard, rd)
			if err != nil {
				err = errs.Wrap(errs.Invalid, err, "the file ends in the middle")
			}
			return banyan.ImportReport{}, err
		},
	}, func(c *server.Config) { c.MaxBodyBytes, c.MaxImportBytes = 10_000, 10_000 })
	fits := `{"code":"` + strings.Repeat("x", 10_000-11) + `"}`
	if len(fits) != 10_000 {
		t.Fatal(len(fits))
	}
	if a := r.do("POST", "/v1/execute", fits); a.status != 200 {
		t.Errorf("a body of just the limit: %d %s", a.status, a.body)
	}
	r.trouble(r.do("POST", "/v1/execute", fits+" "), 413)
	r.trouble(r.do("POST", "/v1/execute", strings.Repeat(" ", 1<<20)), 413)
	r.trouble(r.do("PUT", "/graphs?graph=urn:x", strings.Repeat(" ", 10_001), "Content-Type: text/turtle"), 413)
	if reads != 0 {
		t.Error("an import that says it is too large reached the engine")
	}
	for _, path := range []string{"POST /v1/execute", "PUT /graphs?graph=urn:x"} {
		// Chunked: no length is claimed, so the bytes themselves must be counted.
		a := r.raw(path+" HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+typeFor(path)+"\r\nTransfer-Encoding: chunked\r\n\r\n",
			strings.Repeat("1000\r\n"+strings.Repeat(" ", 0x1000)+"\r\n", 4), "0\r\n\r\n")
		if !strings.HasPrefix(a, "HTTP/1.1 413 ") {
			t.Errorf("%s: %.200s", path, a)
		}
	}
	// A length that is claimed and never sent takes no memory and no runner.
	conn := r.dial()
	defer conn.Close()
	fmt.Fprintf(conn, "POST /v1/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{")
	if a := r.do("POST", "/v1/execute", `{"code":"1"}`); a.status != 200 {
		t.Errorf("beside a stalled body: %d", a.status)
	}
	for _, bad := range []string{"Content-Length: -1", "Content-Length: 99999999999999999999", "Transfer-Encoding: chunked\r\nContent-Length: 3", "Transfer-Encoding: nope"} {
		if a := r.raw("POST /v1/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"+bad+"\r\n\r\n", "zzz\r\n"); !strings.HasPrefix(a, "HTTP/1.1 4") && !strings.HasPrefix(a, "HTTP/1.1 501") {
			t.Errorf("%q: %.100s", bad, a)
		}
	}
}

func typeFor(path string) string {
	if strings.HasPrefix(path, "PUT") {
		return "text/turtle"
	}
	return "application/json"
}

func TestB45_DeepNestingIsAnError(t *testing.T) {
	r := start(t, &fake{imports: func(_ context.Context, rd io.Reader, _ banyan.ImportOptions) (banyan.ImportReport, error) {
		if _, err := io.Copy(io.Discard, rd); err != nil {
			return banyan.ImportReport{}, err
		}
		return banyan.ImportReport{}, errs.New(errs.Invalid, "nested deeper than 64 levels").
			WithParts(errs.Part{Pointer: "deep.ttl:1:5", Detail: "nested deeper than 64 levels"})
	}}, nil)
	p := r.trouble(r.do("PUT", "/graphs?graph=urn:x&name=deep.ttl", strings.Repeat("[ :p ", 100_000), "Content-Type: text/turtle"), 400)
	if len(p.Errors) != 1 || p.Errors[0].Pointer != "deep.ttl:1:5" {
		t.Errorf("problem %+v", p)
	}
	for _, body := range []string{strings.Repeat("[", 100_000), strings.Repeat(`{"limits":`, 100_000), `{"need":` + strings.Repeat("[", 100_000)} {
		if p := r.trouble(r.do("POST", "/v1/execute", body), 400); !strings.Contains(p.Message, "must be") && !strings.Contains(p.Message, "nested deeper") {
			t.Errorf("problem %+v", p)
		}
	}
	if a := r.do("GET", "/healthz", ""); a.status != 200 {
		t.Errorf("/healthz %d", a.status)
	}
}

func TestPanicIsA500WithoutDetail(t *testing.T) {
	r := start(t, &fake{execute: func(context.Context, banyan.Job) (*banyan.Result, error) { panic("secret of the engine") }}, nil)
	for _, key := range []string{"", "k"} {
		a := r.do("POST", "/v1/execute", `{"code":"1"}`, "Idempotency-Key: "+key)
		r.trouble(a, 500)
		if strings.Contains(a.body, "secret") || !strings.Contains(r.log.String(), "secret of the engine") || !strings.Contains(r.log.String(), "problem_test.go") {
			t.Errorf("body %s, log %s", a.body, r.log)
		}
	}
	// The panic under a key has left its trace: it is not run again.
	r.trouble(r.do("POST", "/v1/execute", `{"code":"1"}`, "Idempotency-Key: k"), 500)
	if n := strings.Count(r.log.String(), "secret of the engine"); n != 2 {
		t.Errorf("the engine was called %d times, want 2", n)
	}
}

// dial opens a bare connection.
func (r *rig) dial() net.Conn {
	r.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		r.t.Fatal(err)
	}
	return conn
}

// raw sends bytes and returns the first bytes of the answer.
func (r *rig) raw(pieces ...string) string {
	r.t.Helper()
	conn := r.dial()
	defer conn.Close()
	for _, p := range pieces {
		if _, err := io.WriteString(conn, p); err != nil {
			break // the server may have answered and closed already
		}
	}
	if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		r.t.Fatal(err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil && line == "" {
		r.t.Errorf("no answer: %v", err)
	}
	return line
}

func TestEngineErrorsComeThroughEveryRoute(t *testing.T) {
	r := start(t, &fake{ready: func() error { return errUnforeseen }}, nil)
	snap := "/v1/snapshots/" + snapID
	for _, tc := range []struct{ method, path, body string }{
		{"POST", "/v1/execute", "{}"},
		{"POST", "/v1/plan", "{}"},
		{"POST", "/v1/warm", "{}"},
		{"POST", snap + "/branch", "{}"},
		{"GET", "/v1/snapshots", ""},
		{"GET", snap, ""},
		{"GET", snap + "/lineage", ""},
		{"DELETE", snap, ""},
		{"GET", "/v1/status", ""},
		{"GET", "/v1/rungs", ""},
		{"GET", "/v1/doctor", ""},
		{"POST", "/v1/reap", ""},
		{"GET", "/graphs", ""},
		{"PUT", "/graphs?graph=urn:x", "x"},
		{"GET", "/readyz", ""},
	} {
		header := "Content-Type: application/json"
		status, kind := 500, "corrupt"
		if tc.path == "/readyz" {
			status, kind = 503, "unavailable"
		}
		if p := r.trouble(r.do(tc.method, tc.path, tc.body, header), status); p.Kind != kind {
			t.Errorf("%s %s: %+v", tc.method, tc.path, p)
		}
		sep := "?"
		if strings.Contains(tc.path, "?") {
			sep = "&"
		}
		p := r.trouble(r.do(tc.method, tc.path+sep+"nope=1", tc.body, header), 400)
		if len(p.Errors) != 1 || p.Errors[0].Pointer != "?nope" {
			t.Errorf("%s %s?nope: %+v", tc.method, tc.path, p)
		}
	}
}

func TestErrorsOfContextsGetAKind(t *testing.T) {
	for err, status := range map[error]int{
		fmt.Errorf("run: %w", context.DeadlineExceeded): 503,
		fmt.Errorf("run: %w", context.Canceled):         499,
	} {
		r := start(t, failing(err), nil)
		r.trouble(r.do("POST", "/v1/execute", `{"code":"1"}`), status)
	}
}

func TestPanicInTheMiddleOfAnAnswerBreaksItOff(t *testing.T) {
	r := start(t, &fake{export: func(_ context.Context, w io.Writer, _ banyan.ExportOptions) error {
		if _, err := io.WriteString(w, strings.Repeat("x", 1<<20)); err != nil {
			return err
		}
		panic("secret of the engine")
	}}, nil)
	if a := r.do("GET", "/graphs", ""); a.err == nil || strings.Contains(a.body, "secret") {
		t.Errorf("%d, %d bytes, %v", a.status, len(a.body), a.err)
	}
	eventually(t, "the panic is logged", func() bool { return strings.Contains(r.log.String(), "secret of the engine") })
}

func TestEmptyExportHasAStatus(t *testing.T) {
	r := start(t, &fake{export: func(context.Context, io.Writer, banyan.ExportOptions) error { return nil }}, nil)
	if a := r.do("GET", "/graphs", ""); a.status != 200 || a.body != "" || a.header.Get("Content-Type") != "application/n-quads" {
		t.Errorf("%d %q %v", a.status, a.body, a.header)
	}
}
