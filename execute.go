package banyan

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
	"github.com/seed-ff860830/banyan/rungs"
)

// maxReplans bounds how often one job is planned anew because a snapshot that
// the plan named was gone when the job came to it.
const maxReplans = 3

// Plan decides how a job would be run and why. Nothing is run.
func (e *Engine) Plan(ctx context.Context, j Job) (planner.Plan, error) {
	if e.closing.Load() {
		return planner.Plan{}, errClosing()
	}
	if _, err := e.checked(ontology.NewRunID(), j); err != nil {
		return planner.Plan{}, err
	}
	view := e.store.View()
	req, err := e.jobRequest(j, view)
	if err != nil {
		return planner.Plan{}, err
	}
	return e.decide(req, view)
}

// Execute runs a job and returns its outcome. What the job does to itself is
// in the Result; the error is Banyan's own failure. When ctx ends, the job is
// killed.
func (e *Engine) Execute(ctx context.Context, j Job) (*Result, error) {
	began := time.Now()
	if e.closing.Load() {
		return nil, errClosing()
	}
	res := &Result{ID: ontology.NewRunID()}
	job, err := e.checked(res.ID, j)
	if err != nil {
		return nil, err
	}
	req, err := e.jobRequest(j, e.store.View())
	if err != nil {
		return nil, err
	}
	leave, err := e.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	r := &run{engine: e, req: req, job: job, res: res}
	if err := r.do(ctx); err != nil {
		return nil, err
	}
	res.Timings.Total = ms(time.Since(began))
	return res, nil
}

// checked makes of a request the job that a rung runs, within this host's bounds.
func (e *Engine) checked(id ontology.RunID, j Job) (rungs.Job, error) {
	if rt, known := e.store.Runtime(cmp.Or(j.Runtime, DefaultRuntime)); known {
		j.Limits = j.Limits.orDefaults(rt.Limits, e.cfg.MaxJobMemory)
	}
	job, err := rungJob(id, j)
	if err == nil && job.Limits.MemoryBytes > e.cfg.MaxJobMemory {
		err = invalidAt("/limits/memory_bytes", "limit memory_bytes is %d; a job may have at most %d here", job.Limits.MemoryBytes, e.cfg.MaxJobMemory)
	}
	return job, err
}

// enter takes a place for one job, or refuses when too many wait already.
func (e *Engine) enter(ctx context.Context) (leave func(), err error) {
	if !e.places.TryAcquire(1) {
		if e.waiting.Add(1) > int64(e.cfg.MaxQueued) {
			e.waiting.Add(-1)
			return nil, errs.New(errs.Exhausted, "%d jobs run and %d wait; no more are taken now", e.cfg.MaxRunning, e.cfg.MaxQueued)
		}
		err := e.places.Acquire(ctx, 1)
		e.waiting.Add(-1)
		if err != nil {
			return nil, errs.Wrap(errs.Canceled, err, "the caller left while the job waited for a place")
		}
	}
	e.running.Add(1)
	e.runs.Add(1)
	return func() {
		e.running.Add(-1)
		e.places.Release(1)
	}, nil
}

// run is one job on its way through a plan.
type run struct {
	engine *Engine
	req    request
	job    rungs.Job
	res    *Result
	plan   planner.Plan
}

// do plans and carries the plan out, and plans again where the snapshot that
// it named is gone.
func (r *run) do(ctx context.Context) error {
	for range maxReplans {
		began := time.Now()
		var err error
		r.res.Plan.FallbacksUsed = nil
		r.plan, err = r.engine.decide(r.req, r.engine.store.View())
		r.res.Timings.Plan += ms(time.Since(began))
		if err != nil {
			return err
		}
		err = r.follow(ctx)
		if errs.KindOf(err) == errs.Conflict {
			continue // the parent died or was closed under us; no user code ran
		}
		return err
	}
	return errs.New(errs.Unavailable, "the warm parents of this job ended %d times while it was about to start", maxReplans)
}

// follow tries the plan's choices in order. It goes on to the next only after
// a rung's own failure before any user code ran, or where the rung finds that
// it cannot hold this need (a module that starts a thread cannot be forked).
func (r *run) follow(ctx context.Context) error {
	var last error
	for _, choice := range r.plan.Choices {
		if last != nil {
			r.res.Plan.FallbacksUsed = append(r.res.Plan.FallbacksUsed, errs.Public(last))
		}
		started, err := r.try(ctx, choice)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil && !started:
			return errs.Wrap(errs.Canceled, err, "the caller left before the job started")
		case started || !r.rungFault(err) && errs.KindOf(err) != errs.Unsupported:
			return r.failed(choice, err, started)
		}
		last = fmt.Errorf("rung %s: %w", choice.Rung, err)
		r.engine.log.WarnContext(ctx, "rung failed; trying the next", "run", r.job.ID, "rung", choice.Rung, "error", err)
	}
	return r.failed(r.plan.Choice, last, false)
}

// rungFault reports whether an error is the rung's own failure, so that
// another rung may do better.
func (r *run) rungFault(err error) bool {
	switch errs.KindOf(err) {
	case errs.RungFailed, errs.Unavailable, errs.Timeout, errs.Internal:
		return true
	}
	return false
}

// failed wraps a rung's failure with the plan that failed. What the caller has
// to mend (a wrong need, a full house) stays as it is, unless user code may
// have run: then it is the rung's failure whatever it calls itself, so that
// nobody takes it for a reason to try again.
func (r *run) failed(choice planner.Choice, err error, started bool) error {
	text := "the rung %s failed before the job started"
	if started {
		text = "the rung %s failed after the job may have started; it is not run again"
	} else if !r.rungFault(err) {
		return err
	}
	return &PlanError{Plan: r.plan, Err: errs.Wrap(errs.RungFailed, err, text, string(choice.Rung)).WithID(string(r.job.ID))}
}

// PlanError is a rung's failure with the plan that failed.
type PlanError struct {
	Plan planner.Plan
	Err  error
}

// Error returns the failure's text.
func (e *PlanError) Error() string { return e.Err.Error() }

// Unwrap returns the failure.
func (e *PlanError) Unwrap() error { return e.Err }

// FailedPlan returns the plan, for an answer that shows it.
func (e *PlanError) FailedPlan() any { return e.Plan }

// try runs the job by one choice. started says that user code may have run.
func (r *run) try(ctx context.Context, choice planner.Choice) (started bool, err error) {
	e := r.engine
	pass, ok := e.learned.admit(choice.Rung, time.Now())
	if !ok {
		return false, errs.New(errs.Unavailable, "it failed a moment ago and is being tried by another job")
	}
	child, lease, err := r.forkOnce(ctx, choice)
	if err != nil {
		e.learned.observe(choice.Rung, pass, blame(ctx, err), time.Now())
		return false, err
	}
	defer lease.Release()
	if pass.Probe() {
		// Told now and not at the job's end: the rung has shown that it works, and
		// a probe that runs for hours must not keep all other jobs out as long.
		e.learned.observe(choice.Rung, pass, nil, time.Now())
	}
	out, err := child.Wait(ctx)
	if err != nil {
		e.learned.lost(choice.Rung, pass, lease.Live().ID, blame(ctx, err), time.Now())
		return true, err
	}
	e.learned.observe(choice.Rung, pass, nil, time.Now())
	e.learned.forked(choice.Rung, out.Fork)
	fillResult(r.res, out)
	return true, nil
}

// blame returns what a rung is to be judged by: a caller who left is nobody's
// failure.
func blame(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// forkOnce borrows the parent and forks it. The lease is the caller's to release
// if there is no error; if there is one, no user code has run.
func (r *run) forkOnce(ctx context.Context, choice planner.Choice) (child rungs.Child, lease *rungs.Lease, err error) {
	began := time.Now()
	lease, notes, err := r.engine.lease(ctx, r.req, choice)
	if choice.Route != planner.RouteReuse {
		r.res.Timings.Warm += ms(time.Since(began))
	}
	if err != nil {
		return nil, nil, err
	}
	if child, err = lease.Parent().Fork(ctx, r.job); err != nil {
		lease.Release()
		return nil, nil, err
	}
	r.res.Plan = PlanUsed{
		Rung: choice.Rung, Route: choice.Route, Snapshot: lease.Live().ID,
		Missing: orEmpty(choice.Missing), FallbacksUsed: orEmpty(r.res.Plan.FallbacksUsed), Notes: notes,
	}
	return child, lease, nil
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
