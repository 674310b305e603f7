package server

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
)

// A job says before it runs how much it may bring back, and what it brings
// back stays in memory until the caller has read it, which may be long after
// the job gave its slot to the next. So a share of one budget is taken for the
// most that a job may bring, cut down to what it did bring, and given back when
// the answer has been sent.

// copiesHeld is how many times what a job prints is in memory at the worst: as
// it is read, with the buffer that it outgrew, as bytes and as text.
const copiesHeld = 4

// artifactsHeld is taken for a job that asks for artifacts: the most that all
// artifacts of one job may have together.
const artifactsHeld = 32 << 20

// results bounds what finished and running jobs hold in memory.
type results struct {
	sem     *semaphore.Weighted
	bytes   int64
	timeout time.Duration
}

func newResults(bytes int64, timeout time.Duration) *results {
	return &results{sem: semaphore.NewWeighted(bytes), bytes: bytes, timeout: timeout}
}

// held is the share of one job. It belongs to one goroutine.
type held struct {
	sem   *semaphore.Weighted
	bytes int64
}

// take waits for a share that is large enough for what job may bring back. A
// job that may bring more than the whole budget waits until it has all of it.
func (r *results) take(ctx context.Context, job banyan.Job) (*held, error) {
	h := &held{sem: r.sem, bytes: min(mostHeld(job), r.bytes)}
	within, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	switch err := r.sem.Acquire(within, h.bytes); {
	case err == nil:
		return h, nil
	case ctx.Err() != nil:
		return nil, errs.Wrap(errs.Canceled, ctx.Err(), "the caller went away")
	}
	return nil, errs.New(errs.Exhausted, "the results of other jobs take up too much memory; none became free within %v", r.timeout).
		WithHint("ask for less with limits.output_bytes, or try again after Retry-After")
}

// mostHeld is the most that a job may hold. A limit beyond the bounds is
// refused by the engine, and must not overflow here.
func mostHeld(job banyan.Job) int64 {
	out := job.Limits.OutputBytes
	if out <= 0 {
		out = banyan.DefaultOutputBytes
	}
	n := copiesHeld * 2 * min(out, banyan.MaxOutputBytes)
	if len(job.Artifacts) > 0 {
		n += artifactsHeld
	}
	return n
}

// shrink gives back what is more than n bytes.
func (h *held) shrink(n int64) {
	if n < h.bytes {
		h.sem.Release(h.bytes - n)
		h.bytes = n
	}
}

// giveBack gives the whole share back; a second time it does nothing.
func (h *held) giveBack() { h.shrink(0) }
