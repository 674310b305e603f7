package server

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// budget bounds the bytes of all bodies that are held at one time.
type budget struct {
	max  int64
	used atomic.Int64
}

// take reserves n bytes or returns false.
func (b *budget) take(n int64) bool {
	if b.used.Add(n) <= b.max {
		return true
	}
	b.used.Add(-n)
	return false
}

func (b *budget) give(n int64) { b.used.Add(-n) }

// firstBuffer is where a body's buffer starts: most requests fit.
const firstBuffer = 4 << 10

// readBody reads a JSON body whole, within its bounds on size and time. The
// buffer grows with what has truly arrived, never by what a header claims, and
// what it takes is given back by Server.work when the request is done.
func (s *Server) readBody(c *call) ([]byte, error) {
	atEnd := s.startBody(c, s.cfg.MaxBodyBytes, s.cfg.BodyTimeout)
	if c.r.ContentLength > s.cfg.MaxBodyBytes {
		return nil, tooLarge(s.cfg.MaxBodyBytes)
	}
	var buf []byte
	for {
		if len(buf) == cap(buf) {
			// One byte more than the limit, so that the end can be seen.
			grown := int(min(max(firstBuffer, 2*int64(cap(buf))), s.cfg.MaxBodyBytes+1))
			if !s.buffered.take(int64(grown - cap(buf))) {
				return nil, errs.New(errs.Exhausted, "too many bytes of request bodies are waiting already")
			}
			c.reserved += int64(grown - cap(buf))
			bigger := make([]byte, len(buf), grown)
			copy(bigger, buf)
			buf = bigger
		}
		n, err := c.r.Body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if errors.Is(err, io.EOF) {
			atEnd()
			return buf, nil
		}
		if err != nil {
			return nil, bodyError(c.r.Context(), err)
		}
	}
}

// startBody puts the bounds on a body. atEnd must be called when its end has
// been read: from there on net/http reads ahead, and would take the deadline
// for a caller that hung up. A body that is not read to its end keeps its
// deadline, since net/http reads some of what is left before it answers.
func (s *Server) startBody(c *call, limit int64, timeout time.Duration) (atEnd func()) {
	setReadDeadline(c.w, time.Now().Add(timeout))
	c.r.Body = http.MaxBytesReader(c.w, c.r.Body, limit)
	return func() { setReadDeadline(c.w, time.Time{}) }
}

// setReadDeadline bounds reading from the caller. A writer without deadlines (a
// recorder in a test) has no socket to wait for, so its error means nothing.
func setReadDeadline(w http.ResponseWriter, t time.Time) {
	_ = http.NewResponseController(w).SetReadDeadline(t)
}

func tooLarge(limit int64) error {
	return errs.New(errs.TooLarge, "the body has more than the %d bytes that are allowed", limit)
}

// bodyError classifies what reading a body returned.
func bodyError(ctx context.Context, err error) error {
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return tooLarge(over.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		e := errs.Wrap(errs.Timeout, err, "the body did not arrive in time")
		return withStatus(http.StatusRequestTimeout, e).withHeader("Connection", "close")
	case ctx.Err() != nil:
		return errs.Wrap(errs.Canceled, err, "the caller went away")
	}
	return errs.Wrap(errs.Invalid, err, "the body could not be read to its end")
}

// mediaType returns the body's media type in lower case, "" if none is given,
// or a 415 error: for a form that cannot be parsed, a character set other than
// UTF-8, or a compressed body, whose true size would be unbounded.
func mediaType(h http.Header, accepted ...string) (string, error) {
	want := strings.Join(accepted, ", ")
	refuse := func(format string, args ...any) (string, error) {
		e := errs.New(errs.Invalid, format, args...).WithHint("send the body as Content-Type: %s", accepted[0])
		return "", withStatus(http.StatusUnsupportedMediaType, e).withHeader("Accept", want)
	}
	if ce := h.Get("Content-Encoding"); ce != "" && !strings.EqualFold(ce, "identity") {
		return refuse("the content encoding %.40q is not taken; send the body as it is", ce)
	}
	ct := h.Get("Content-Type")
	if ct == "" {
		return "", nil
	}
	mt, params, err := mime.ParseMediaType(ct)
	if err != nil {
		return refuse("the content type %.100q cannot be read", ct)
	}
	if cs, ok := params["charset"]; ok && !strings.EqualFold(cs, "utf-8") {
		return refuse("the character set %.40q is not taken; send UTF-8", cs)
	}
	for _, a := range accepted {
		if mt == a {
			return mt, nil
		}
	}
	return refuse("a body of type %.100q is not taken here; taken are %s", mt, want)
}
