package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
	"github.com/seed-ff860830/banyan/rungs"
)

// fakeEngine answers like an engine, by fixed rules: what a job's code says is
// what becomes of it. It stands behind a real HTTP server in the scripts.
type fakeEngine struct {
	mu       sync.Mutex
	tree     []banyan.Snapshot
	reaped   []bool
	imported map[ontology.IRI]string
	sick     bool // the doctor finds no rung
	closeErr error
	closed   bool

	once   sync.Once
	store  *banyan.Engine // answers in SPARQL; nil until it is asked
	failed error
}

const (
	idTrunk  = ontology.SnapshotID("sn_01JD0000000000000000000001")
	idLimb   = ontology.SnapshotID("sn_01JD0000000000000000000002")
	idTwig   = ontology.SnapshotID("sn_01JD0000000000000000000003")
	idLeaf   = ontology.SnapshotID("sn_01JD0000000000000000000004")
	idGone   = ontology.SnapshotID("sn_01JD0000000000000000000005")
	idMissed = ontology.SnapshotID("sn_01JD0000000000000000000009")
)

// epoch is when everything in the fake was made.
var epoch = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func py(names ...string) []ontology.Capability {
	cs := []ontology.Capability{}
	for _, n := range names {
		cs = append(cs, ontology.Capability(string(ontology.PythonNS)+n))
	}
	return cs
}

func newFakeEngine() *fakeEngine {
	node := func(id, from ontology.SnapshotID, state ontology.SnapshotState, need ...string) banyan.Snapshot {
		s := banyan.Snapshot{
			ID: id, Rung: "forkserver", Runtime: "python", State: state, Need: py(need...), Provides: py(need...),
			SpecKey: "abc", WarmMS: 812.5, ResidentBytes: 120 << 20, CreatedAt: epoch, Node: "host", Forks: 7,
		}
		if from != "" {
			s.DerivedFrom = &from
		}
		return s
	}
	return &fakeEngine{
		imported: map[ontology.IRI]string{},
		tree: []banyan.Snapshot{
			node(idTrunk, "", ontology.StateLive),
			node(idLimb, idTrunk, ontology.StateLive, "numpy", "pandas"),
			node(idTwig, idLimb, ontology.StateLive, "numpy", "pandas", "scipy"),
			node(idLeaf, idTrunk, ontology.StateLive, "json"),
			node(idGone, idTrunk, ontology.StateRetired, "re"),
		},
	}
}

// Execute reads the outcome from the code.
func (e *fakeEngine) Execute(ctx context.Context, job banyan.Job) (*banyan.Result, error) {
	res := &banyan.Result{
		ID: "ex_01JD0000000000000000000001", Status: rungs.StatusOK, Artifacts: []banyan.Artifact{},
		Plan: banyan.PlanUsed{Rung: "forkserver", Route: planner.RouteReuse, Snapshot: idLimb},
	}
	verb, rest, _ := strings.Cut(strings.TrimSpace(job.Code), " ")
	switch verb {
	case "echo-job":
		job.Code = "echo-job"
		data, _ := json.Marshal(job)
		res.Stdout = string(data) + "\n"
	case "print":
		res.Stdout, res.Stderr = rest, "to stderr\n"
	case "binary":
		raw := base64.StdEncoding.EncodeToString([]byte("a\xff\x00b"))
		res.Stdout, res.StdoutBase64 = "a\uFFFD\x00b", &raw
	case "end":
		status, code, _ := strings.Cut(rest, " ")
		res.Status = rungs.Status(status)
		fmt.Sscan(code, &res.ExitCode)
	case "leave":
		for _, f := range strings.Fields(rest) {
			res.Artifacts = append(res.Artifacts, banyan.Artifact{Path: f, Bytes: 4, Base64: base64.StdEncoding.EncodeToString([]byte("left"))})
		}
	case "unsupported":
		return nil, errs.New(errs.Unsupported, "no rung can run this job").WithHint("banyan doctor").
			WithParts(errs.Part{Pointer: "wasm", Detail: "numpy is not available"}, errs.Part{Pointer: "forkserver", Detail: "evil \x1b[2J text"})
	case "internal":
		return nil, fmt.Errorf("a secret of the daemon")
	case "wait":
		<-ctx.Done()
		return nil, errs.Wrap(errs.Canceled, ctx.Err(), "the caller went away")
	default:
		return nil, errs.New(errs.Invalid, "the fake does not know %q", verb)
	}
	return res, nil
}

func (e *fakeEngine) Plan(_ context.Context, job banyan.Job) (planner.Plan, error) {
	need := planner.Need{Runtime: "python", Capabilities: py("numpy"), Isolation: ontology.IsolationProcess, Match: job.Match, Rung: job.Rung}
	best := planner.Choice{Rung: "forkserver", Route: planner.RouteReuse, Snapshot: idLimb, Missing: []ontology.Capability{}, ExpectedMS: 0.94, Score: 14.2}
	return planner.Plan{
		Choice: best, Need: need, Why: []string{"numpy was read from the code", "a live snapshot holds it all"},
		Rungs: []planner.RungVerdict{{Rung: "wasm", LeftOut: "numpy is not available in wasm"}, {Rung: "forkserver", Score: 14.2}, {Rung: "container", Score: 18}},
		Candidates: []planner.CandidateVerdict{
			{Snapshot: idLimb, Rung: "forkserver", Route: planner.RouteReuse, Holds: py("numpy", "pandas"), Extra: 1, ExpectedMS: 0.94},
			{Snapshot: idTwig, Rung: "forkserver", Route: planner.RouteReuse, Holds: py("numpy", "pandas", "scipy"), Extra: 2, ExpectedMS: 1.2},
		},
		Fallbacks: []ontology.RungName{"container"},
	}, nil
}

func (e *fakeEngine) Warm(_ context.Context, req banyan.WarmRequest) (banyan.Snapshot, error) {
	if len(req.Need) == 1 && req.Need[0] == "nosuch" {
		return banyan.Snapshot{}, errs.New(errs.Invalid, "the parent could not import what was asked").
			WithParts(errs.Part{Detail: "Traceback (most recent call last):\n  File \"<warm>\"\nModuleNotFoundError: No module named 'nosuch'"})
	}
	s := e.tree[1]
	s.Created = req.Setup != ""
	return s, nil
}

func (e *fakeEngine) Branch(ctx context.Context, id ontology.SnapshotID, req banyan.WarmRequest) (banyan.Snapshot, error) {
	if _, err := e.Snapshot(ctx, id); err != nil {
		return banyan.Snapshot{}, err
	}
	s := e.tree[2]
	s.DerivedFrom, s.Created = &id, true
	return s, nil
}

// Snapshots gives pages of at most two, so that clients have to turn them.
func (e *fakeEngine) Snapshots(_ context.Context, opt banyan.ListOptions) (banyan.SnapshotPage, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	page := banyan.SnapshotPage{Items: []banyan.Snapshot{}}
	for _, s := range e.tree {
		if string(s.ID) <= opt.Cursor || opt.Live && s.State != ontology.StateLive {
			continue
		}
		if len(page.Items) == min(2, opt.Limit) {
			next := string(page.Items[len(page.Items)-1].ID)
			page.NextCursor = &next
			break
		}
		page.Items = append(page.Items, s)
	}
	return page, nil
}

func (e *fakeEngine) Snapshot(_ context.Context, id ontology.SnapshotID) (banyan.Snapshot, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.tree {
		if s.ID == id {
			return s, nil
		}
	}
	return banyan.Snapshot{}, errs.New(errs.NotFound, "there is no snapshot %q", string(id)).WithHint("banyan snapshots ls")
}

func (e *fakeEngine) Lineage(ctx context.Context, id ontology.SnapshotID) (banyan.Lineage, error) {
	s, err := e.Snapshot(ctx, id)
	if err != nil {
		return banyan.Lineage{}, err
	}
	l := banyan.Lineage{Snapshot: s, Ancestors: []banyan.Snapshot{}, Descendants: []banyan.Snapshot{}}
	if id == idLimb {
		l.Ancestors, l.Descendants = e.tree[:1], e.tree[2:3]
	}
	return l, nil
}

func (e *fakeEngine) Remove(ctx context.Context, id ontology.SnapshotID) error {
	s, err := e.Snapshot(ctx, id)
	if err != nil {
		return err
	}
	if s.State != ontology.StateLive {
		return errs.New(errs.Conflict, "the snapshot is %s already", s.State).WithID(string(id))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.tree {
		if e.tree[i].ID == id {
			e.tree[i].State = ontology.StateRetired
		}
	}
	return nil
}

func (e *fakeEngine) Import(_ context.Context, r io.Reader, opt banyan.ImportOptions) (banyan.ImportReport, error) {
	data, err := io.ReadAll(io.LimitReader(r, 1<<20))
	if err != nil {
		return banyan.ImportReport{}, errs.Wrap(errs.Invalid, err, "the file cannot be read")
	}
	if strings.Contains(string(data), "broken") {
		return banyan.ImportReport{}, errs.New(errs.Invalid, "the file cannot be imported").
			WithParts(errs.Part{Pointer: opt.Name + ":1:1", Detail: "a triple does not end"})
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if opt.Graph == "" {
		opt.Graph = ontology.ImportGraph(opt.Name)
	}
	rep := banyan.ImportReport{Graph: opt.Graph, Triples: 3, Capabilities: 2, Runtimes: 1, DryRun: opt.DryRun}
	if _, ok := e.imported[opt.Graph]; ok {
		rep.Replaced = 3
	}
	if !opt.DryRun {
		e.imported[opt.Graph] = string(data)
	}
	return rep, nil
}

func (e *fakeEngine) Export(_ context.Context, w io.Writer, opt banyan.ExportOptions) error {
	_, err := fmt.Fprintf(w, "# %s of %s\n", opt.Format, opt.Graph)
	return err
}

// graph is a real engine without rungs: what SPARQL means is not faked.
func (e *fakeEngine) graph() (*banyan.Engine, error) {
	e.once.Do(func() {
		e.store, e.failed = banyan.Open(context.Background(), banyan.Config{InMemory: true, Node: "host", Rungs: []rungs.Rung{}})
	})
	return e.store, e.failed
}

// endGraph closes what graph opened.
func (e *fakeEngine) endGraph() error {
	e.once.Do(func() { e.failed = errs.New(errs.Unavailable, "closed") })
	if e.store == nil {
		return nil
	}
	return e.store.Close()
}

func (e *fakeEngine) Query(ctx context.Context, text string, opt banyan.QueryOptions) (*banyan.QueryResult, error) {
	g, err := e.graph()
	if err != nil {
		return nil, err
	}
	return g.Query(ctx, text, opt)
}

func (e *fakeEngine) Update(ctx context.Context, text string, opt banyan.UpdateOptions) (banyan.UpdateReport, error) {
	g, err := e.graph()
	if err != nil {
		return banyan.UpdateReport{}, err
	}
	return g.Update(ctx, text, opt)
}

func (e *fakeEngine) Backup(ctx context.Context, w io.Writer) (kg.BackupReport, error) {
	g, err := e.graph()
	if err != nil {
		return kg.BackupReport{}, err
	}
	return g.Backup(ctx, w)
}

func (e *fakeEngine) Status(ctx context.Context) (banyan.Status, error) {
	all, err := e.Rungs(ctx)
	return banyan.Status{Version: "v0", Node: "host", StartedAt: epoch, Rungs: all, Parents: 4, Running: 1, Runs: 28, Triples: 99}, err
}

func (e *fakeEngine) Rungs(context.Context) ([]banyan.RungStatus, error) {
	return []banyan.RungStatus{
		{Rung: "forkserver", Rank: 15, Isolation: ontology.IsolationProcess, Languages: []string{"python"}, WarmFork: true, Available: true, Reward: 0.9, Parents: 4, ForkMS: 0.61},
		{Rung: "container", Rank: 18, Isolation: ontology.IsolationContainer, Languages: []string{"python"}, Reason: "runc is not there", Fix: "apt-get install runc", Reward: 0.5},
	}, nil
}

func (e *fakeEngine) Doctor(context.Context) (banyan.Report, error) {
	rep := banyan.Report{OK: !e.sick, Checks: []banyan.Check{
		{Name: "store", State: "ok", Found: "99 triples"},
		{Name: "rung container", State: "warn", Found: "runc is not there", Costs: "no job can run on the rung container", Fix: "apt-get install runc"},
	}}
	if e.sick {
		rep.Checks = append(rep.Checks, banyan.Check{Name: "rung forkserver", State: "fail", Found: "no python", Needed: "python 3.8"})
	}
	return rep, nil
}

func (e *fakeEngine) Reap(_ context.Context, all bool) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reaped = append(e.reaped, all)
	if all {
		return 4, nil
	}
	return 1, nil
}

func (e *fakeEngine) Ready() error { return nil }

func (e *fakeEngine) GraphDelete(context.Context, ontology.IRI) error { return nil }

func (e *fakeEngine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	return e.closeErr
}
