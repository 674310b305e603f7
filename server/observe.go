package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// observed is one request on its way through the outermost layer.
type observed struct {
	w         http.ResponseWriter
	r         *http.Request
	route     string // the template, not the path
	unmatched bool
	handle    func() error
	sent      func() (status int, bytes int64)
	begun     func() bool // a part of the answer has been sent
}

// observe gives the request its id, answers what it returns or panics with, and
// logs it, once and by its route's template.
func (s *Server) observe(o observed) {
	start := time.Now()
	id := requestID(o.r.Header)
	h := o.w.Header()
	h.Set("X-Request-Id", id)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	// The deadline of the answer before this one on the same connection.
	_ = http.NewResponseController(o.w).SetWriteDeadline(time.Time{})
	if o.r.Body != http.NoBody {
		setReadDeadline(o.w, start.Add(s.cfg.BodyTimeout)) // for one that nobody reads
	}
	err := s.guarded(o)
	if err != nil && !o.begun() {
		err = s.fail(o.w, o.r, err)
	}
	s.logRequest(o, id, err, time.Since(start))
	if err != nil && errors.As(err, new(errCommitted)) {
		breakOff(o.w, o.r)
	}
}

// panicked is a panic as an error, for the log.
type panicked struct {
	value any
	stack []byte
}

// Error returns the panic's value and stack.
func (p panicked) Error() string { return fmt.Sprintf("panic: %v\n%s", p.value, p.stack) }

// guarded runs the request and turns a panic into an error.
func (s *Server) guarded(o observed) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicked{v, debug.Stack()}
			if o.begun() {
				err = errCommitted{err}
			}
		}
	}()
	return o.handle()
}

// fail answers with an error and returns it classified.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) error {
	err = s.classify(r.Context(), err)
	p, header := problemOf(err, w.Header().Get("X-Request-Id"))
	raw, encErr := encode(p)
	if encErr != nil { // a plan that cannot be encoded
		p.Plan = nil
		raw, encErr = encode(p)
		err = errors.Join(err, encErr)
	}
	w.Header().Del("Content-Length")
	a := answer{status: p.Status, header: header, raw: raw, contentType: "application/problem+json"}
	if sendErr := s.write(r.Context(), w, a); sendErr != nil {
		return sendErr
	}
	return err
}

// logRequest writes the one line of a request.
func (s *Server) logRequest(o observed, id string, err error, took time.Duration) {
	status, bytes := o.sent()
	route := o.route
	if o.unmatched {
		route = "unmatched"
	}
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("request_id", id), slog.String("method", knownMethod(o.r.Method)), slog.String("route", route),
		slog.Int("status", status), slog.Int64("bytes", bytes), slog.Float64("duration_ms", float64(took.Microseconds())/1000),
	}
	if err != nil {
		attrs = append(attrs, slog.String("kind", errs.KindOf(err).String()), slog.String("error", bounded(err.Error())))
		if status >= http.StatusInternalServerError || errors.As(err, new(errCommitted)) {
			level = slog.LevelError
		}
	}
	// The request's context may be over; the line is written all the same.
	s.cfg.Logger.LogAttrs(context.WithoutCancel(o.r.Context()), level, "request", attrs...)
}

// maxLogged bounds an error's text in the log, in bytes; a panic's stack fits.
const maxLogged = 16 << 10

func bounded(s string) string {
	if len(s) > maxLogged {
		return strings.ToValidUTF8(s[:maxLogged], "") + "…"
	}
	return s
}

// knownMethod keeps a caller's own words out of log and labels.
func knownMethod(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodPatch:
		return m
	}
	return "other"
}

// maxRequestID bounds a request id that a caller brings, in bytes.
const maxRequestID = 128

// requestID takes the caller's request id if it can stand in a header, a log
// and a URN, else makes one.
func requestID(h http.Header) string {
	if id := h.Get("X-Request-Id"); id != "" && len(id) <= maxRequestID && printable(id) && !strings.ContainsAny(id, `"<>\^`+"`{|}") {
		return id
	}
	return "req_" + ulid.Make().String()
}
