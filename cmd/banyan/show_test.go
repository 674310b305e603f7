package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
)

// wantText compares word by word: columns are not what these tests are about.
func wantText(t *testing.T, got, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.Fields(want), strings.Fields(got)); diff != "" {
		t.Errorf("the text differs (-want +got):\n%s", diff)
	}
}

func TestDoctorOnATerminal(t *testing.T) {
	ta := newTestApp(t)
	want := `ok    store: 99 triples
warn  rung container: runc is not there
      costs: no job can run on the rung container
      fix: apt-get install runc
`
	if got := ta.wantRun(t, "doctor"); got != want+"jobs can run here\n" {
		t.Errorf("doctor prints:\n%s", got)
	}
	ta.eng.sick = true
	if code := ta.run(t, "doctor"); code != 1 || !strings.HasSuffix(ta.out.String(), "no rung with walls works here\n") {
		t.Errorf("exit code %d:\n%s", code, ta.out.String())
	}
	delete(ta.vars, "NO_COLOR")
	if ta.run(t, "doctor"); !strings.Contains(ta.out.String(), "\x1b[31mfail\x1b[0m  rung forkserver") {
		t.Errorf("in colour:\n%q", ta.out.String())
	}
}

func TestRungsOnATerminal(t *testing.T) {
	wantText(t, newTestApp(t).wantRun(t, "rungs"), `
RUNG        RANK  ISOLATION  LANGUAGES  WARM  PARENTS  REWARD  FORK MS  STATE
forkserver  15    process    python     yes   4        0.90    0.61     available
container   18    container  python     no    0        0.50    0.00     not available: runc is not there`)
}

func TestStatusOnATerminal(t *testing.T) {
	wantText(t, newTestApp(t).wantRun(t, "status"), `
NAME VALUE version v0 node host started_at 2026-11-30T12:00:00Z parents 4 running 1 runs 28 triples 99 draining false
rung forkserver available rung container not available: runc is not there`)
}

func TestImportOnATerminal(t *testing.T) {
	ta := newTestApp(t)
	ta.stdin = strings.NewReader("# x")
	wantText(t, ta.wantRun(t, "import", "-", "--graph", "http://e/g", "--dry-run"),
		"would import 3 triples: 1 runtime, 2 capabilities, 0 bundles graph http://e/g")
}

func TestMadeSnapshotsAreExplainedOnATerminal(t *testing.T) {
	ta := newTestApp(t)
	if out := ta.wantRun(t, "warm", "--need", "numpy"); out != string(idLimb)+"\n" || !strings.Contains(ta.err.String(), "was there already on forkserver, 120 MiB resident") {
		t.Errorf("out %q, err %q", out, ta.err.String())
	}
	if ta.wantRun(t, "branch", string(idLimb), "--need", "scipy"); !strings.Contains(ta.err.String(), "made in 812 ms") {
		t.Errorf("err %q", ta.err.String())
	}
}

func TestPlanTexts(t *testing.T) {
	plan := planner.Plan{Choice: planner.Choice{Rung: "forkserver", Route: planner.RouteBranch, Base: idTrunk, Missing: py("numpy"), ExpectedMS: 412}}
	if got := planText(plan); !strings.HasPrefix(got, "plan       branch the snapshot "+string(idTrunk)+", then fork the branch on forkserver, about 412 ms\nto add     py:numpy\n") {
		t.Errorf("branch:\n%s", got)
	}
	plan.Choice = planner.Choice{Rung: "x\x1b[2J", Route: planner.RouteBoot}
	plan.Why = []string{"a\nb"}
	if got := planText(plan); !strings.Contains(got, "boot a new parent, then fork it on x\uFFFD[2J") || !strings.Contains(got, "- a b\n") {
		t.Errorf("boot:\n%q", got)
	}
}

// Every --json is one JSON value, and listings are never null.
func TestJSONIsJSON(t *testing.T) {
	for _, args := range [][]string{
		{"run", "-c", "print x"},
		{"plan", "-c", "x"},
		{"warm"},
		{"branch", string(idLimb), "--need", "x"},
		{"snapshots"},
		{"snapshots", "show", string(idLimb)},
		{"snapshots", "lineage", string(idLeaf)},
		{"snapshots", "rm", string(idLeaf)},
		{"status"},
		{"doctor"},
		{"rungs"},
		{"reap"},
		{"config"},
		{"version"},
	} {
		ta := newTestApp(t)
		out := ta.wantRun(t, append(args, "--json")...)
		var v any
		if err := json.Unmarshal([]byte(out), &v); err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
		if strings.Contains(out, `"items": null`) {
			t.Errorf("%v: a null listing", args)
		}
	}
}

func TestOptions(t *testing.T) {
	ta := newTestApp(t)
	var plan *planOptions
	cmd := newPlanCmd(ta.app, func(_ context.Context, o *planOptions) error { plan = o; return nil })
	cmd.SetArgs([]string{"-c", "x", "--need", "", "--json"})
	if err := cmd.ExecuteContext(t.Context()); err != nil || plan.job.code != "x" || plan.job.need.names() == nil || len(plan.job.need.names()) != 0 || !plan.json {
		t.Errorf("plan: %+v, %v", plan, err)
	}
	var warm *warmOptions
	cmd = newWarmCmd(ta.app, func(_ context.Context, o *warmOptions) error { warm = o; return nil })
	cmd.SetArgs([]string{"--need", "a", "--runtime", "python-3.11", "--rung", "r", "--setup", "s.py"})
	if err := cmd.ExecuteContext(t.Context()); err != nil || warm.runtime != "python-3.11" || warm.rung != "r" || warm.setup != "s.py" {
		t.Errorf("warm: %+v, %v", warm, err)
	}
	cmd = newBranchCmd(ta.app, func(_ context.Context, o *warmOptions) error { warm = o; return nil })
	cmd.SetArgs([]string{"sn_1", "--need", "a,b"})
	if err := cmd.ExecuteContext(t.Context()); err != nil || warm.from != "sn_1" || len(warm.need.names()) != 2 {
		t.Errorf("branch: %+v, %v", warm, err)
	}
	var imp *importOptions
	cmd = newImportCmd(ta.app, func(_ context.Context, o *importOptions) error { imp = o; return nil })
	cmd.SetArgs([]string{"a.ttl", "b.nt", "--dry-run"})
	if err := cmd.ExecuteContext(t.Context()); err != nil || len(imp.files) != 2 || !imp.dryRun {
		t.Errorf("import: %+v, %v", imp, err)
	}
	var exp *exportOptions
	cmd = newExportCmd(ta.app, func(_ context.Context, o *exportOptions) error { exp = o; return nil })
	cmd.SetArgs([]string{"--format", "nquads", "--graph", "http://e/g"})
	if err := cmd.ExecuteContext(t.Context()); err != nil || exp.format != "nquads" || exp.graph != "http://e/g" {
		t.Errorf("export: %+v, %v", exp, err)
	}
	var reap *reapOptions
	cmd = newReapCmd(ta.app, func(_ context.Context, o *reapOptions) error { reap = o; return nil })
	cmd.SetArgs([]string{"--all"})
	if err := cmd.ExecuteContext(t.Context()); err != nil || !reap.all || reap.set.String(config.Data) == "" {
		t.Errorf("reap: %+v, %v", reap, err)
	}
	var one *snapshotOptions
	cmd = newSnapshotsRmCmd(ta.app, func(_ context.Context, o *snapshotOptions) error { one = o; return nil })
	cmd.SetArgs([]string{"sn_1", "sn_2"})
	if err := cmd.ExecuteContext(t.Context()); err != nil || len(one.ids) != 2 || one.ids[1] != ontology.SnapshotID("sn_2") {
		t.Errorf("rm: %+v, %v", one, err)
	}
}
