package forkserver

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
)

func verify(m *testing.M) { goleak.VerifyTestMain(m) }

// pythonPath is the interpreter to test with.
func pythonPath() string {
	if p := os.Getenv("BANYAN_PYTHON"); p != "" {
		return p
	}
	return "/usr/bin/python3"
}

// quiet drops the log; -v shows it.
func quiet() *slog.Logger {
	if testing.Verbose() {
		return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return slog.New(slog.DiscardHandler)
}

// newRung returns a rung, or skips where it cannot run.
func newRung(t testing.TB, change ...func(*Config)) *Rung {
	t.Helper()
	cfg := Config{Python: pythonPath(), Logger: quiet()}
	for _, f := range change {
		f(&cfg)
	}
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("close rung: %v", err)
		}
		if n := r.uids.held(); n != 0 {
			t.Errorf("%d user ids are still held", n)
		}
	})
	if err := r.Probe(context.Background()); err != nil {
		if os.Geteuid() != 0 {
			t.Skipf("the forkserver rung needs root: %v", err)
		}
		t.Fatalf("probe: %v", err)
	}
	return r
}

// specOf is a spec with modules and set-up code.
func specOf(setup string, modules ...string) rungs.Spec {
	s := rungs.Spec{Setup: setup, Runtime: rungs.Runtime{
		ID: "python", Language: "python", Executable: pythonPath(), Namespace: ontology.PythonNS,
	}}
	for _, m := range modules {
		s.Modules = append(s.Modules, rungs.Module{Capability: ontology.Capability(string(ontology.PythonNS) + m), ImportName: m})
	}
	return s
}

func boot(t testing.TB, r *Rung, spec rungs.Spec) *parent {
	t.Helper()
	p, err := r.Boot(context.Background(), spec)
	if err != nil {
		t.Fatalf("boot: %v", err)
	}
	t.Cleanup(func() { _ = p.Close("test is over") })
	return p.(*parent)
}

// jobOf is a job with short limits, so that a test that hangs says so soon.
func jobOf(code string) rungs.Job {
	return rungs.Job{ID: ontology.NewRunID(), Code: code, Limits: rungs.Limits{Wall: 20 * time.Second}}
}

func start(t testing.TB, p rungs.Parent, job rungs.Job) rungs.Child {
	t.Helper()
	c, err := p.Fork(context.Background(), job)
	if err != nil {
		t.Fatalf("fork: %v", err)
	}
	return c
}

func wait(t testing.TB, c rungs.Child) *rungs.Result {
	t.Helper()
	res, err := c.Wait(context.Background())
	if err != nil {
		t.Fatalf("wait: %v", err)
	}
	return res
}

// waitSpares waits until the parent has its spares, so that counts compare.
func waitSpares(t testing.TB, p *parent) {
	t.Helper()
	eventually(t, "spares are ready", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		ready := 0
		for _, c := range p.spares {
			select {
			case <-c.launched:
				ready++
			default:
			}
		}
		return ready == p.rung.cfg.Spares && len(p.children) == ready
	})
}

func run(t testing.TB, p rungs.Parent, code string) *rungs.Result {
	t.Helper()
	return wait(t, start(t, p, jobOf(code)))
}

// eventually polls until ok, for ten seconds at the most.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
	}
}
