package planner

import (
	"context"
	"errors"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// Outcome is what one use of a rung says about the rung.
type Outcome uint8

// The outcomes. A job's own failure (exception, time, memory) is a success of
// the rung: it did its work.
const (
	// OutcomeNeutral says nothing about the rung: the caller went away, or what
	// was asked could not have worked anywhere. It is the zero value, so that an
	// outcome nobody set blames nobody.
	OutcomeNeutral Outcome = iota
	// OutcomeSuccess is a job that the rung ran, however the job ended.
	OutcomeSuccess
	// OutcomeFailure is a failure of the rung itself.
	OutcomeFailure
)

// String returns the outcome's name, as a metrics label.
func (o Outcome) String() string {
	switch o {
	case OutcomeSuccess:
		return "success"
	case OutcomeFailure:
		return "failure"
	default:
		return "neutral"
	}
}

// OutcomeOf says whom an error from a rung is to be blamed on. Only what a
// caller cannot bring about at will blames the rung, or one hostile client
// could close it for all: a cancelled or expired context, a bad spec, a closed
// parent and a full queue are neutral. A rung that hangs must therefore report
// its own bound as RungFailed; that is a failure even if an expired context is
// the cause, while a cancelled one never is. An error that nobody classified is
// a failure.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return OutcomeSuccess
	}
	kind := errs.KindOf(err)
	if errors.Is(err, context.Canceled) || kind != errs.RungFailed && errors.Is(err, context.DeadlineExceeded) {
		return OutcomeNeutral
	}
	switch kind {
	case errs.RungFailed, errs.Unavailable, errs.Internal, errs.Corrupt:
		return OutcomeFailure
	default:
		return OutcomeNeutral
	}
}
