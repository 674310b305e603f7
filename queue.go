package banyan

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// queue bounds one sort of work in the engine: so many run, so many more wait
// for at most a while, the rest is refused at once.
type queue struct {
	what    string // in messages, in the plural
	places  *semaphore.Weighted
	waiting atomic.Int64
	most    int64
	wait    time.Duration
}

func newQueue(what string, running, waiting int, wait time.Duration) *queue {
	return &queue{what: what, places: semaphore.NewWeighted(int64(running)), most: int64(waiting), wait: wait}
}

// enter takes a place, waiting for one if it must. leave gives it back and is
// to be called once. No place is Exhausted; a caller that went away, Canceled.
func (q *queue) enter(ctx context.Context) (leave func(), err error) {
	leave = func() { q.places.Release(1) }
	if ctx.Err() == nil && q.places.TryAcquire(1) {
		return leave, nil
	}
	if q.waiting.Add(1) > q.most {
		q.waiting.Add(-1)
		return nil, errs.New(errs.Exhausted, "too many %s are running and waiting already", q.what).WithHint("try again in a moment")
	}
	defer q.waiting.Add(-1)
	within, cancel := context.WithTimeout(ctx, q.wait)
	defer cancel()
	switch err := q.places.Acquire(within, 1); {
	case err == nil:
		return leave, nil
	case ctx.Err() != nil:
		return nil, errs.Wrap(errs.Canceled, ctx.Err(), "the caller went away")
	}
	return nil, errs.New(errs.Exhausted, "no turn came for one of the %s within %v", q.what, q.wait).WithHint("try again in a moment")
}
