package planner

// EstimateAlpha is the weight of the newest sample once there are enough.
const EstimateAlpha = 0.2

// maxJump bounds one sample to a multiple of the estimate: one hiccup of the
// machine must not colour the next dozen plans, and a true change still arrives
// within a few samples.
const maxJump = 4

// Estimate learns a cost in milliseconds from samples, the newest weighing most:
// the mean of the first 1/EstimateAlpha samples, an exponentially weighted one
// from then on. The zero value knows nothing. It is a value; the caller guards
// what it stores.
type Estimate struct {
	// MS is the estimate in milliseconds, 0 while there is no sample.
	MS float64 `json:"ms"`
	// N counts the samples.
	N int64 `json:"n"`
}

// Observe returns the estimate after one more sample in milliseconds. What
// cannot be a duration (no number, none or less, more than a day) is dropped.
func (e Estimate) Observe(ms float64) Estimate {
	if !measured(ms) {
		return e
	}
	if e.N <= 0 || !measured(e.MS) {
		return Estimate{MS: ms, N: 1}
	}
	e.N++
	weight := max(EstimateAlpha, 1/float64(e.N))
	e.MS += weight * (min(ms, maxJump*e.MS) - e.MS)
	return e
}
