package planner

import (
	"math"
	"time"
)

// RewardAlpha is the weight of the newest outcome (DESIGN §7.2).
const RewardAlpha = 0.3

// RewardHalfLife is the time in which a reward drifts half way back to ½: old
// news, good or bad, must not decide for ever.
const RewardHalfLife = 10 * time.Minute

// Reward is the moving average of a rung's outcomes, in [0,1], that forgets
// with time. The zero value is neutral, ½. It is a value: methods return the
// next one. The caller guards what it stores.
type Reward struct {
	// Offset is the reward's distance from ½ at the time At, in [−½,½].
	Offset float64 `json:"offset"`
	// At is when the last outcome came; zero if none has.
	At time.Time `json:"at"`
}

// Value returns the reward at the time now. A clock that went back counts as
// no time at all.
func (r Reward) Value(now time.Time) float64 {
	offset := min(max(r.Offset, -neutralReward), neutralReward)
	if math.IsNaN(offset) {
		return neutralReward
	}
	if past := now.Sub(r.At); past > 0 {
		offset *= math.Exp2(-float64(past) / float64(RewardHalfLife))
	}
	return neutralReward + offset
}

// Observe returns the reward after an outcome at the time now: success pulls
// it to 1, failure to 0, a neutral outcome changes nothing.
func (r Reward) Observe(o Outcome, now time.Time) Reward {
	target := 0.0
	switch o {
	case OutcomeSuccess:
		target = 1
	case OutcomeFailure:
	default:
		return r
	}
	v := r.Value(now)
	v += RewardAlpha * (target - v)
	if r.At.After(now) {
		now = r.At
	}
	return Reward{Offset: v - neutralReward, At: now}
}
