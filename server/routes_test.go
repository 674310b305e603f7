package server_test

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
	"github.com/seed-ff860830/banyan/rungs"
)

const snapID = "sn_01JDYQ5T0V8ZJ2Y6M3N4P5R6S7"

func TestExecuteAnswersWithTheResult(t *testing.T) {
	var got banyan.Job
	r := start(t, &fake{execute: func(_ context.Context, j banyan.Job) (*banyan.Result, error) {
		got = j
		return &banyan.Result{ID: "ex_1", Status: rungs.StatusError, ExitCode: 1, Stdout: "<b>&\u2028", Error: &rungs.Exception{Name: "ValueError"}}, nil
	}}, nil)
	a := r.do("POST", "/v1/execute", `{"code":"raise ValueError","need":["numpy"]}`)
	if a.status != 200 || a.header.Get("Content-Type") != "application/json" || a.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("answer %d %v: %s", a.status, a.header, a.body)
	}
	if diff := cmp.Diff(banyan.Job{Code: "raise ValueError", Need: []string{"numpy"}}, got); diff != "" {
		t.Errorf("the engine's job (-want +got):\n%s", diff)
	}
	if !strings.Contains(a.body, `"stdout":"<b>&`) || !strings.Contains(a.body, `"status":"error"`) {
		t.Errorf("body %s", a.body)
	}
}

func TestPlanSurvivesFiguresJSONCannotWrite(t *testing.T) {
	r := start(t, &fake{plan: func(context.Context, banyan.Job) (planner.Plan, error) {
		return planner.Plan{
			Choice: planner.Choice{Rung: "forkserver", Route: planner.RouteBoot, ExpectedMS: math.Inf(1), Score: math.NaN(), Missing: []ontology.Capability{ontology.Capability(ontology.PythonNS + "numpy")}},
			Need:   planner.Need{Runtime: "python", Isolation: ontology.IsolationProcess},
			Why:    []string{"a < b"},
			Rungs:  []planner.RungVerdict{{Rung: "local", Score: 3.5}, {Rung: "wasm", Score: math.Inf(-1), LeftOut: "x"}},
		}, nil
	}}, nil)
	a := r.do("POST", "/v1/plan", `{"code":"1"}`)
	want := `{"rung":"forkserver","route":"boot","missing":["py:numpy"],"expected_ms":null,"score":null,` +
		`"need":{"runtime":"python","capabilities":null,"isolation":"process","match":"superset"},"why":["a < b"],` +
		`"rungs":[{"rung":"local","score":3.5},{"rung":"wasm","score":null,"left_out":"x"}],"candidates":null,"fallbacks":null}` + "\n"
	if a.status != 200 {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
	var got, exp any
	if json.Unmarshal([]byte(a.body), &got) != nil || json.Unmarshal([]byte(want), &exp) != nil {
		t.Fatalf("not JSON: %s", a.body)
	}
	if diff := cmp.Diff(exp, got); diff != "" {
		t.Errorf("plan (-want +got):\n%s\n%s", diff, a.body)
	}
}

func TestWarmAndBranchSayWhetherTheyMadeIt(t *testing.T) {
	for _, created := range []bool{true, false} {
		snap := banyan.Snapshot{ID: snapID, Rung: "forkserver", Created: created}
		var from ontology.SnapshotID
		var need []string
		r := start(t, &fake{
			warm: func(_ context.Context, w banyan.WarmRequest) (banyan.Snapshot, error) {
				need = w.Need
				return snap, nil
			},
			branch: func(_ context.Context, id ontology.SnapshotID, w banyan.WarmRequest) (banyan.Snapshot, error) {
				from, need = id, w.Need
				return snap, nil
			},
		}, nil)
		for _, path := range []string{"/v1/warm", "/v1/snapshots/" + snapID + "/branch"} {
			need = nil
			a := r.do("POST", path, `{"runtime":"python","need":["numpy"],"rung":"forkserver","setup":"x=1"}`)
			want, location := 200, ""
			if created {
				want, location = 201, "/v1/snapshots/"+snapID
			}
			if a.status != want || a.header.Get("Location") != location || !strings.Contains(a.body, `"id":"`+snapID+`"`) {
				t.Errorf("%s created=%v: %d %q %s", path, created, a.status, a.header.Get("Location"), a.body)
			}
			if len(need) != 1 || strings.Contains(a.body, "Created") {
				t.Errorf("%s: need %v, body %s", path, need, a.body)
			}
		}
		if from != snapID {
			t.Errorf("branched %q", from)
		}
	}
}

func TestTree(t *testing.T) {
	next := "c2"
	var opt banyan.ListOptions
	removed := ""
	r := start(t, &fake{
		snapshots: func(_ context.Context, o banyan.ListOptions) (banyan.SnapshotPage, error) {
			opt = o
			if o.Cursor == "end" {
				return banyan.SnapshotPage{}, nil
			}
			return banyan.SnapshotPage{Items: []banyan.Snapshot{{ID: snapID}}, NextCursor: &next}, nil
		},
		snapshot: func(_ context.Context, id ontology.SnapshotID) (banyan.Snapshot, error) {
			return banyan.Snapshot{ID: id}, nil
		},
		lineage: func(_ context.Context, id ontology.SnapshotID) (banyan.Lineage, error) {
			return banyan.Lineage{Snapshot: banyan.Snapshot{ID: id}}, nil
		},
		remove: func(_ context.Context, id ontology.SnapshotID) error { removed = string(id); return nil },
	}, nil)
	a := r.do("GET", "/v1/snapshots?limit=7&cursor=c1&live=true", "")
	if a.status != 200 || !strings.Contains(a.body, `"next_cursor":"c2"`) || opt != (banyan.ListOptions{Limit: 7, Cursor: "c1", Live: true}) {
		t.Errorf("%d %s, options %+v", a.status, a.body, opt)
	}
	if a := r.do("GET", "/v1/snapshots?cursor=end", ""); a.body != `{"items":[],"next_cursor":null}`+"\n" || opt.Limit != 100 || opt.Live {
		t.Errorf("an empty page is %s, options %+v", a.body, opt)
	}
	if a := r.do("GET", "/v1/snapshots/"+snapID, ""); a.status != 200 || !strings.Contains(a.body, snapID) {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := r.do("GET", "/v1/snapshots/"+snapID+"/lineage", ""); a.status != 200 || !strings.Contains(a.body, `"ancestors":[],"descendants":[]`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := r.do("DELETE", "/v1/snapshots/"+snapID, ""); a.status != 204 || a.body != "" || removed != snapID {
		t.Errorf("%d %q removed %q", a.status, a.body, removed)
	}
}

func TestOperatorSurface(t *testing.T) {
	var all bool
	r := start(t, &fake{
		status: func(context.Context) (banyan.Status, error) { return banyan.Status{Version: "v1"}, nil },
		rungs: func(context.Context) ([]banyan.RungStatus, error) {
			return []banyan.RungStatus{{Rung: "local", Available: true}}, nil
		},
		doctor: func(context.Context) (banyan.Report, error) { return banyan.Report{OK: false}, nil },
		reap:   func(_ context.Context, a bool) (int, error) { all = a; return 3, nil },
	}, nil)
	for _, tc := range []struct{ method, path, body, want string }{
		{"GET", "/healthz", "", `{"status":"ok"}`},
		{"GET", "/readyz", "", `{"status":"ready"}`},
		{"GET", "/v1/status", "", `"version":"v1"`},
		{"GET", "/v1/status", "", `"rungs":[]`},
		{"GET", "/v1/rungs", "", `{"items":[{"rung":"local"`},
		{"GET", "/v1/doctor", "", `{"ok":false,"checks":[]}`},
		{"POST", "/v1/reap", "", `{"reaped":3}`},
		{"POST", "/v1/reap", `{"all":true}`, `{"reaped":3}`},
		{"GET", "/", "", `"path":"/v1/snapshots/{id}/lineage"`},
	} {
		if a := r.do(tc.method, tc.path, tc.body); a.status != 200 || !strings.Contains(a.body, tc.want) {
			t.Errorf("%s %s: %d %s", tc.method, tc.path, a.status, a.body)
		}
	}
	if !all {
		t.Error("reap did not get all")
	}
	if a := r.do("HEAD", "/v1/status", ""); a.status != 200 || a.body != "" || a.header.Get("Content-Length") == "" {
		t.Errorf("HEAD: %d %q %v", a.status, a.body, a.header)
	}
}

func TestReadinessFollowsTheEngine(t *testing.T) {
	r := start(t, &fake{ready: func() error { return errs.New(errs.Unavailable, "no rung works here") }}, nil)
	p := r.trouble(r.do("GET", "/readyz", ""), 503)
	if !strings.Contains(p.Message, "no rung works here") || p.RetryAfterMS == 0 {
		t.Errorf("problem %+v", p)
	}
	if a := r.do("GET", "/healthz", ""); a.status != 200 {
		t.Errorf("/healthz %d", a.status)
	}
}

func TestImportReplacesAGraph(t *testing.T) {
	const graph = "http://example.org/g%20ü"
	var opt banyan.ImportOptions
	var text string
	replaced := 0
	r := start(t, &fake{imports: func(_ context.Context, rd io.Reader, o banyan.ImportOptions) (banyan.ImportReport, error) {
		b, err := io.ReadAll(rd)
		opt, text = o, string(b)
		return banyan.ImportReport{Graph: graph, Triples: 2, Replaced: replaced, DryRun: o.DryRun}, err
	}}, nil)
	for _, tc := range []struct {
		query, contentType string
		replaced, status   int
		want               banyan.ImportOptions
	}{
		{"?graph=http://example.org/g%2520%C3%BC", "text/turtle", 0, 201, banyan.ImportOptions{Graph: graph, Format: "turtle"}},
		{"?graph=http://example.org/g%2520%C3%BC&name=a.ttl", "text/turtle; charset=UTF-8", 4, 200, banyan.ImportOptions{Graph: graph, Name: "a.ttl", Format: "turtle"}},
		{"?graph=urn:x&dry_run=true", "application/n-triples", 0, 200, banyan.ImportOptions{Graph: "urn:x", Format: "ntriples", DryRun: true}},
		{"?name=m.json&dry_run=0", "application/json", 0, 201, banyan.ImportOptions{Name: "m.json", Format: "json"}},
		{"?name=a%20b.nt", "", 0, 201, banyan.ImportOptions{Name: "a b.nt"}},
	} {
		replaced = tc.replaced
		a := r.do("PUT", "/graphs"+tc.query, "<urn:a> <urn:b> <urn:c> .", "Content-Type: "+tc.contentType)
		if a.status != tc.status || text != "<urn:a> <urn:b> <urn:c> ." {
			t.Errorf("%s: %d %s; the engine read %q", tc.query, a.status, a.body, text)
		}
		if diff := cmp.Diff(tc.want, opt); diff != "" {
			t.Errorf("%s: options (-want +got):\n%s", tc.query, diff)
		}
		if got := a.header.Get("Location"); (got != "") != (tc.status == 201) {
			t.Errorf("%s: Location %q", tc.query, got)
		}
	}
}

func TestExportByAccept(t *testing.T) {
	var opt banyan.ExportOptions
	r := start(t, &fake{export: func(_ context.Context, w io.Writer, o banyan.ExportOptions) error {
		opt = o
		_, err := io.WriteString(w, "data")
		return err
	}}, nil)
	for _, tc := range []struct{ query, accept, contentType, format string }{
		{"?graph=urn:x", "", "text/turtle; charset=utf-8", "turtle"},
		{"?graph=urn:x", "*/*", "text/turtle; charset=utf-8", "turtle"},
		{"?graph=urn:x", "application/n-triples", "application/n-triples", "ntriples"},
		{"?graph=urn:x", "text/turtle;q=0.5, application/n-triples;q=0.9", "application/n-triples", "ntriples"},
		{"?graph=urn:x", "text/*;q=0.2, application/*;q=0.1", "text/turtle; charset=utf-8", "turtle"},
		{"?graph=urn:x", "text/turtle;q=0, */*", "application/n-triples", "ntriples"},
		{"", "", "application/n-quads", "nquads"},
		{"", "text/turtle", "text/turtle; charset=utf-8", "turtle"},
	} {
		a := r.do("GET", "/graphs"+tc.query, "", "Accept: "+tc.accept)
		if a.status != 200 || a.body != "data" || a.header.Get("Content-Type") != tc.contentType || opt.Format != tc.format || !strings.Contains(a.header.Get("Vary"), "Accept") {
			t.Errorf("%q %q: %d %s %v, format %q", tc.query, tc.accept, a.status, a.body, a.header, opt.Format)
		}
	}
	for _, accept := range []string{"text/html", "text/turtle;q=0", "text/turtle;q=x", "text/turtle;q=NaN", "application/rdf+xml, */*;q=0"} {
		r.trouble(r.do("GET", "/graphs?graph=urn:x", "", "Accept: "+accept), 406)
	}
}

func TestExportThatFails(t *testing.T) {
	early := true
	r := start(t, &fake{export: func(_ context.Context, w io.Writer, _ banyan.ExportOptions) error {
		size := 1 << 20
		if early {
			size = 100
		}
		if _, err := io.WriteString(w, strings.Repeat("x", size)); err != nil {
			return err
		}
		return errs.New(errs.NotFound, "there is no such graph")
	}}, nil)
	p := r.trouble(r.do("GET", "/graphs?graph=urn:x", ""), 404)
	if p.Message != "there is no such graph" {
		t.Errorf("problem %+v", p)
	}
	early = false
	if a := r.do("GET", "/graphs?graph=urn:x", ""); a.err == nil {
		t.Errorf("a half export looks whole: %d, %d bytes", a.status, len(a.body))
	}
	if a := r.do("GET", "/healthz", ""); a.status != 200 {
		t.Errorf("/healthz %d", a.status)
	}
	eventually(t, "the failure is logged", func() bool { return strings.Contains(r.log.String(), "there is no such graph") })
}

func TestPathsAndMethods(t *testing.T) {
	r := start(t, &fake{}, nil)
	for _, path := range []string{"/nope", "/v1", "/v1/status/", "/v1/snapshots/" + snapID + "/nope", "/v1/snapshots/" + snapID + "/lineage/x", "//", "/%2e%2e/etc"} {
		if a := r.do("GET", path, ""); a.status != 404 {
			t.Errorf("GET %s: %d", path, a.status)
		} else {
			r.trouble(a, 404)
		}
	}
	for _, tc := range []struct{ method, path, allow string }{
		{"GET", "/v1/execute", "POST"},
		{"DELETE", "/v1/snapshots", "GET"},
		{"PATCH", "/graphs", "PUT"},
		{"PUT", "/healthz", "HEAD"},
		{"BREW", "/v1/status", "GET"},
	} {
		a := r.do(tc.method, tc.path, "")
		r.trouble(a, 405)
		if !strings.Contains(a.header.Get("Allow"), tc.allow) {
			t.Errorf("%s %s: Allow %q", tc.method, tc.path, a.header.Get("Allow"))
		}
	}
	if a := r.do("OPTIONS", "/v1/execute", ""); a.status != 204 || !strings.Contains(a.header.Get("Allow"), "POST") {
		t.Errorf("OPTIONS: %d %v", a.status, a.header)
	}
	if !strings.Contains(r.log.String(), `"route":"unmatched"`) || strings.Contains(r.log.String(), "BREW") {
		t.Errorf("log:\n%s", r.log)
	}
}

func TestRequestIDs(t *testing.T) {
	r := start(t, &fake{}, nil)
	for given, taken := range map[string]bool{
		"abc-123": true, strings.Repeat("x", 128): true, strings.Repeat("x", 129): false,
		"a b": false, "ünï": false, `a"b`: false, "": false,
	} {
		got := r.do("GET", "/healthz", "", "X-Request-Id: "+given).header.Get("X-Request-Id")
		if taken && got != given || !taken && !strings.HasPrefix(got, "req_") {
			t.Errorf("given %q, got %q", given, got)
		}
	}
	a := r.do("GET", "/nope", "", "X-Request-Id: my-id")
	if p := r.trouble(a, 404); p.Instance != "urn:req:my-id" {
		t.Errorf("instance %q", p.Instance)
	}
	if got := r.do("GET", "/nope", ""); got.header.Get("X-Request-Id") == r.do("GET", "/nope", "").header.Get("X-Request-Id") {
		t.Error("two requests have one id")
	}
}

func TestAccessLogKnowsTemplatesOnly(t *testing.T) {
	r := start(t, &fake{snapshot: func(_ context.Context, id ontology.SnapshotID) (banyan.Snapshot, error) {
		return banyan.Snapshot{ID: id}, nil
	}}, nil)
	r.do("GET", "/v1/snapshots/"+snapID, "", "X-Request-Id: the-id")
	var line struct {
		RequestID string `json:"request_id"`
		Method    string
		Route     string
		Status    int
		Bytes     int64
	}
	eventually(t, "a log line", func() bool { return json.Unmarshal([]byte(r.log.String()), &line) == nil })
	if line.RequestID != "the-id" || line.Method != http.MethodGet || line.Route != "/v1/snapshots/{id}" || line.Status != 200 || line.Bytes == 0 {
		t.Errorf("line %+v", line)
	}
	if strings.Contains(r.log.String(), snapID) {
		t.Errorf("the log has an id: %s", r.log)
	}
}
