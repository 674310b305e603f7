package banyan_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
	"github.com/seed-ff860830/banyan/rungs"
)

// real opens an engine on the rungs of this build, or skips where they cannot
// run: the walls need root, the jobs need Python.
func real(t *testing.T, cfg banyan.Config) *banyan.Engine {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("the walls of the forkserver need root")
	}
	python := os.Getenv("BANYAN_PYTHON")
	if python == "" {
		python = "/usr/bin/python3"
	}
	if out, err := exec.Command(python, "-c", "import numpy, pandas").CombinedOutput(); err != nil {
		t.Skipf("%s lacks numpy or pandas: %s", python, out)
	}
	cfg.Python = python
	cfg.InMemory = cfg.Dir == ""
	e, err := banyan.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return e
}

func TestTheMainJobEndToEnd(t *testing.T) {
	e := real(t, banyan.Config{Dir: t.TempDir()})
	f, err := os.Open("examples/python-science.ttl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := e.Import(t.Context(), f, banyan.ImportOptions{Name: "python-science.ttl"}); err != nil {
		t.Fatal(err)
	}
	csv := "a,b\n1,2\n3,4\n"
	job := banyan.Job{
		Need: need("bundle:science"), Files: []banyan.File{{Path: "d/in.csv", Text: &csv}}, Artifacts: []string{"out.csv"},
		Code: "import pandas as pd\nd = pd.read_csv('d/in.csv')\nd.sum().to_csv('out.csv')\nprint(int(d.a.sum()))\nd.b.mean()",
	}
	first := mustRun(t, e, job)
	if first.Status != rungs.StatusOK || first.Stdout != "4\n" || first.Result["text/plain"] == "" || first.Plan.Route != planner.RouteBoot {
		t.Fatalf("first run: %+v", first)
	}
	if len(first.Artifacts) != 1 {
		t.Fatalf("artifacts %+v, skipped %q", first.Artifacts, first.Skipped)
	}
	if data, err := base64.StdEncoding.DecodeString(first.Artifacts[0].Base64); err != nil || !strings.Contains(string(data), "b,6") {
		t.Errorf("artifact %q, %v", data, err)
	}
	for range 5 {
		if res := mustRun(t, e, job); res.Plan.Route != planner.RouteReuse || res.Stdout != "4\n" {
			t.Fatalf("a later run: route %s, %q", res.Plan.Route, res.Stdout)
		}
	}
	s, err := e.Branch(t.Context(), first.Plan.Snapshot, banyan.WarmRequest{Need: need("sqlite3")})
	if err != nil {
		t.Fatal(err)
	}
	if s.DerivedFrom == nil || *s.DerivedFrom != first.Plan.Snapshot {
		t.Errorf("derived from %v, want %s", s.DerivedFrom, first.Plan.Snapshot)
	}
	res := mustRun(t, e, banyan.Job{Code: "import sqlite3, sys\nprint('numpy' in sys.modules)", Need: need("sqlite3", "pandas")})
	if res.Plan.Snapshot != s.ID || res.Stdout != "True\n" {
		t.Errorf("ran in %s (want %s): %q %q", res.Plan.Snapshot, s.ID, res.Stdout, res.Stderr)
	}
	if !contains(s.Provides, ontology.Capability(ontology.PythonNS+"numpy")) {
		t.Errorf("importing pandas is not recorded as providing numpy: %d capabilities", len(s.Provides))
	}
}

func TestWhatJobsDoToThemselvesIsAResult(t *testing.T) {
	e := real(t, banyan.Config{})
	for name, c := range map[string]struct {
		code   string
		limits banyan.Limits
		status rungs.Status
		exit   int
	}{
		"exits":       {"import sys; sys.exit(3)", banyan.Limits{}, rungs.StatusExit, 3},
		"throws":      {"1/0", banyan.Limits{}, rungs.StatusError, 1},
		"hangs":       {"print('a', flush=True)\nwhile True: pass", banyan.Limits{WallMS: 500}, rungs.StatusTimeout, 137},
		"floods":      {"while True: print('x' * 1000)", banyan.Limits{OutputBytes: 10_000}, rungs.StatusOutput, 137},
		"eats memory": {"b = []\nwhile True: b.append(b'x' * (1 << 20))", banyan.Limits{MemoryBytes: 64 << 20}, rungs.StatusMemory, 137},
		"crashes":     {"import ctypes; ctypes.string_at(0)", banyan.Limits{}, rungs.StatusSignal, 139},
		"forks away":  {"import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(300)\nprint('done')", banyan.Limits{}, rungs.StatusOK, 0},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			res := mustRun(t, e, banyan.Job{Code: c.code, Need: need(), Limits: c.limits})
			if res.Status != c.status || res.ExitCode != c.exit {
				t.Errorf("status %s, exit code %d; want %s, %d\nstderr: %s", res.Status, res.ExitCode, c.status, c.exit, res.Stderr)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
			if after := mustRun(t, e, banyan.Job{Code: "print(1+1)", Need: need()}); after.Stdout != "2\n" || after.Plan.Route != planner.RouteReuse {
				t.Errorf("the next job: %q by %s", after.Stdout, after.Plan.Route)
			}
		})
	}
}

func TestAnImportErrorReachesTheCaller(t *testing.T) {
	e := real(t, banyan.Config{})
	for range 2 {
		_, err := e.Execute(t.Context(), banyan.Job{Code: "pass", Need: need("nosuchmodule")})
		if errs.KindOf(err) != errs.Invalid || !strings.Contains(errs.Public(err), "nosuchmodule") {
			t.Fatalf("error %v", err)
		}
	}
	page, err := e.Snapshots(t.Context(), banyan.ListOptions{Live: true})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("parents left: %v, %v", page.Items, err)
	}
	res := mustRun(t, e, banyan.Job{Code: "import nosuchmodule"})
	if res.Status != rungs.StatusError || res.Error == nil || res.Error.Name != "ModuleNotFoundError" {
		t.Errorf("an inferred need: %s, %+v", res.Status, res.Error)
	}
}

func TestB29_ManyCallersOfOneRealParent(t *testing.T) {
	e := real(t, banyan.Config{})
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			res, err := e.Execute(t.Context(), banyan.Job{Code: fmt.Sprintf("import json\nprint(json.dumps(%d))", i), Need: need("json")})
			if err != nil || res.Stdout != fmt.Sprintln(i) {
				t.Errorf("job %d: %v, %+v", i, err, res)
			}
		})
	}
	wg.Wait()
	page, err := e.Snapshots(t.Context(), banyan.ListOptions{})
	if err != nil || len(page.Items) != 1 {
		t.Errorf("%d snapshots ever existed, want 1 (%v)", len(page.Items), err)
	}
}

func BenchmarkExecute(b *testing.B) {
	if os.Getuid() != 0 {
		b.Skip("the walls of the forkserver need root")
	}
	e, err := banyan.Open(b.Context(), banyan.Config{InMemory: true})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	job := banyan.Job{Code: "print(1)", Need: need("numpy", "pandas")}
	if _, err := e.Execute(b.Context(), job); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if res, err := e.Execute(b.Context(), job); err != nil || res.Status != rungs.StatusOK {
			b.Fatal(err, res)
		}
	}
}
