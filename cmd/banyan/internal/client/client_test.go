package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/sock"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// daemon starts a server with one handler and returns a client of it.
func daemon(t *testing.T, token string, h http.HandlerFunc) *Client {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return to(t, srv.URL, token)
}

func to(t *testing.T, url, token string) *Client {
	t.Helper()
	c, err := New(Config{URL: url, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func answer(status int, ctype, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", ctype)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func jsonAnswer(body string) http.HandlerFunc { return answer(200, "application/json", body) }

const someID = ontology.SnapshotID("sn_01JDZZZZZZZZZZZZZZZZZZZZZZ")

func TestURLs(t *testing.T) {
	for _, url := range []string{"http://127.0.0.1:1", "https://host", "http://[::1]:7878/", "unix:///run/banyan.sock"} {
		if _, err := New(Config{URL: url}); err != nil {
			t.Errorf("New(%q): %v", url, err)
		}
	}
	for _, url := range []string{"", "127.0.0.1:7878", "ftp://x", "unix://x", "unix:rel", "http://", "http://u:secret@h", "http://a b"} {
		_, err := New(Config{URL: url})
		if errs.KindOf(err) != errs.Invalid {
			t.Errorf("New(%q): %v; want invalid", url, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("New(%q) shows the password: %v", url, err)
		}
	}
	if got, want := UnixURL("/a b/#?%/s"), "/a b/#?%/s"; to(t, got, "").Name() != got {
		t.Errorf("UnixURL(%q) = %q", want, got)
	}
}

// What a request looks like on the wire: path, query, headers, body.
func TestRequests(t *testing.T) {
	zero := []string{}
	for _, tc := range []struct {
		name string
		do   func(context.Context, *Client) error
		want string
	}{
		{"execute", func(ctx context.Context, c *Client) error {
			_, err := c.Execute(ctx, banyan.Job{Code: "a<b", Need: zero})
			return err
		}, `POST /v1/execute application/json {"code":"a\u003cb","need":[]}`},
		{"need left out", func(ctx context.Context, c *Client) error {
			_, err := c.Plan(ctx, banyan.Job{Code: "x"})
			return err
		}, `POST /v1/plan application/json {"code":"x"}`},
		{"warm", func(ctx context.Context, c *Client) error {
			_, err := c.Warm(ctx, banyan.WarmRequest{Need: []string{"numpy"}})
			return err
		}, `POST /v1/warm application/json {"need":["numpy"]}`},
		{"branch", func(ctx context.Context, c *Client) error {
			_, err := c.Branch(ctx, someID, banyan.WarmRequest{Need: []string{"x"}})
			return err
		}, `POST /v1/snapshots/` + string(someID) + `/branch application/json {"need":["x"]}`},
		{"list", func(ctx context.Context, c *Client) error {
			_, err := c.Snapshots(ctx, banyan.ListOptions{Limit: 5, Cursor: "a&b", Live: true})
			return err
		}, `GET /v1/snapshots?cursor=a%26b&limit=5&live=true  `},
		{"show", func(ctx context.Context, c *Client) error { _, err := c.Snapshot(ctx, someID); return err }, "GET /v1/snapshots/" + string(someID) + "  "},
		{"lineage", func(ctx context.Context, c *Client) error { _, err := c.Lineage(ctx, someID); return err }, "GET /v1/snapshots/" + string(someID) + "/lineage  "},
		{"remove", func(ctx context.Context, c *Client) error { return c.Remove(ctx, someID) }, "DELETE /v1/snapshots/" + string(someID) + "  "},
		{"status", func(ctx context.Context, c *Client) error { _, err := c.Status(ctx); return err }, "GET /v1/status  "},
		{"rungs", func(ctx context.Context, c *Client) error { _, err := c.Rungs(ctx); return err }, "GET /v1/rungs  "},
		{"doctor", func(ctx context.Context, c *Client) error { _, err := c.Doctor(ctx); return err }, "GET /v1/doctor  "},
		{"reap", func(ctx context.Context, c *Client) error { _, err := c.Reap(ctx, true); return err }, `POST /v1/reap application/json {"all":true}`},
		{"import", func(ctx context.Context, c *Client) error {
			_, err := c.Import(ctx, strings.NewReader("<a> <b> <c> ."), banyan.ImportOptions{Name: "d/x y.ttl", DryRun: true})
			return err
		}, `PUT /graphs?dry_run=true&name=x+y.ttl text/turtle <a> <b> <c> .`},
		{"import json", func(ctx context.Context, c *Client) error {
			_, err := c.Import(ctx, strings.NewReader("{}"), banyan.ImportOptions{Name: "m.json", Graph: "http://e/é?a=b&c"})
			return err
		}, `PUT /graphs?graph=http%3A%2F%2Fe%2F%C3%A9%3Fa%3Db%26c&name=m.json application/json {}`},
		{"export", func(ctx context.Context, c *Client) error {
			return c.Export(ctx, io.Discard, banyan.ExportOptions{Format: "nquads", Graph: "http://e/g"})
		}, `GET /graphs?graph=http%3A%2F%2Fe%2Fg  `},
	} {
		var got string
		c := daemon(t, "tok", func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got = r.Method + " " + r.URL.RequestURI() + " " + r.Header.Get("Content-Type") + " " + string(body)
			if r.Header.Get("Authorization") != "Bearer tok" || r.Header.Get("Idempotency-Key") != "" {
				t.Errorf("%s: headers %v", tc.name, r.Header)
			}
			jsonAnswer("{}")(w, r)
		})
		if err := tc.do(t.Context(), c); err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: request differs (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestAnswersAreDecoded(t *testing.T) {
	c := daemon(t, "", jsonAnswer(`{"id":"ex_1","status":"exit","exit_code":3,"stdout":"a","new_member":{},"plan":{"rung":"forkserver","missing":["py:numpy"]}}`))
	res, err := c.Execute(t.Context(), banyan.Job{Code: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != rungs.StatusExit || res.ExitCode != 3 || len(res.Plan.Missing) != 1 || res.Plan.Missing[0].Short() != "py:numpy" {
		t.Errorf("result = %+v", res)
	}
	for status, created := range map[int]bool{200: false, 201: true} {
		c := daemon(t, "", answer(status, "application/json", `{"id":"sn_1"}`))
		if s, err := c.Warm(t.Context(), banyan.WarmRequest{}); err != nil || s.Created != created {
			t.Errorf("%d: Created = %t, %v", status, s.Created, err)
		}
	}
	c = daemon(t, "", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	if err := c.Remove(t.Context(), someID); err != nil {
		t.Errorf("204: %v", err)
	}
}

func TestProblemsBecomeErrors(t *testing.T) {
	doc := `{"type":"x","title":"T","status":422,"detail":"no rung can do it","kind":"unsupported","hint":"banyan doctor",
		"instance":"urn:req:req_9","errors":[{"pointer":"wasm","detail":"no numpy"}],"unknown":1}`
	c := daemon(t, "", answer(422, "application/problem+json; charset=utf-8", doc))
	_, err := c.Execute(t.Context(), banyan.Job{Code: "x"})
	want := &errs.Error{Kind: errs.Unsupported, Msg: "no rung can do it", Hint: "banyan doctor", Parts: []errs.Part{{Pointer: "wasm", Detail: "no numpy"}}}
	var got *errs.Error
	if !errors.As(err, &got) {
		t.Fatalf("%v is no *errs.Error", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("error differs (-want +got):\n%s", diff)
	}
}

// Every status has a kind also without one in the body, and every kind that a
// problem names is taken over.
func TestKindsOfProblems(t *testing.T) {
	for _, k := range errs.Kinds() {
		c := daemon(t, "", answer(k.HTTPStatus(), "application/problem+json", `{"kind":"`+k.String()+`","detail":"d"}`))
		if _, err := c.Status(t.Context()); errs.KindOf(err) != k {
			t.Errorf("kind %s came back as %s", k, errs.KindOf(err))
		}
	}
	for status, want := range map[int]errs.Kind{
		400: errs.Invalid, 401: errs.Denied, 403: errs.Denied, 404: errs.NotFound, 405: errs.Invalid, 409: errs.Conflict,
		413: errs.TooLarge, 415: errs.Invalid, 422: errs.Unsupported, 429: errs.Exhausted, 500: errs.Internal, 502: errs.RungFailed, 503: errs.Unavailable,
	} {
		c := daemon(t, "", answer(status, "application/problem+json", `{"kind":"from-the-future","title":"t"}`))
		if _, err := c.Status(t.Context()); errs.KindOf(err) != want {
			t.Errorf("status %d gives %s; want %s", status, errs.KindOf(err), want)
		}
	}
	c := daemon(t, "", answer(500, "application/problem+json", `{"kind":"internal","detail":"d","instance":"urn:req:req_7"}`))
	var e *errs.Error
	if _, err := c.Status(t.Context()); !errors.As(err, &e) || e.ID != "req_7" {
		t.Errorf("an internal error without its request: %v", e)
	}
}

func TestOddAnswersAreUnavailableNotCrashes(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"html error": answer(502, "text/html", "<html>proxy</html>"),
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		},
		"no json":          jsonAnswer("hello"),
		"two values":       jsonAnswer("{} {}"),
		"wrong type":       jsonAnswer(`{"parents":"many"}`),
		"empty":            jsonAnswer(""),
		"broken problem":   answer(400, "application/problem+json", `{"detail":`),
		"problem is array": answer(400, "application/problem+json", `[]`),
		"cut off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "{")
		},
		"hangs up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		if _, err := daemon(t, "", h).Status(t.Context()); errs.KindOf(err) != errs.Unavailable {
			t.Errorf("%s: %v; want unavailable", name, err)
		}
	}
}

func TestTokenIsNotCarriedToARedirect(t *testing.T) {
	asked := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer other.Close()
	c := daemon(t, "secret", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	if _, err := c.Execute(t.Context(), banyan.Job{Code: "x"}); err == nil || asked {
		t.Errorf("err = %v, followed = %t", err, asked)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	flood := func(w http.ResponseWriter, _ *http.Request) {
		chunk := bytes.Repeat([]byte(" "), 1<<20)
		for range maxAnswer>>20 + 8 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}
	if _, err := daemon(t, "", flood).Status(t.Context()); errs.KindOf(err) != errs.TooLarge {
		t.Errorf("a flood: %v; want too large", err)
	}
	many := `{"kind":"invalid","detail":"d","errors":[` + strings.Repeat(`{"detail":"x"},`, 5000) + `{"detail":"x"}]}`
	var e *errs.Error
	if _, err := daemon(t, "", answer(400, "application/problem+json", many)).Status(t.Context()); !errors.As(err, &e) || len(e.Parts) != maxParts {
		t.Errorf("parts of a problem: %d; want %d", len(e.Parts), maxParts)
	}
	huge := answer(400, "application/problem+json", `{"detail":"`+strings.Repeat("x", maxProblem)+`"}`)
	if _, err := daemon(t, "", huge).Status(t.Context()); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("a huge problem: %v", err)
	}
}

func TestNobodyThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	l.Close()
	for _, url := range []string{url, UnixURL(filepath.Join(t.TempDir(), "none.sock"))} {
		_, err := to(t, url, "").Status(t.Context())
		if errs.KindOf(err) != errs.Unavailable || errs.HintOf(err) != "banyan serve" || !strings.Contains(errs.Public(err), url) {
			t.Errorf("%s: %v (hint %q)", url, err, errs.HintOf(err))
		}
	}
}

func TestCallerThatGoesAwayIsCanceled(t *testing.T) {
	entered, left := make(chan struct{}), make(chan struct{})
	c := daemon(t, "", func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		close(entered)
		<-r.Context().Done()
		close(left)
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-entered; cancel() }()
	if _, err := c.Execute(ctx, banyan.Job{Code: "x"}); errs.KindOf(err) != errs.Canceled {
		t.Errorf("error = %v; want canceled", err)
	}
	<-left // the daemon saw it
}

func TestUnixSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "bn")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := sock.Path(dir)
	l, err := sock.Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: jsonAnswer(`{"version":"v9"}`)}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	st, err := to(t, UnixURL(path), "").Status(t.Context())
	if err != nil || st.Version != "v9" {
		t.Errorf("status = %+v, %v", st, err)
	}
	srv.Close()
	<-done
}

func TestBadIDsNeverReachThePath(t *testing.T) {
	c := daemon(t, "", func(_ http.ResponseWriter, r *http.Request) { t.Errorf("asked for %s", r.URL) })
	for _, id := range []ontology.SnapshotID{"", "x", "sn_../../v1/status", "sn_a/b", "sn_a?x", "sn_\n"} {
		if _, err := c.Snapshot(t.Context(), id); errs.KindOf(err) != errs.NotFound {
			t.Errorf("Snapshot(%q): %v", id, err)
		}
		if err := c.Remove(t.Context(), id); errs.KindOf(err) != errs.NotFound {
			t.Errorf("Remove(%q): %v", id, err)
		}
		if _, err := c.Branch(t.Context(), id, banyan.WarmRequest{}); errs.KindOf(err) != errs.NotFound {
			t.Errorf("Branch(%q): %v", id, err)
		}
	}
}

func TestExportStreamsAndNoticesACut(t *testing.T) {
	var out bytes.Buffer
	c := daemon(t, "", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Header.Get("Accept"))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	err := c.Export(t.Context(), &out, banyan.ExportOptions{Format: "ntriples"})
	if errs.KindOf(err) != errs.Unavailable || out.String() != "application/n-triples" {
		t.Errorf("a cut export: %q, %v", out.String(), err)
	}
	if err := c.Export(t.Context(), &out, banyan.ExportOptions{Format: "json"}); errs.KindOf(err) != errs.Invalid {
		t.Errorf("a format that is none: %v", err)
	}
	full := daemon(t, "", jsonAnswer("x"))
	if err := full.Export(t.Context(), brokenWriter{}, banyan.ExportOptions{Format: "turtle"}); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("a writer that fails: %v", err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestIsBanyan(t *testing.T) {
	health := func(id, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" {
				t.Error("the probe carries the token")
			}
			w.Header().Set("X-Request-Id", id)
			jsonAnswer(body)(w, r)
		}
	}
	if !daemon(t, "secret", health("req_1", `{"status":"ok"}`)).IsBanyan(t.Context()) {
		t.Error("a banyan daemon is not known")
	}
	for name, h := range map[string]http.HandlerFunc{
		"another program":  health("", `{"status":"ok"}`),
		"not ok":           health("req_1", `{"status":"bad"}`),
		"text":             health("req_1", "ok"),
		"an error":         answer(404, "text/plain", "no"),
		"an endless reply": health("req_1", strings.Repeat(" ", maxHealth)+`{"status":"ok"}`),
	} {
		if daemon(t, "secret", h).IsBanyan(t.Context()) {
			t.Errorf("%s is taken for banyan", name)
		}
	}
}

// The job that is sent decodes into the job that was meant.
func TestWireJobRoundTrip(t *testing.T) {
	text := "x"
	level := ontology.IsolationContainer
	in := banyan.Job{
		Runtime: "python", Code: "c\u2028é", Need: []string{"numpy"}, Args: []string{"a"}, Stdin: "s", Env: map[string]string{"A": "b"},
		Files: []banyan.File{{Path: "p", Text: &text, Mode: 0o755}}, Artifacts: []string{"*"}, Isolation: &level, Rung: "r",
		Match: ontology.MatchExact, Network: true, Callbacks: []string{"f"}, Limits: banyan.Limits{WallMS: 1, MemoryBytes: 2, PIDs: 3, OutputBytes: 4},
	}
	r, err := jobBody(in)
	if err != nil {
		t.Fatal(err)
	}
	var out banyan.Job
	if err := json.NewDecoder(r).Decode(&out); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in, out); diff != "" {
		t.Errorf("job differs (-want +got):\n%s", diff)
	}
}
