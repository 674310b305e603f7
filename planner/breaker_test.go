package planner_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/planner"
)

// run sends one job through the breaker and tells it the outcome.
func run(t *testing.T, b planner.Breaker, o planner.Outcome, now time.Time) planner.Breaker {
	t.Helper()
	b, pass, ok := b.Admit(now)
	if !ok {
		t.Fatalf("not admitted: %s", b.Reason(now))
	}
	return b.Observe(pass, o, now)
}

// broken is a breaker that opened at t0.
func broken(t *testing.T) planner.Breaker {
	t.Helper()
	var b planner.Breaker
	for range planner.BreakerThreshold {
		b = run(t, b, planner.OutcomeFailure, t0)
	}
	return b
}

func TestBreakerOpensAfterFailuresInARow(t *testing.T) {
	var b planner.Breaker
	for range 10 { // a success between starts the count again, a neutral one does not
		for range planner.BreakerThreshold - 1 {
			b = run(t, b, planner.OutcomeFailure, t0)
			b = run(t, b, planner.OutcomeNeutral, t0)
		}
		if b.State(t0) != planner.BreakerClosed || b.Reason(t0) != "" {
			t.Fatalf("%s: %s", b.State(t0), b.Reason(t0))
		}
		b = run(t, b, planner.OutcomeSuccess, t0)
	}
	b = broken(t)
	if b.State(t0) != planner.BreakerOpen || !strings.Contains(b.Reason(t0), "failed 3 times in a row; one job tries it again in 1s") {
		t.Errorf("%s: %q", b.State(t0), b.Reason(t0))
	}
	if _, _, ok := b.Admit(t0); ok {
		t.Error("an open breaker admits a job")
	}
}

func TestBreakerAdmitsOneProbe(t *testing.T) {
	b := broken(t)
	now := t0.Add(planner.BreakerBackoff)
	if b.State(now) != planner.BreakerHalfOpen || b.Reason(now) != "" {
		t.Fatalf("%s: %q", b.State(now), b.Reason(now))
	}
	b, probe, ok := b.Admit(now)
	if !ok || !probe.Probe() {
		t.Fatalf("no probe: %v", ok)
	}
	if _, _, second := b.Admit(now); second || !strings.Contains(b.Reason(now), "one job is trying it now") {
		t.Errorf("a second probe: %v, %q", second, b.Reason(now))
	}

	closed := b.Observe(probe, planner.OutcomeSuccess, now)
	if closed.State(now) != planner.BreakerClosed {
		t.Errorf("after a good probe: %s", closed.State(now))
	}
	// The count starts anew: one failure does not open it again.
	if again := run(t, closed, planner.OutcomeFailure, now); again.State(now) != planner.BreakerClosed {
		t.Errorf("opened by the first failure after a good probe")
	}

	free := b.Observe(probe, planner.OutcomeNeutral, now)
	if _, next, ok := free.Admit(now); !ok || !next.Probe() {
		t.Error("a cancelled probe does not free its place")
	}

	if failed := b.Observe(probe, planner.OutcomeFailure, now); failed.State(now) != planner.BreakerOpen {
		t.Errorf("after a bad probe: %s", failed.State(now))
	}
}

func TestBreakerBackOffDoublesToACap(t *testing.T) {
	b, now := broken(t), t0
	wait := planner.BreakerBackoff
	for range 20 {
		if s := b.State(now.Add(wait - 1)); s != planner.BreakerOpen {
			t.Fatalf("after %s less a tick: %s", wait, s)
		}
		if now = now.Add(wait); b.State(now) != planner.BreakerHalfOpen {
			t.Fatalf("after %s: %s", wait, b.State(now))
		}
		b = run(t, b, planner.OutcomeFailure, now)
		wait = min(2*wait, planner.BreakerMaxBackoff)
	}
	if wait != planner.BreakerMaxBackoff {
		t.Errorf("the cap was not reached: %s", wait)
	}
}

func TestBreakerForgetsALostProbe(t *testing.T) {
	b := broken(t)
	now := t0.Add(planner.BreakerBackoff)
	b, lost, _ := b.Admit(now)
	if _, _, ok := b.Admit(now.Add(planner.BreakerProbeLease - 1)); ok {
		t.Error("a second probe within the lease")
	}
	now = now.Add(planner.BreakerProbeLease)
	b, probe, ok := b.Admit(now)
	if !ok {
		t.Fatal("a lost probe shuts the rung for ever")
	}
	if late := b.Observe(lost, planner.OutcomeSuccess, now); late.State(now) != planner.BreakerHalfOpen {
		t.Error("the lost probe's late word counts")
	}
	if good := b.Observe(probe, planner.OutcomeSuccess, now); good.State(now) != planner.BreakerClosed {
		t.Error("the second probe's word does not count")
	}
}

// What jobs that started before have to say must not close a breaker, nor open
// it again after a good probe.
func TestBreakerDropsOldNews(t *testing.T) {
	var b planner.Breaker
	b, old, _ := b.Admit(t0)
	for range planner.BreakerThreshold {
		b = run(t, b, planner.OutcomeFailure, t0)
	}
	now := t0.Add(planner.BreakerBackoff)
	b, probe, _ := b.Admit(now)
	if b = b.Observe(old, planner.OutcomeSuccess, now); b.State(now) != planner.BreakerHalfOpen {
		t.Fatalf("old news moved it to %s", b.State(now))
	}
	b = b.Observe(probe, planner.OutcomeSuccess, now)
	for range 2 * planner.BreakerThreshold {
		b = b.Observe(old, planner.OutcomeFailure, now)
	}
	if b.State(now) != planner.BreakerClosed {
		t.Error("old news opened it")
	}
}

func TestBreakerNeverRunsTwoProbes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b planner.Breaker
		now := t0
		type job struct {
			pass planner.Pass
			at   time.Time
		}
		var running []job
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(2*time.Second)).Draw(t, "pass")))
			if len(running) > 0 && rapid.Bool().Draw(t, "ends") {
				j := running[0]
				running = running[1:]
				o := planner.Outcome(rapid.IntRange(0, 2).Draw(t, "outcome"))
				was := b.State(now)
				b = b.Observe(j.pass, o, now)
				if was == planner.BreakerClosed && b.State(now) == planner.BreakerOpen && o != planner.OutcomeFailure {
					t.Fatalf("opened by %s", o)
				}
				continue
			}
			may := b.Reason(now) == ""
			next, pass, ok := b.Admit(now)
			if ok != may {
				t.Fatalf("admitted %v, though the plan says %v", ok, may)
			}
			if !ok {
				continue
			}
			b = next
			for _, j := range running {
				if pass.Probe() && j.pass.Probe() && now.Before(j.at.Add(planner.BreakerProbeLease)) {
					t.Fatalf("two probes at once")
				}
			}
			running = append(running, job{pass, now})
		}
	})
}

// The names are labels of metrics: they must not change.
func TestNamesOfStatesAndOutcomes(t *testing.T) {
	got := fmt.Sprint(planner.BreakerClosed, planner.BreakerOpen, planner.BreakerHalfOpen,
		planner.OutcomeNeutral, planner.OutcomeSuccess, planner.OutcomeFailure)
	if want := "closed open half-open neutral success failure"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestOutcomeBlamesOnlyTheRung(t *testing.T) {
	blamed := map[errs.Kind]bool{errs.RungFailed: true, errs.Unavailable: true, errs.Internal: true, errs.Corrupt: true}
	for _, k := range errs.Kinds() {
		want := planner.OutcomeNeutral
		if blamed[k] {
			want = planner.OutcomeFailure
		}
		if got := planner.OutcomeOf(fmt.Errorf("fork: %w", errs.New(k, "x"))); got != want {
			t.Errorf("%s is %s, want %s", k, got, want)
		}
	}
	for _, tc := range []struct {
		err  error
		want planner.Outcome
	}{
		{nil, planner.OutcomeSuccess},
		{errors.New("pipe broke"), planner.OutcomeFailure},
		{context.Canceled, planner.OutcomeNeutral},
		{errs.Wrap(errs.RungFailed, context.Canceled, "fork"), planner.OutcomeNeutral},
		{errs.Wrap(errs.RungFailed, context.DeadlineExceeded, "no word from the agent"), planner.OutcomeFailure},
		{errs.Wrap(errs.Internal, context.DeadlineExceeded, "boot"), planner.OutcomeNeutral},
	} {
		if got := planner.OutcomeOf(tc.err); got != tc.want {
			t.Errorf("%v is %s, want %s", tc.err, got, tc.want)
		}
	}
}
