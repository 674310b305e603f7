package server

import (
	"context"
	"net/http"

	"github.com/seed-ff860830/banyan"
)

// prepareExecute is POST /v1/execute. A job's own failure is a Result and so a
// 200; the end of ctx, as when the caller hangs up, ends the run.
func (s *Server) prepareExecute(c *call) (prepared, error) {
	var job banyan.Job
	if err := c.decode(&job); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (answer, error) {
		return s.execute(ctx, job)
	}, nil
}

// execute runs a job. The answer holds its share of the memory for results.
func (s *Server) execute(ctx context.Context, job banyan.Job) (a answer, err error) {
	share, err := s.results.take(ctx, job)
	if err != nil {
		return answer{}, err
	}
	defer func() {
		if a.held == nil { // an error or a panic
			share.giveBack()
		}
	}()
	res, err := s.cfg.Engine.Execute(ctx, job)
	if err != nil {
		return answer{}, err
	}
	if a, err = resultAnswer(res); err != nil {
		return answer{}, err
	}
	share.shrink(max(resultBytes(res), a.length))
	a.held = share
	return a, nil
}

// preparePlan is POST /v1/plan.
func (s *Server) preparePlan(c *call) (prepared, error) {
	var job banyan.Job
	if err := c.decode(&job); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (answer, error) {
		plan, err := s.cfg.Engine.Plan(ctx, job)
		if err != nil {
			return answer{}, err
		}
		return ok(plan), nil
	}, nil
}

// prepareWarm is POST /v1/warm.
func (s *Server) prepareWarm(c *call) (prepared, error) {
	var req banyan.WarmRequest
	if err := c.decode(&req); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (answer, error) {
		snap, err := s.cfg.Engine.Warm(ctx, req)
		return made(snap, err)
	}, nil
}

// prepareBranch is POST /v1/snapshots/{id}/branch.
func (s *Server) prepareBranch(c *call) (prepared, error) {
	id, err := c.snapshotID()
	if err != nil {
		return nil, err
	}
	var req banyan.WarmRequest
	if err := c.decode(&req); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (answer, error) {
		snap, err := s.cfg.Engine.Branch(ctx, id, req)
		return made(snap, err)
	}, nil
}

// made answers with a snapshot: 201 if this request made it, 200 if it was there.
func made(snap banyan.Snapshot, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	a := ok(snap)
	if snap.Created {
		a.status = http.StatusCreated
		a.header = http.Header{"Location": {"/v1/snapshots/" + string(snap.ID)}}
	}
	return a, nil
}

// reapRequest is the body of POST /v1/reap.
type reapRequest struct {
	All bool `json:"all"`
}

// prepareReap is POST /v1/reap.
func (s *Server) prepareReap(c *call) (prepared, error) {
	var req reapRequest
	if err := c.decode(&req); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (answer, error) {
		n, err := s.cfg.Engine.Reap(ctx, req.All)
		if err != nil {
			return answer{}, err
		}
		return ok(map[string]int{"reaped": n}), nil
	}, nil
}
