package planner

import (
	"fmt"
	"time"
)

// The breaker's constants. Three in a row is more than bad luck and still soon
// enough that few jobs pay for it; the cap lets a rung that was mended come back
// within a coffee.
const (
	// BreakerThreshold is how many failures in a row open a breaker.
	BreakerThreshold = 3
	// BreakerBackoff is how long it first stays open; each failed probe doubles it.
	BreakerBackoff = time.Second
	// BreakerMaxBackoff caps the doubling.
	BreakerMaxBackoff = 5 * time.Minute
	// BreakerProbeLease is how long a probe may go without an outcome before
	// another is let through, so that a lost outcome does not close a rung for ever.
	BreakerProbeLease = 2 * time.Minute
)

// BreakerState is where a breaker stands.
type BreakerState uint8

// The states.
const (
	BreakerClosed   BreakerState = iota // jobs run
	BreakerOpen                         // no job runs until the back-off is over
	BreakerHalfOpen                     // one probe job may run, or is running
)

// String returns the state's name, as a metrics label.
func (s BreakerState) String() string {
	switch s {
	case BreakerOpen:
		return "open"
	case BreakerHalfOpen:
		return "half-open"
	default:
		return "closed"
	}
}

// Breaker keeps a failing rung out of plans. The zero value is closed. It is a
// value: methods return the next one; the caller guards what it stores.
//
//	closed ──3 failures in a row──▶ open ──back-off over──▶ half-open
//	   ▲                              ▲                        │
//	   │                              └──probe fails, doubled──┤
//	   └─────────────────probe succeeds────────────────────────┘
//
// Admit is asked for each job before it goes to the rung, and the Pass it gives
// comes back with the outcome. Passes carry the breaker's generation, which
// grows with each change of state and each probe: what a job that started
// before has to say is then old news and is dropped.
type Breaker struct {
	failures   int       // in a row, while closed
	opened     int       // how often it opened without a success between
	until      time.Time // end of the back-off; zero while closed
	probing    bool      // a probe is running
	lease      time.Time // when the probe counts as lost
	generation uint64
}

// Pass is the leave to run one job on a rung.
type Pass struct {
	generation uint64
	probe      bool
}

// Probe reports whether the job is the one that tries a half-open rung.
func (p Pass) Probe() bool { return p.probe }

// State returns where the breaker stands at the time now.
func (b Breaker) State(now time.Time) BreakerState {
	switch {
	case b.opened == 0:
		return BreakerClosed
	case now.Before(b.until):
		return BreakerOpen
	default:
		return BreakerHalfOpen
	}
}

// Reason returns why no job may go to the rung at the time now, "" if one may.
// It is what Rung.BreakerOpen wants.
func (b Breaker) Reason(now time.Time) string {
	switch b.State(now) {
	case BreakerOpen:
		wait := b.until.Sub(now).Round(time.Second)
		return fmt.Sprintf("it failed %d times in a row; one job tries it again in %s", b.failures, max(wait, time.Second))
	case BreakerHalfOpen:
		if b.probeRuns(now) {
			return fmt.Sprintf("it failed %d times in a row; one job is trying it now", b.failures)
		}
	}
	return ""
}

func (b Breaker) probeRuns(now time.Time) bool { return b.probing && now.Before(b.lease) }

// Admit asks leave for one job at the time now. While half-open it gives one
// leave and then none until that probe's outcome, or its lease's end. The
// caller must store the breaker it returns.
func (b Breaker) Admit(now time.Time) (Breaker, Pass, bool) {
	switch b.State(now) {
	case BreakerOpen:
		return b, Pass{}, false
	case BreakerHalfOpen:
		if b.probeRuns(now) {
			return b, Pass{}, false
		}
		b.generation++
		b.probing, b.lease = true, now.Add(BreakerProbeLease)
		return b, Pass{generation: b.generation, probe: true}, true
	default:
		return b, Pass{generation: b.generation}, true
	}
}

// Observe returns the breaker after the outcome of a job it let pass. A neutral
// outcome counts for nothing, but gives a probe's place free.
func (b Breaker) Observe(p Pass, o Outcome, now time.Time) Breaker {
	if p.generation != b.generation {
		return b
	}
	switch o {
	case OutcomeSuccess:
		if b.opened > 0 {
			return Breaker{generation: b.generation + 1}
		}
		b.failures = 0
	case OutcomeFailure:
		if b.failures++; b.failures >= BreakerThreshold {
			return b.open(now)
		}
	default:
		if b.probing {
			b.probing = false
			b.generation++
		}
	}
	return b
}

// open begins the next back-off.
func (b Breaker) open(now time.Time) Breaker {
	wait := BreakerBackoff
	for i := 0; i < b.opened && wait < BreakerMaxBackoff; i++ {
		wait *= 2
	}
	return Breaker{
		failures:   b.failures,
		opened:     b.opened + 1,
		until:      now.Add(min(wait, BreakerMaxBackoff)),
		generation: b.generation + 1,
	}
}
