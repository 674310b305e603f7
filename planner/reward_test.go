package planner_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-ff860830/banyan/planner"
)

var t0 = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestRewardIsAnAverageWithAlpha(t *testing.T) {
	var r planner.Reward
	for i, step := range []struct {
		outcome planner.Outcome
		want    float64
	}{
		{planner.OutcomeNeutral, 0.5},
		{planner.OutcomeSuccess, 0.65},
		{planner.OutcomeFailure, 0.455},
		{planner.OutcomeNeutral, 0.455},
		{planner.OutcomeFailure, 0.3185},
	} {
		if r = r.Observe(step.outcome, t0); !near(r.Value(t0), step.want) {
			t.Errorf("step %d (%s): %v, want %v", i, step.outcome, r.Value(t0), step.want)
		}
	}
}

func TestRewardDriftsBackToNeutral(t *testing.T) {
	r := planner.Reward{}.Observe(planner.OutcomeSuccess, t0) // 0.65
	for _, tc := range []struct {
		after time.Duration
		want  float64
	}{
		{0, 0.65},
		{-time.Hour, 0.65}, // a clock that went back
		{planner.RewardHalfLife, 0.575},
		{2 * planner.RewardHalfLife, 0.5375},
		{1000 * planner.RewardHalfLife, 0.5},
	} {
		if got := r.Value(t0.Add(tc.after)); !near(got, tc.want) {
			t.Errorf("after %s: %v, want %v", tc.after, got, tc.want)
		}
	}
	// An outcome that comes with an older clock does not make the reward older.
	if back := r.Observe(planner.OutcomeSuccess, t0.Add(-time.Hour)); !near(back.Value(t0), 0.755) {
		t.Errorf("after a clock that went back: %v, want 0.755", back.Value(t0))
	}
	// The next outcome counts from where it has drifted to.
	next := r.Observe(planner.OutcomeFailure, t0.Add(planner.RewardHalfLife))
	if got := next.Value(t0.Add(planner.RewardHalfLife)); !near(got, 0.575*0.7) {
		t.Errorf("%v, want %v", got, 0.575*0.7)
	}
}

func TestRewardStaysInBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := planner.Reward{Offset: rapid.Float64().Draw(t, "stored")}
		now := t0
		for range rapid.IntRange(0, 50).Draw(t, "n") {
			now = now.Add(time.Duration(rapid.Int64Range(-1e12, 1e12).Draw(t, "step")))
			last := r
			o := planner.Outcome(rapid.IntRange(0, 3).Draw(t, "outcome"))
			r = r.Observe(o, now)
			v, old := r.Value(now), last.Value(now)
			if !(v >= 0 && v <= 1) {
				t.Fatalf("reward %v", v)
			}
			if o == planner.OutcomeSuccess && v < old || o == planner.OutcomeFailure && v > old {
				t.Fatalf("%s moved %v to %v", o, old, v)
			}
		}
	})
	if v := (planner.Reward{Offset: math.NaN()}).Value(t0); v != 0.5 {
		t.Errorf("no number gives %v", v)
	}
}

func TestEstimateLearns(t *testing.T) {
	var e planner.Estimate
	for i, step := range []struct{ sample, want float64 }{
		{0, 0},
		{math.NaN(), 0},
		{math.Inf(1), 0},
		{-1, 0},
		{1e12, 0}, // more than a day
		{1, 1},    // the first counts in full
		{2, 1.5},  // then the mean
		{3, 2},    //
		{2, 2},
		{2, 2}, // five samples
		{2, 2},
		{3, 2.2},                  // then EstimateAlpha
		{1000, 2.2 + 0.2*(3*2.2)}, // one hiccup counts as four times the estimate
	} {
		if e = e.Observe(step.sample); !near(e.MS, step.want) {
			t.Fatalf("step %d, sample %v: %v, want %v", i, step.sample, e.MS, step.want)
		}
	}
	for range 60 {
		e = e.Observe(1000)
	}
	if math.Abs(e.MS-1000) > 10 {
		t.Errorf("a lasting change has not arrived: %v", e.MS)
	}
	for range 60 {
		e = e.Observe(1)
	}
	if math.Abs(e.MS-1) > 0.01 {
		t.Errorf("a lasting change has not arrived: %v", e.MS)
	}
}

func TestEstimateStaysWithinItsSamples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := rapid.SliceOfN(rapid.Float64Range(0.001, 1e6), 1, 60).Draw(t, "samples")
		e := planner.Estimate{}
		low, high := math.Inf(1), 0.0
		for _, s := range samples {
			low, high = min(low, s), max(high, s)
			if e = e.Observe(s); e.MS < low*(1-1e-9) || e.MS > high*(1+1e-9) {
				t.Fatalf("%v is outside [%v, %v]", e.MS, low, high)
			}
		}
	})
}
