package server

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// errCommitted wraps an error that came when a part of the answer had been
// sent. There is no way left to say so but to break the connection off.
type errCommitted struct{ error }

// Unwrap shows the cause.
func (e errCommitted) Unwrap() error { return e.error }

// breakOff ends the connection of an answer that is not whole. In HTTP/1.1 its
// last chunk is missing then. In HTTP/1.0, which proxies still speak to what is
// behind them, the end of the connection is the end of the answer; so there it
// is reset, where the transport can do that, and not closed.
func breakOff(w http.ResponseWriter, r *http.Request) {
	if !r.ProtoAtLeast(1, 1) {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0) // it is closed all the same
			}
			_ = conn.Close()
			return
		}
	}
	panic(http.ErrAbortHandler) // net/http breaks the connection off, quietly
}

// write sends an answer.
func (s *Server) write(ctx context.Context, w http.ResponseWriter, a answer) error {
	if a.stream != nil {
		return s.writeStream(ctx, w, a)
	}
	a, err := a.encoded()
	if err != nil {
		return err
	}
	if a.raw == nil {
		s.writeHeader(w, a)
		return nil
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(a.raw)))
	s.writeHeader(w, a)
	if _, err := w.Write(a.raw); err != nil {
		return errCommitted{errs.Wrap(errs.Canceled, err, "send the answer")}
	}
	return nil
}

// writeHeader sends status and header.
func (s *Server) writeHeader(w http.ResponseWriter, a answer) {
	s.extend(w, max(a.length, int64(len(a.raw))))
	h := w.Header()
	if a.length > 0 {
		h.Set("Content-Length", strconv.FormatInt(a.length, 10))
	}
	for name, values := range a.header {
		h[name] = values
	}
	switch {
	case a.contentType != "":
		h.Set("Content-Type", a.contentType)
	case a.raw != nil:
		h.Set("Content-Type", typeJSON)
	}
	w.WriteHeader(a.status)
}

// slowest is the rate, in bytes a second, at which a receiver must read a long
// answer.
const slowest = 1 << 20

// extend gives the next write, of so many bytes, its time. A receiver that does
// not read would otherwise hold the request's resources for ever.
func (s *Server) extend(w http.ResponseWriter, bytes int64) {
	allowed := s.cfg.WriteTimeout + time.Duration(bytes/slowest)*time.Second
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(allowed))
}
