package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// Server serves an engine over HTTP. Its methods are safe for concurrent use.
type Server struct {
	cfg      Config
	handler  http.Handler
	gate     *gate
	runs     *limiter
	light    *limiter
	imports  *limiter
	graph    *limiter // queries and updates; the engine has the slots
	buffered *budget
	results  *results
	answers  *memory
	serving  atomic.Bool
	conns    atomic.Int64
	// backingUp is whether a backup is being sent.
	backingUp atomic.Bool
	cutGrace  time.Duration
}

// New makes a server, or returns the Invalid error of Config.Validate. It opens
// nothing and starts no goroutine; Serve does.
func New(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	s := &Server{
		cfg:      cfg,
		gate:     newGate(),
		runs:     newLimiter(cfg.MaxConcurrent, cfg.MaxQueue, cfg.QueueTimeout),
		light:    newLimiter(cfg.MaxConcurrent, cfg.MaxQueue, cfg.QueueTimeout),
		imports:  newImportLimiter(cfg.QueueTimeout),
		graph:    newLimiter(cfg.MaxConcurrent, cfg.MaxQueue, cfg.QueueTimeout),
		buffered: &budget{max: cfg.MaxBufferedBytes},
		results:  newResults(cfg.MaxResultBytes, cfg.QueueTimeout),
		answers:  newMemory(cfg.IdempotencyKeys, cfg.IdempotencyBytes, cfg.IdempotencyTTL),
		cutGrace: cutGrace,
	}
	s.handler = s.newRouter()
	return s, nil
}

// Handler returns the handler of all routes, for a server of the caller's own.
// That server has to bound header and idle times; bodies, answers and work are
// bounded here.
func (s *Server) Handler() http.Handler { return s.handler }

// errCut is the cause of the end of a request that outlived the drain.
var errCut = errors.New("cut off by the shutdown")

// maxHeaderBytes bounds a request's header.
const maxHeaderBytes = 64 << 10

// cutGrace is how long a request that has been cancelled may take to answer.
const cutGrace = 2 * time.Second

// Serve answers on all listeners, TCP and unix at the same time, until ctx ends
// or a listener fails. Then it drains: /readyz says 503, new requests get 503,
// running ones go on for DrainTimeout at most and are cancelled after it. It
// closes the listeners and returns nil after a drain, else the listener's
// error. Without a token it refuses, with a Denied error, a listener that
// another machine could reach. A server serves once.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	defer func() {
		for _, l := range listeners {
			_ = l.Close() // closed already, but for an early return
		}
	}()
	if err := s.checkListeners(listeners); err != nil {
		return err
	}
	if !s.serving.CompareAndSwap(false, true) {
		return errs.New(errs.Conflict, "this server has been started already")
	}
	base, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	srv := s.httpServer(base)
	ended := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { ended <- srv.Serve(l) }()
	}
	running := len(listeners)
	var failed error
	select {
	case <-ctx.Done():
	case failed = <-ended:
		running--
	}
	s.drain(srv, cut)
	for range running {
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			s.cfg.Logger.Warn("a listener failed while the server ended", "error", err)
		}
	}
	if failed != nil {
		return errs.Wrap(errs.Unavailable, failed, "a listener failed")
	}
	return nil
}

// checkListeners refuses what must not be served.
func (s *Server) checkListeners(listeners []net.Listener) error {
	if len(listeners) == 0 {
		return errs.New(errs.Invalid, "there is no listener to serve")
	}
	for _, l := range listeners {
		if len(s.cfg.TokenHash) == 0 && !localAddr(l.Addr()) {
			return CheckListen(l.Addr().String(), false)
		}
	}
	return nil
}

// httpServer returns the net/http server with its bounds. There is no
// ReadTimeout and no WriteTimeout: a job may run longer than either, so the
// handlers set these deadlines around the body and the answer.
func (s *Server) httpServer(base context.Context) *http.Server {
	return &http.Server{
		Handler:                      s.handler,
		BaseContext:                  func(net.Listener) context.Context { return base },
		ReadHeaderTimeout:            s.cfg.ReadHeaderTimeout,
		IdleTimeout:                  s.cfg.IdleTimeout,
		MaxHeaderBytes:               maxHeaderBytes,
		DisableGeneralOptionsHandler: true,
		ConnState:                    s.countConn,
		ErrorLog:                     slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelWarn),
	}
}

// countConn closes a connection that is one too many.
func (s *Server) countConn(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if s.conns.Add(1) > int64(s.cfg.MaxConns) {
			_ = c.Close() // its reader then finds it closed
		}
	case http.StateClosed, http.StateHijacked:
		s.conns.Add(-1)
	}
}

// drain ends the serving. The listeners stay open while requests run, so that
// /readyz can say why nothing else is answered.
func (s *Server) drain(srv *http.Server, cut context.CancelCauseFunc) {
	empty := s.gate.close()
	if !within(empty, s.cfg.DrainTimeout) {
		s.cfg.Logger.Warn("requests outlived the drain and are cut off", "drain_timeout", s.cfg.DrainTimeout)
		cut(errCut)
		within(empty, s.cutGrace)
	}
	// The last answers are on their way: handlers are done, not yet the wires.
	ctx, cancel := context.WithTimeout(context.Background(), s.cutGrace)
	defer cancel()
	if err := srv.Shutdown(ctx); err != nil {
		_ = srv.Close() // its error is that of closing what hangs
	}
}

// within waits for done, and reports whether it came in time.
func within(done <-chan struct{}, timeout time.Duration) bool {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
