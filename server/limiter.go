package server

import (
	"context"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// limiter bounds one kind of work: so many run, so many more wait, the rest is
// refused at once.
//
// A request takes a place before its body is read, so that waiting bodies are
// bounded as well; it takes a slot only once it is read and understood, so that
// a slow sender holds up no runner.
type limiter struct {
	places  chan struct{} // running and waiting
	slots   chan struct{} // running
	timeout time.Duration
}

func newLimiter(running, waiting int, timeout time.Duration) *limiter {
	return &limiter{
		places:  make(chan struct{}, running+waiting),
		slots:   make(chan struct{}, running),
		timeout: timeout,
	}
}

// enter takes a place or returns an Exhausted error; leave gives it back.
func (l *limiter) enter() (leave func(), err error) {
	select {
	case l.places <- struct{}{}:
		return func() { <-l.places }, nil
	default:
		return nil, errs.New(errs.Exhausted, "%d requests are running or waiting already", cap(l.places)).
			WithHint("try again after Retry-After")
	}
}

// acquire takes a slot, waiting for one if it must; release gives it back.
func (l *limiter) acquire(ctx context.Context) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, errs.Wrap(errs.Canceled, err, "the caller went away")
	}
	release = func() { <-l.slots }
	select {
	case l.slots <- struct{}{}:
		return release, nil
	default:
	}
	timer := time.NewTimer(l.timeout)
	defer timer.Stop()
	select {
	case l.slots <- struct{}{}:
		return release, nil
	case <-ctx.Done():
		return nil, errs.Wrap(errs.Canceled, ctx.Err(), "the caller went away")
	case <-timer.C:
		return nil, errs.New(errs.Exhausted, "no turn came within %v: %d others are running", l.timeout, cap(l.slots)).
			WithHint("try again after Retry-After")
	}
}
