package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
	"github.com/seed-ff860830/banyan/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is an engine of functions; one that a test leaves nil answers NotFound,
// so that a call the test did not foresee shows.
type fake struct {
	plan      func(context.Context, banyan.Job) (planner.Plan, error)
	execute   func(context.Context, banyan.Job) (*banyan.Result, error)
	warm      func(context.Context, banyan.WarmRequest) (banyan.Snapshot, error)
	branch    func(context.Context, ontology.SnapshotID, banyan.WarmRequest) (banyan.Snapshot, error)
	snapshots func(context.Context, banyan.ListOptions) (banyan.SnapshotPage, error)
	snapshot  func(context.Context, ontology.SnapshotID) (banyan.Snapshot, error)
	lineage   func(context.Context, ontology.SnapshotID) (banyan.Lineage, error)
	remove    func(context.Context, ontology.SnapshotID) error
	imports   func(context.Context, io.Reader, banyan.ImportOptions) (banyan.ImportReport, error)
	export    func(context.Context, io.Writer, banyan.ExportOptions) error
	del       func(context.Context, ontology.IRI) error
	query     func(context.Context, string, banyan.QueryOptions) (*banyan.QueryResult, error)
	update    func(context.Context, string, banyan.UpdateOptions) (banyan.UpdateReport, error)
	status    func(context.Context) (banyan.Status, error)
	rungs     func(context.Context) ([]banyan.RungStatus, error)
	doctor    func(context.Context) (banyan.Report, error)
	reap      func(context.Context, bool) (int, error)
	backup    func(context.Context, io.Writer) (banyan.BackupReport, error)
	ready     func() error
}

// The engine is what the server calls.
var _ server.Engine = (*banyan.Engine)(nil)

var errUnforeseen = errs.New(errs.Corrupt, "the test did not foresee this call")

func (f *fake) Plan(ctx context.Context, j banyan.Job) (planner.Plan, error) {
	if f.plan == nil {
		return planner.Plan{}, errUnforeseen
	}
	return f.plan(ctx, j)
}

func (f *fake) Execute(ctx context.Context, j banyan.Job) (*banyan.Result, error) {
	if f.execute == nil {
		return nil, errUnforeseen
	}
	return f.execute(ctx, j)
}

func (f *fake) Warm(ctx context.Context, r banyan.WarmRequest) (banyan.Snapshot, error) {
	if f.warm == nil {
		return banyan.Snapshot{}, errUnforeseen
	}
	return f.warm(ctx, r)
}

func (f *fake) Branch(ctx context.Context, id ontology.SnapshotID, r banyan.WarmRequest) (banyan.Snapshot, error) {
	if f.branch == nil {
		return banyan.Snapshot{}, errUnforeseen
	}
	return f.branch(ctx, id, r)
}

func (f *fake) Snapshots(ctx context.Context, o banyan.ListOptions) (banyan.SnapshotPage, error) {
	if f.snapshots == nil {
		return banyan.SnapshotPage{}, errUnforeseen
	}
	return f.snapshots(ctx, o)
}

func (f *fake) Snapshot(ctx context.Context, id ontology.SnapshotID) (banyan.Snapshot, error) {
	if f.snapshot == nil {
		return banyan.Snapshot{}, errUnforeseen
	}
	return f.snapshot(ctx, id)
}

func (f *fake) Lineage(ctx context.Context, id ontology.SnapshotID) (banyan.Lineage, error) {
	if f.lineage == nil {
		return banyan.Lineage{}, errUnforeseen
	}
	return f.lineage(ctx, id)
}

func (f *fake) Remove(ctx context.Context, id ontology.SnapshotID) error {
	if f.remove == nil {
		return errUnforeseen
	}
	return f.remove(ctx, id)
}

func (f *fake) Import(ctx context.Context, r io.Reader, o banyan.ImportOptions) (banyan.ImportReport, error) {
	if f.imports == nil {
		return banyan.ImportReport{}, errUnforeseen
	}
	return f.imports(ctx, r, o)
}

func (f *fake) Export(ctx context.Context, w io.Writer, o banyan.ExportOptions) error {
	if f.export == nil {
		return errUnforeseen
	}
	return f.export(ctx, w, o)
}

func (f *fake) GraphDelete(ctx context.Context, g ontology.IRI) error {
	if f.del == nil {
		return errUnforeseen
	}
	return f.del(ctx, g)
}

func (f *fake) Query(ctx context.Context, text string, o banyan.QueryOptions) (*banyan.QueryResult, error) {
	if f.query == nil {
		return nil, errUnforeseen
	}
	return f.query(ctx, text, o)
}

func (f *fake) Update(ctx context.Context, text string, o banyan.UpdateOptions) (banyan.UpdateReport, error) {
	if f.update == nil {
		return banyan.UpdateReport{}, errUnforeseen
	}
	return f.update(ctx, text, o)
}

func (f *fake) Status(ctx context.Context) (banyan.Status, error) {
	if f.status == nil {
		return banyan.Status{}, errUnforeseen
	}
	return f.status(ctx)
}

func (f *fake) Rungs(ctx context.Context) ([]banyan.RungStatus, error) {
	if f.rungs == nil {
		return nil, errUnforeseen
	}
	return f.rungs(ctx)
}

func (f *fake) Doctor(ctx context.Context) (banyan.Report, error) {
	if f.doctor == nil {
		return banyan.Report{}, errUnforeseen
	}
	return f.doctor(ctx)
}

func (f *fake) Reap(ctx context.Context, all bool) (int, error) {
	if f.reap == nil {
		return 0, errUnforeseen
	}
	return f.reap(ctx, all)
}

func (f *fake) Backup(ctx context.Context, w io.Writer) (banyan.BackupReport, error) {
	if f.backup == nil {
		return banyan.BackupReport{}, errUnforeseen
	}
	return f.backup(ctx, w)
}

func (f *fake) Ready() error {
	if f.ready == nil {
		return nil
	}
	return f.ready()
}

// logs is a log that a test can read while it is written.
type logs struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// rig is a server over a real socket.
type rig struct {
	t      testing.TB
	url    string
	log    *logs
	client *http.Client
}

// start serves an engine by httptest; tweak may change the settings.
func start(t testing.TB, eng server.Engine, tweak func(*server.Config)) *rig {
	t.Helper()
	l := &logs{}
	cfg := server.Config{Engine: eng, Logger: slog.New(slog.NewJSONHandler(l, nil)), TrustLoopback: true}
	if tweak != nil {
		tweak(&cfg)
	}
	s, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(s.Handler())
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		ts.Close()
	})
	return &rig{t: t, url: ts.URL, log: l, client: client}
}

// reply is an answer, read whole.
type reply struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
}

// do sends a request; headers are "Name: value". A JSON body gets its type.
func (r *rig) do(method, path, body string, headers ...string) reply {
	r.t.Helper()
	return r.send(r.t.Context(), method, path, body, headers...)
}

func (r *rig) send(ctx context.Context, method, path, body string, headers ...string) reply {
	r.t.Helper()
	var rd io.Reader
	if body != "" {
		rd = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, r.url+path, rd)
	if err != nil {
		r.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		switch {
		case name == "Host":
			req.Host = value
		case value == "":
			req.Header.Del(name)
		default:
			req.Header.Set(name, value)
		}
	}
	res, err := r.client.Do(req)
	if err != nil {
		return reply{err: err}
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return reply{status: res.StatusCode, header: res.Header, body: string(b), err: err}
}

// trouble is a problem as a client reads it.
type trouble struct {
	Type, Title, Detail, Instance, Message, Kind, Hint string
	Status, Code                                       int
	Errors                                             []errs.Part
	RetryAfterMS                                       int64 `json:"retry_after_ms"`
	Plan                                               any
}

// trouble reads a problem and checks what all problems have in common.
func (r *rig) trouble(got reply, status int) trouble {
	r.t.Helper()
	if got.err != nil {
		r.t.Fatalf("no answer: %v", got.err)
	}
	var p trouble
	if got.status != status {
		r.t.Fatalf("status %d, want %d; body %s", got.status, status, got.body)
	}
	if ct := got.header.Get("Content-Type"); ct != "application/problem+json" {
		r.t.Fatalf("Content-Type %q; body %s", ct, got.body)
	}
	if err := json.Unmarshal([]byte(got.body), &p); err != nil {
		r.t.Fatalf("%v in %s", err, got.body)
	}
	id := got.header.Get("X-Request-Id")
	if p.Status != status || p.Code != status || p.Message == "" || p.Detail != p.Message || p.Title == "" ||
		p.Kind == "" || !strings.HasPrefix(p.Type, "https://") || id == "" || p.Instance != "urn:req:"+id {
		r.t.Errorf("not a whole problem: %s (request id %s)", got.body, id)
	}
	return p
}

// eventually polls a condition; it is the event, not the time, that is tested.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(20 * time.Second)
	for !cond() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("never happened: %s", what)
		}
	}
}

// listen opens a loopback listener.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}
