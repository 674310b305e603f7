package banyan_test

import (
	"context"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
	"github.com/seed-ff860830/banyan/rungs"
)

// executeUntil tries a job until it is taken, and returns its error if it is
// not within ten seconds.
func executeUntil(t *testing.T, e *banyan.Engine, j banyan.Job) (err error) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		if _, err = e.Execute(t.Context(), j); err == nil {
			return nil
		}
	}
	return err
}

// TestLongProbeDoesNotKeepTheRungClosed: the job that tries a rung again may
// run for hours. That it runs is the proof; the others need not wait for its
// end.
func TestLongProbeDoesNotKeepTheRungClosed(t *testing.T) {
	f := newFake("fake", 15, ontology.IsolationProcess)
	e := open(t, banyan.Config{}, f)
	f.set(func() {
		f.forkErr = func(rungs.Job) error { return errs.New(errs.RungFailed, "no fork") }
	})
	for range planner.BreakerThreshold {
		if _, err := e.Execute(t.Context(), banyan.Job{Code: "x", Need: need()}); errs.KindOf(err) != errs.RungFailed {
			t.Fatalf("a failing rung gives %v", err)
		}
	}
	if _, err := e.Execute(t.Context(), banyan.Job{Code: "x", Need: need()}); errs.KindOf(err) != errs.Unavailable {
		t.Fatalf("an open breaker gives %v", err)
	}
	f.set(func() { f.forkErr = nil })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil && f.forks.Load() == 0 { // until it is let in
			_, _ = e.Execute(ctx, banyan.Job{Code: "hang", Need: need()})
		}
	}()
	defer func() {
		cancel()
		<-ended
	}()
	for f.forks.Load() == 0 {
		<-time.After(5 * time.Millisecond)
	}
	if err := executeUntil(t, e, banyan.Job{Code: "x", Need: need()}); err != nil {
		t.Errorf("while the probe runs: %v", err)
	}
}

// TestLostParentIsOneFailure, however many jobs it takes along.
func TestLostParentIsOneFailure(t *testing.T) {
	f := newFake("fake", 15, ontology.IsolationProcess)
	e := open(t, banyan.Config{}, f)
	f.set(func() { f.waitErr = errs.New(errs.RungFailed, "the parent ended") })
	for range 2 * planner.BreakerThreshold {
		if _, err := e.Execute(t.Context(), banyan.Job{Code: "x", Need: need()}); errs.KindOf(err) != errs.RungFailed {
			t.Fatalf("a job lost with its parent gives %v", err)
		}
	}
	f.set(func() { f.waitErr = nil })
	mustRun(t, e, banyan.Job{Code: "x", Need: need()})
	// Parents that are lost one after the other are as many failures.
	f.set(func() { f.waitErr = errs.New(errs.RungFailed, "the parent ended") })
	for _, m := range []string{"numpy", "pandas", "scipy"} {
		_, _ = e.Execute(t.Context(), banyan.Job{Code: "x", Need: need(m), Match: ontology.MatchExact})
	}
	if _, err := e.Execute(t.Context(), banyan.Job{Code: "x", Need: need()}); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("after three lost parents: %v", err)
	}
}
