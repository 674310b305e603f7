package server

import (
	"context"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// getStatus is GET /v1/status.
func (s *Server) getStatus(ctx context.Context, c *call) (answer, error) {
	if _, err := c.query(); err != nil {
		return answer{}, err
	}
	st, err := s.cfg.Engine.Status(ctx)
	if err != nil {
		return answer{}, err
	}
	st.Rungs = notNil(st.Rungs)
	st.Draining = st.Draining || s.gate.isClosed()
	return ok(st), nil
}

// getRungs is GET /v1/rungs.
func (s *Server) getRungs(ctx context.Context, c *call) (answer, error) {
	if _, err := c.query(); err != nil {
		return answer{}, err
	}
	rs, err := s.cfg.Engine.Rungs(ctx)
	if err != nil {
		return answer{}, err
	}
	return ok(pageOf(rs, nil)), nil
}

// getDoctor is GET /v1/doctor. A report of failed checks is a 200 as well: the
// question has been answered.
func (s *Server) getDoctor(ctx context.Context, c *call) (answer, error) {
	if _, err := c.query(); err != nil {
		return answer{}, err
	}
	rep, err := s.cfg.Engine.Doctor(ctx)
	if err != nil {
		return answer{}, err
	}
	rep.Checks = notNil(rep.Checks)
	return ok(rep), nil
}

// getHealth is GET /healthz: the process is up and answers. It asks nothing of
// the engine, so that a busy daemon is not taken for a dead one.
func (s *Server) getHealth(context.Context, *call) (answer, error) {
	return ok(map[string]string{"status": "ok"}), nil
}

// getReady is GET /readyz: 200 if new jobs are taken, else 503 and why not.
func (s *Server) getReady(_ context.Context, c *call) (answer, error) {
	if _, err := c.query(); err != nil {
		return answer{}, err
	}
	if s.gate.isClosed() {
		return answer{}, errDraining()
	}
	if err := s.cfg.Engine.Ready(); err != nil {
		return answer{}, errs.Wrap(errs.Unavailable, err, "not ready: %s", errs.Public(err)).WithHint("banyan doctor")
	}
	return ok(map[string]string{"status": "ready"}), nil
}

// errDraining is what a request gets that comes while the daemon shuts down.
func errDraining() error {
	return errs.New(errs.Unavailable, "the daemon is shutting down and takes no new requests")
}

// getIndex is GET /: what can be found here.
func (s *Server) getIndex(context.Context, *call) (answer, error) {
	type link struct {
		Method string `json:"method"`
		Path   string `json:"path"`
		Does   string `json:"does"`
	}
	var links []link
	for _, rt := range s.routes() {
		links = append(links, link{rt.method, rt.template(), rt.does})
	}
	return ok(map[string]any{"name": "banyan", "routes": links}), nil
}
