package banyan_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
	"github.com/seed-ff860830/banyan/rungs"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("github.com/golang/glog.(*fileSink).flushDaemon"),
		goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}

// open opens an engine in memory on fake rungs.
func open(t *testing.T, cfg banyan.Config, fakes ...*fakeRung) *banyan.Engine {
	t.Helper()
	cfg.InMemory = cfg.Dir == ""
	for _, f := range fakes {
		cfg.Rungs = append(cfg.Rungs, f)
	}
	e, err := banyan.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		for _, f := range fakes {
			if n := f.live.Load(); n != 0 {
				t.Errorf("rung %s: %d parents are left", f.name, n)
			}
		}
	})
	return e
}

func need(names ...string) []string { return append([]string{}, names...) }

func mustRun(t *testing.T, e *banyan.Engine, j banyan.Job) *banyan.Result {
	t.Helper()
	res, err := e.Execute(t.Context(), j)
	if err != nil {
		t.Fatalf("execute: %v", err)
	}
	return res
}

func TestTheSecondJobReusesWhatTheFirstMade(t *testing.T) {
	f := newFake("fake", 15, ontology.IsolationProcess)
	e := open(t, banyan.Config{}, f)
	job := banyan.Job{Code: "x", Need: need("numpy", "pandas")}

	first := mustRun(t, e, job)
	if first.Plan.Route != planner.RouteBoot || first.Stdout != "x" {
		t.Errorf("first run: route %s, stdout %q", first.Plan.Route, first.Stdout)
	}
	second := mustRun(t, e, job)
	if second.Plan.Route != planner.RouteReuse || second.Plan.Snapshot != first.Plan.Snapshot {
		t.Errorf("second run: route %s of %s, want reuse of %s", second.Plan.Route, second.Plan.Snapshot, first.Plan.Snapshot)
	}
	part := mustRun(t, e, banyan.Job{Code: "x", Need: need("numpy@1.24.2")})
	if part.Plan.Route != planner.RouteReuse {
		t.Errorf("a part of what is held, by its version: route %s, want reuse", part.Plan.Route)
	}
	if n := f.boots.Load(); n != 1 {
		t.Errorf("%d boots, want 1", n)
	}
}

func TestAWiderNeedBranchesAndTheEdgeIsInTheGraph(t *testing.T) {
	f := newFake("fake", 15, ontology.IsolationProcess)
	e := open(t, banyan.Config{}, f)
	base := mustRun(t, e, banyan.Job{Code: "x", Need: need("numpy")})
	wide := mustRun(t, e, banyan.Job{Code: "x", Need: need("numpy", "pandas")})
	if wide.Plan.Route != planner.RouteBranch || f.branches.Load() != 1 {
		t.Fatalf("route %s, %d branches", wide.Plan.Route, f.branches.Load())
	}
	l, err := e.Lineage(t.Context(), wide.Plan.Snapshot)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Ancestors) != 1 || l.Ancestors[0].ID != base.Plan.Snapshot {
		t.Errorf("ancestors %v, want %s", l.Ancestors, base.Plan.Snapshot)
	}
	for _, c := range []ontology.Capability{ontology.Capability(ontology.PythonNS + "pandas"), ontology.Capability(ontology.PythonNS + "pandas@1.5.3")} {
		if !contains(l.Snapshot.Provides, c) {
			t.Errorf("the branch does not provide %s: %v", c.Short(), l.Snapshot.Provides)
		}
	}
	down, err := e.Lineage(t.Context(), base.Plan.Snapshot)
	if err != nil || len(down.Descendants) != 1 || down.Descendants[0].ID != wide.Plan.Snapshot {
		t.Errorf("descendants %v, %v", down.Descendants, err)
	}
}

func contains[T comparable](all []T, one T) bool {
	for _, x := range all {
		if x == one {
			return true
		}
	}
	return false
}

func TestARungFailureBeforeUserCodeMovesToTheNextRung(t *testing.T) {
	good := newFake("good", 18, ontology.IsolationContainer)
	bad := newFake("bad", 15, ontology.IsolationProcess)
	bad.forkErr = func(rungs.Job) error { return errs.New(errs.RungFailed, "the mount namespace could not be made") }
	e := open(t, banyan.Config{}, bad, good)
	res := mustRun(t, e, banyan.Job{Code: "x", Need: need()})
	if res.Plan.Rung != "good" {
		t.Errorf("ran on %s", res.Plan.Rung)
	}
	if len(res.Plan.FallbacksUsed) != 1 || !strings.Contains(res.Plan.FallbacksUsed[0], "mount namespace") {
		t.Errorf("fallbacks used: %q", res.Plan.FallbacksUsed)
	}
	all, err := e.Rungs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if r.Rung == "bad" && r.Reward >= 0.5 || r.Rung == "good" && r.Reward <= 0.5 {
			t.Errorf("rung %s has reward %.2f", r.Rung, r.Reward)
		}
	}
}

func TestThreeFailuresInARowTakeARungOutOfThePlan(t *testing.T) {
	good := newFake("good", 25, ontology.IsolationMicroVM)
	bad := newFake("bad", 15, ontology.IsolationProcess)
	bad.forkErr = func(rungs.Job) error { return errs.New(errs.RungFailed, "no") }
	e := open(t, banyan.Config{}, bad, good)
	for range 3 {
		mustRun(t, e, banyan.Job{Code: "x", Need: need()})
	}
	p, err := e.Plan(t.Context(), banyan.Job{Code: "x", Need: need()})
	if err != nil {
		t.Fatal(err)
	}
	if p.Rung != "good" {
		t.Errorf("the plan still takes %s", p.Rung)
	}
	for _, r := range p.Rungs {
		if r.Rung == "bad" && r.LeftOut == "" {
			t.Error("the failing rung is not left out")
		}
	}
}

func TestAJobThatMayHaveStartedIsNotRunAgain(t *testing.T) {
	for _, kind := range []errs.Kind{errs.RungFailed, errs.Conflict, errs.Internal, errs.Invalid} {
		other := newFake("other", 18, ontology.IsolationContainer)
		f := newFake("fake", 15, ontology.IsolationProcess)
		f.waitErr = errs.New(kind, "the agent went away")
		e := open(t, banyan.Config{}, f, other)
		_, err := e.Execute(t.Context(), banyan.Job{Code: "x", Need: need()})
		if errs.KindOf(err) != errs.RungFailed {
			t.Errorf("%s: error %v, want rung-failed", kind, err)
		}
		var pe *banyan.PlanError
		if !errors.As(err, &pe) || pe.Plan.Rung != "fake" {
			t.Errorf("%s: the error does not carry the plan", kind)
		}
		if n := f.forks.Load(); n != 1 {
			t.Errorf("%s: forked %d times", kind, n)
		}
		if n := other.forks.Load(); n != 0 {
			t.Errorf("%s: the job was run again on another rung, %d times", kind, n)
		}
	}
}

func TestADeadParentIsReplacedWithoutTheCallerNoticing(t *testing.T) {
	f := newFake("fake", 15, ontology.IsolationProcess)
	e := open(t, banyan.Config{}, f)
	first := mustRun(t, e, banyan.Job{Code: "x", Need: need("numpy")})
	f.set(func() { f.parents[0].once.Do(func() { f.live.Add(-1); close(f.parents[0].done) }) })
	again := mustRun(t, e, banyan.Job{Code: "x", Need: need("numpy")})
	if again.Plan.Snapshot == first.Plan.Snapshot {
		t.Error("the job claims to have run in a dead parent")
	}
	s, err := e.Snapshot(t.Context(), first.Plan.Snapshot)
	if err != nil || s.State != ontology.StateRetired {
		t.Errorf("the dead one's state: %s, %v", s.State, err)
	}
}

func TestAGivenNeedThatCannotBeHeldIsRefused(t *testing.T) {
	f := newFake("fake", 15, ontology.IsolationProcess)
	e := open(t, banyan.Config{}, f)
	job := banyan.Job{Code: "x", Need: need("nosuch")}
	_, err := e.Execute(t.Context(), job)
	if errs.KindOf(err) != errs.Invalid || !strings.Contains(errs.Public(err), "No module named 'nosuch'") {
		t.Fatalf("error %v", err)
	}
	if n := f.live.Load(); n != 0 {
		t.Errorf("%d parents are left", n)
	}
	f.set(func() { f.versions["nosuch"] = "1" })
	if res := mustRun(t, e, job); res.Status != rungs.StatusOK {
		t.Errorf("the next try: %s", res.Status)
	}
	for _, r := range mustRungs(t, e) {
		if r.Reward < 0.5 {
			t.Errorf("a wrong need lowered the reward of %s to %.2f", r.Rung, r.Reward)
		}
	}
}

func mustRungs(t *testing.T, e *banyan.Engine) []banyan.RungStatus {
	t.Helper()
	all, err := e.Rungs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAnotherVersionThanTheOneAskedForIsRefused(t *testing.T) {
	f := newFake("fake", 15, ontology.IsolationProcess)
	e := open(t, banyan.Config{}, f)
	_, err := e.Warm(t.Context(), banyan.WarmRequest{Need: need("pandas@9.9")})
	if errs.KindOf(err) != errs.Invalid || !strings.Contains(errs.Public(err), "1.5.3") {
		t.Fatalf("error %v", err)
	}
	page, err := e.Snapshots(t.Context(), banyan.ListOptions{})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("snapshots after a refused warm: %v, %v", page.Items, err)
	}
}

func TestAParentThatHoldsMoreThanTheGraphTakesKeepsWhatCounts(t *testing.T) {
	f := newFake("fake", 15, ontology.IsolationProcess)
	f.more = 2 * kg.MaxHolds
	e := open(t, banyan.Config{}, f)
	s, err := e.Warm(t.Context(), banyan.WarmRequest{Need: need("numpy")})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Provides) + len(s.Need); n > kg.MaxHolds || n < kg.MaxHolds/2 {
		t.Errorf("%d capabilities are recorded", n)
	}
	if !contains(s.Provides, ontology.Capability(ontology.PythonNS+"numpy@1.24.2")) {
		t.Error("the version of what was asked for is not recorded")
	}
}

func TestAGuessedNeedNeverMakesAJobFail(t *testing.T) {
	f := newFake("fake", 15, ontology.IsolationProcess)
	e := open(t, banyan.Config{}, f)
	code := "try:\n    import nosuch\nexcept ImportError:\n    pass\n"
	for range 3 {
		res := mustRun(t, e, banyan.Job{Code: code})
		if res.Status != rungs.StatusOK || len(res.Plan.Notes) != 1 || !strings.Contains(res.Plan.Notes[0], "nosuch") {
			t.Errorf("status %s, notes %q", res.Status, res.Plan.Notes)
		}
	}
	// One failing boot and one of the bare parent: the failure is remembered.
	if n := f.boots.Load() + f.branches.Load(); n > 3 {
		t.Errorf("%d boots and branches for three runs", n)
	}
}

func TestB04_AModuleThatCannotBeForkedIsImportedByTheJob(t *testing.T) {
	f := newFake("fake", 15, ontology.IsolationProcess)
	f.bootErr = func(spec rungs.Spec) error {
		if len(spec.Modules) > 0 {
			return errs.New(errs.Unsupported, "the parent is not fork-safe: 2 threads")
		}
		return nil
	}
	e := open(t, banyan.Config{}, f)
	res := mustRun(t, e, banyan.Job{Code: "import threaded"})
	if res.Status != rungs.StatusOK || len(res.Plan.Notes) != 1 || !strings.Contains(res.Plan.Notes[0], "not fork-safe") {
		t.Errorf("a guessed need: status %s, notes %q", res.Status, res.Plan.Notes)
	}
	_, err := e.Execute(t.Context(), banyan.Job{Code: "x", Need: need("threaded")})
	if errs.KindOf(err) != errs.Unsupported || !strings.Contains(errs.Public(err), "not fork-safe") {
		t.Errorf("a given need: %v", err)
	}
	if r := mustRungs(t, e)[0]; r.Reward < 0.5 {
		t.Errorf("the rung was blamed: reward %.2f", r.Reward)
	}
}

func TestB29_ManyCallersShareOneWarmUp(t *testing.T) {
	f := newFake("fake", 15, ontology.IsolationProcess)
	gate := make(chan struct{})
	f.bootHook = func(context.Context) error { <-gate; return nil }
	e := open(t, banyan.Config{}, f)
	const callers = 50
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			res, err := e.Execute(t.Context(), banyan.Job{Code: "x", Need: need("numpy")})
			if err != nil || res.Status != rungs.StatusOK {
				t.Errorf("%v, %v", res, err)
			}
		})
	}
	close(gate)
	wg.Wait()
	if n := f.boots.Load(); n != 1 {
		t.Errorf("%d boots, want 1", n)
	}
}

func TestACallerWhoLeavesIsNobodysFailure(t *testing.T) {
	f := newFake("fake", 15, ontology.IsolationProcess)
	e := open(t, banyan.Config{}, f)
	ctx, cancel := context.WithCancel(t.Context())
	f.bootHook = func(context.Context) error { cancel(); return nil }
	_, err := e.Execute(ctx, banyan.Job{Code: "x", Need: need("numpy")})
	if err != nil && errs.KindOf(err) != errs.Canceled {
		t.Errorf("error %v", err)
	}
	for _, r := range mustRungs(t, e) {
		if r.Reward < 0.5 {
			t.Errorf("reward %.2f", r.Reward)
		}
	}
}

func TestAHangingJobEndsWithItsCaller(t *testing.T) {
	f := newFake("fake", 15, ontology.IsolationProcess)
	e := open(t, banyan.Config{}, f)
	mustRun(t, e, banyan.Job{Code: "x", Need: need()})
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	res, err := e.Execute(ctx, banyan.Job{Code: "hang", Need: need()})
	if err != nil && errs.KindOf(err) == errs.Canceled {
		return // left before the job started
	}
	if err != nil || res.Status != rungs.StatusKilled {
		t.Errorf("%v, %v", res, err)
	}
}

func TestAFullHouseIsRefusedNotQueuedForEver(t *testing.T) {
	f := newFake("fake", 15, ontology.IsolationProcess)
	e := open(t, banyan.Config{MaxRunning: 1, MaxQueued: 1}, f)
	mustRun(t, e, banyan.Job{Code: "x", Need: need()})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	refused := make(chan error, 8)
	for range 8 {
		wg.Go(func() {
			if _, err := e.Execute(ctx, banyan.Job{Code: "hang", Need: need()}); errs.KindOf(err) == errs.Exhausted {
				refused <- err
			}
		})
	}
	for range 6 { // one runs, one waits
		<-refused
	}
	cancel()
	wg.Wait()
}

func TestWhatWasLiveIsRetiredAfterARestart(t *testing.T) {
	dir := t.TempDir()
	f := newFake("fake", 15, ontology.IsolationProcess)
	e := open(t, banyan.Config{Dir: dir}, f)
	res := mustRun(t, e, banyan.Job{Code: "x", Need: need("numpy")})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open(t, banyan.Config{Dir: dir}, newFake("fake", 15, ontology.IsolationProcess))
	s, err := e.Snapshot(t.Context(), res.Plan.Snapshot)
	if err != nil || s.State != ontology.StateRetired {
		t.Errorf("state %s, %v", s.State, err)
	}
	if again := mustRun(t, e, banyan.Job{Code: "x", Need: need("numpy")}); again.Plan.Route != planner.RouteBoot {
		t.Errorf("route %s", again.Plan.Route)
	}
}

func TestBadRequestsAreRefusedWithTheirPlace(t *testing.T) {
	f := newFake("fake", 15, ontology.IsolationProcess)
	e := open(t, banyan.Config{}, f)
	none, text := ontology.IsolationNone, "x"
	for name, c := range map[string]struct {
		job  banyan.Job
		kind errs.Kind
		says string
	}{
		"no code":          {banyan.Job{}, errs.Invalid, "no code"},
		"unknown runtime":  {banyan.Job{Code: "x", Runtime: "cobol"}, errs.Invalid, `"cobol" is not known`},
		"odd runtime name": {banyan.Job{Code: "x", Runtime: "../x"}, errs.Invalid, "not the name of a runtime"},
		"unknown rung":     {banyan.Job{Code: "x", Rung: "rope"}, errs.Invalid, `no rung "rope"`},
		"no bundle":        {banyan.Job{Code: "x", Need: need("bundle:nosuch")}, errs.Invalid, "bundle:nosuch"},
		"broken need":      {banyan.Job{Code: "x", Need: need("x> } ; DROP ALL #")}, errs.Invalid, "not a module name"},
		"many needs":       {banyan.Job{Code: "x", Need: make([]string, 100)}, errs.Invalid, "at most 64"},
		"file twice":       {banyan.Job{Code: "x", Files: []banyan.File{{Path: "a", Text: &text, Base64: &text}}}, errs.Invalid, "either text or base64"},
		"file escapes":     {banyan.Job{Code: "x", Files: []banyan.File{{Path: "../a", Text: &text}}}, errs.Invalid, "../a"},
		"negative limit":   {banyan.Job{Code: "x", Limits: banyan.Limits{WallMS: -5}}, errs.Invalid, ""},
		"host's memory":    {banyan.Job{Code: "x", Limits: banyan.Limits{MemoryBytes: 1 << 40}}, errs.Invalid, "at most"},
		"strong isolation": {banyan.Job{Code: "x", Need: need(), Isolation: ptr(ontology.IsolationMicroVM)}, errs.Unsupported, "no rung"},
		"network":          {banyan.Job{Code: "x", Need: need(), Network: true}, errs.Unsupported, "no rung"},
		"callbacks":        {banyan.Job{Code: "x", Need: need(), Callbacks: need("f")}, errs.Unsupported, "no rung"},
		"code not text":    {banyan.Job{Code: "a\x00b"}, errs.Invalid, "NUL"},
		"none is fine":     {banyan.Job{Code: "x", Need: need(), Isolation: &none}, errs.Internal, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := e.Execute(t.Context(), c.job)
			if name == "none is fine" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if errs.KindOf(err) != c.kind || !strings.Contains(errs.Public(err), c.says) {
				t.Errorf("error %v (%s), want %s with %q", err, errs.KindOf(err), c.kind, c.says)
			}
			if _, planErr := e.Plan(t.Context(), c.job); errs.KindOf(planErr) != c.kind {
				t.Errorf("plan says %v, execute says %v", planErr, err)
			}
		})
	}
}

func ptr[T any](v T) *T { return &v }

func TestImportedDeclarationsServeAtOnce(t *testing.T) {
	f := newFake("fake", 15, ontology.IsolationProcess)
	e := open(t, banyan.Config{}, f)
	turtle := `@prefix bn: <https://seed-ff860830.github.io/banyan/ns#> .
@prefix py: <https://seed-ff860830.github.io/banyan/py/> .
@prefix bundle: <https://seed-ff860830.github.io/banyan/bundle/> .
py:pandas a bn:Module ; bn:importName "pandas" ; bn:implies py:numpy .
bundle:science a bn:Bundle ; bn:implies py:pandas .
`
	rep, err := e.Import(t.Context(), strings.NewReader(turtle), banyan.ImportOptions{Name: "science.ttl"})
	if err != nil {
		t.Fatal(err)
	}
	if rep.Bundles != 1 || rep.Triples != 5 {
		t.Errorf("report %+v", rep)
	}
	res := mustRun(t, e, banyan.Job{Code: "x", Need: need("bundle:science")})
	s, err := e.Snapshot(t.Context(), res.Plan.Snapshot)
	if err != nil {
		t.Fatal(err)
	}
	if !contains(s.Need, ontology.Capability(ontology.PythonNS+"numpy")) {
		t.Errorf("the bundle's closure is not declared: %v", s.Need)
	}
	if res := mustRun(t, e, banyan.Job{Code: "import pandas"}); res.Plan.Route != planner.RouteReuse {
		t.Errorf("an inferred need: route %s", res.Plan.Route)
	}
	_, err = e.Import(t.Context(), strings.NewReader("py:x a"), banyan.ImportOptions{Name: "broken.ttl"})
	if errs.KindOf(err) != errs.Invalid {
		t.Errorf("broken Turtle: %v", err)
	}
}

func TestAClosedEngineRefuses(t *testing.T) {
	e := open(t, banyan.Config{}, newFake("fake", 15, ontology.IsolationProcess))
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Execute(t.Context(), banyan.Job{Code: "x"}); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("execute: %v", err)
	}
	if err := e.Ready(); err == nil {
		t.Error("ready after close")
	}
	if err := e.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

// A manifest's runtime is found by its alias, its limits hold for jobs that
// leave them open, and what it preimports is what a parent holds unasked.
func TestAManifestServesAtOnce(t *testing.T) {
	f := newFake("fake", 15, ontology.IsolationProcess)
	var asked atomic.Pointer[rungs.Limits]
	f.forkErr = func(job rungs.Job) error { asked.Store(&job.Limits); return nil }
	e := open(t, banyan.Config{MaxJobMemory: 300 << 20}, f)
	manifest := `{"language":"python","version":"9","aliases":["nine"],"executable":"/usr/bin/python3","preimport":["numpy"],
		"defaultLimits":{"wall_ms":1500,"memory_bytes":999999999999,"pids":3}}`
	rep, err := e.Import(t.Context(), strings.NewReader(manifest), banyan.ImportOptions{Name: "nine.json"})
	if err != nil || rep.Runtimes != 1 {
		t.Fatalf("import: %+v, %v", rep, err)
	}
	mustRun(t, e, banyan.Job{Runtime: "nine", Code: "x", Limits: banyan.Limits{PIDs: 5}})
	limits := asked.Load()
	if limits == nil || limits.Wall != 1500*time.Millisecond || limits.MemoryBytes != 300<<20 || limits.PIDs != 5 {
		t.Errorf("the job's limits are %+v", limits)
	}
	sn, err := e.Warm(t.Context(), banyan.WarmRequest{Runtime: "nine"})
	if err != nil || sn.Runtime != "python-9" || !contains(sn.Need, ontology.Capability(ontology.PythonNS+"numpy")) {
		t.Errorf("warm: %+v, %v", sn, err)
	}
	empty, err := e.Warm(t.Context(), banyan.WarmRequest{Runtime: "nine", Need: need()})
	if err != nil || len(empty.Need) != 0 {
		t.Errorf("warm of nothing: %+v, %v", empty, err)
	}
}
