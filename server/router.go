package server

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// route is one method of one path.
type route struct {
	method string
	path   string // in echo's form
	does   string // for the index
	handle handler
	open   bool // answered without authentication and while draining
	ungate bool // answered while draining
	graph  bool // negotiates its own media type; all others answer JSON
}

// template is the path as documents write it.
func (rt route) template() string { return template(rt.path) }

func template(path string) string { return strings.ReplaceAll(path, ":id", "{id}") }

// routes are all that is served.
func (s *Server) routes() []route {
	return []route{
		{method: "GET", path: "/", does: "this index", handle: s.getIndex},
		{method: "GET", path: "/healthz", does: "the process is up", handle: s.getHealth, open: true},
		{method: "GET", path: "/readyz", does: "new requests are taken", handle: s.getReady, ungate: true},
		{method: "POST", path: "/v1/execute", does: "run a job", handle: s.work(task{prepare: s.prepareExecute})},
		{method: "POST", path: "/v1/plan", does: "how a job would be run, and why", handle: s.work(task{prepare: s.preparePlan, harmless: true, light: true})},
		{method: "POST", path: "/v1/warm", does: "make a snapshot ahead of time", handle: s.work(task{prepare: s.prepareWarm, harmless: true})},
		{method: "GET", path: "/v1/snapshots", does: "list snapshots: limit, cursor, live", handle: s.getSnapshots},
		{method: "GET", path: "/v1/snapshots/:id", does: "one snapshot", handle: s.getSnapshot},
		{method: "DELETE", path: "/v1/snapshots/:id", does: "remove a snapshot", handle: s.deleteSnapshot},
		{method: "GET", path: "/v1/snapshots/:id/lineage", does: "its ancestors and descendants", handle: s.getLineage},
		{method: "POST", path: "/v1/snapshots/:id/branch", does: "derive a snapshot that holds more", handle: s.work(task{prepare: s.prepareBranch, harmless: true})},
		{method: "GET", path: "/v1/status", does: "the engine's state", handle: s.getStatus},
		{method: "GET", path: "/v1/rungs", does: "the ways to run code, and which work here", handle: s.getRungs},
		{method: "GET", path: "/v1/doctor", does: "what is missing and how to get it", handle: s.getDoctor},
		{method: "POST", path: "/v1/reap", does: "close snapshots that are idle", handle: s.work(task{prepare: s.prepareReap, harmless: true, light: true, emptyBody: true})},
		{method: "GET", path: "/v1/backup", does: "a backup of the graph", handle: s.getBackup, graph: true},
		{method: "GET", path: "/graphs", does: "export a graph, or all", handle: s.getGraph, graph: true},
		{method: "PUT", path: "/graphs", does: "import: replace a graph by the body", handle: s.writeGraph(false), graph: true},
		{method: "POST", path: "/graphs", does: "merge the body into a graph", handle: s.writeGraph(true), graph: true},
		{method: "DELETE", path: "/graphs", does: "delete a graph", handle: s.deleteGraph, graph: true},
		{method: "GET", path: "/sparql", does: "SPARQL query: query, default-graph-uri, named-graph-uri, format", handle: s.query, graph: true},
		{method: "POST", path: "/sparql", does: "SPARQL query, as a form or as it is", handle: s.query, graph: true},
		{method: "POST", path: "/sparql/update", does: "SPARQL update, as a form or as it is", handle: s.update, graph: true},
	}
}

// newRouter builds the handler of all routes. echo's own server, binder,
// logger and error texts are not used.
func (s *Server) newRouter() http.Handler {
	e := echo.New()
	e.Logger.SetOutput(io.Discard)
	// Nothing comes here, as observe answers every error; a gap would be hidden, not shown.
	e.HTTPErrorHandler = func(err error, c echo.Context) { _ = s.fail(c.Response(), c.Request(), err) }
	free := map[string]route{}
	for _, rt := range s.routes() {
		e.Add(rt.method, rt.path, s.adapt(rt))
		if rt.method == http.MethodGet {
			// net/http leaves the body of an answer to HEAD out.
			e.Add(http.MethodHead, rt.path, s.adapt(rt))
		}
		if rt.open || rt.ungate {
			free[rt.path] = rt
		}
	}
	e.Use(s.observeEcho, func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error { return s.admit(c, free[c.Path()], next) }
	})
	return e
}

// admit lets a request in: authenticated, and counted so that a shutdown waits
// for it. It stands before the router's own 404 and 405 as well, so that a
// caller without a token learns nothing of what is here.
func (s *Server) admit(c echo.Context, rt route, next echo.HandlerFunc) error {
	if !rt.open {
		if err := s.authorize(c.Request()); err != nil {
			return err
		}
	}
	if rt.open || rt.ungate {
		return next(c)
	}
	if !s.gate.enter() {
		c.Response().Header().Set("Connection", "close")
		return errDraining()
	}
	defer s.gate.leave()
	return next(c)
}

// adapt turns a route into what echo calls.
func (s *Server) adapt(rt route) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if !rt.graph {
			if _, err := negotiate(r.Header, typeJSON); err != nil {
				return err
			}
		}
		a, err := rt.handle(r.Context(), &call{r: r, w: c.Response().Writer, id: c.Param("id")})
		if a.held != nil {
			defer a.held.giveBack()
		}
		if a.done != nil {
			defer a.done()
		}
		if err != nil {
			return err
		}
		a.head = r.Method == http.MethodHead
		return s.write(r.Context(), c.Response(), a)
	}
}

// observeEcho is the outermost layer; see observe.
func (s *Server) observeEcho(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		res := c.Response()
		s.observe(observed{
			w: res, r: c.Request(), route: template(c.Path()), unmatched: c.Path() == "",
			handle: func() error { return routerError(next(c)) },
			sent:   func() (int, int64) { return res.Status, res.Size },
			begun:  func() bool { return res.Committed },
		})
		return nil
	}
}

// routerError turns the router's own errors into ours.
func routerError(err error) error {
	var he *echo.HTTPError
	if !errors.As(err, &he) {
		return err
	}
	switch he.Code {
	case http.StatusNotFound:
		return errs.New(errs.NotFound, "there is nothing at this path").WithHint("GET / lists what there is")
	case http.StatusMethodNotAllowed:
		return withStatus(he.Code, errs.New(errs.Invalid, "this path does not take this method; the Allow header lists those it takes"))
	}
	return errs.Wrap(errs.Internal, err, "the router refused a request")
}
