package server

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/seed-ff860830/banyan/internal/errs"
	rdfresults "github.com/seed-ff860830/banyan/kg/sparql/results"
)

// streamBuffer is how much of a stream is held back before the status is sent:
// an error up to there still becomes a proper one.
const streamBuffer = 32 << 10

// smallAnswer is up to how many bytes an answer is not worth compressing: it
// goes in one packet as it is.
const smallAnswer = 1400

// writeStream sends an answer as it is made.
func (s *Server) writeStream(ctx context.Context, w http.ResponseWriter, a answer) error {
	lazy := &lazyWriter{s: s, w: w, a: a}
	defer lazy.release()
	buf := bufio.NewWriterSize(lazy, streamBuffer)
	err := a.stream(ctx, buf)
	if err == nil {
		err = lazy.finish(buf)
	}
	switch {
	case err == nil, errors.Is(err, errHeadSent):
		return nil
	case lazy.failed != nil:
		return errCommitted{errs.Wrap(errs.Canceled, err, "send the answer")}
	case lazy.started:
		return errCommitted{err}
	}
	return err
}

// errHeadSent ends the stream of an answer to HEAD: its header is out, and what
// would follow nobody reads.
var errHeadSent = errors.New("the header was sent")

// lazyWriter sends the header with the first bytes that go out, and compresses
// the body if the client takes that and it is worth it.
type lazyWriter struct {
	s       *Server
	w       http.ResponseWriter
	a       answer
	started bool // the header was sent
	last    bool // all that is left is in hand
	decided bool // whether to compress
	zip     *gzip.Writer
	failed  error
}

// zippers are gzip writers to be used again: each holds hundreds of kilobytes.
var zippers = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // a level that does not exist: a mistake of ours
	}
	return z
}}

// decide chooses, with the first bytes in hand, whether to compress.
func (l *lazyWriter) decide(bytes int) {
	l.decided = true
	if l.a.zip && (bytes > smallAnswer || !l.last) {
		l.zip = zippers.Get().(*gzip.Writer)
		l.zip.Reset(wire{l})
	}
}

// start sends the header.
func (l *lazyWriter) start() {
	l.started = true
	if l.zip != nil {
		l.w.Header().Set("Content-Encoding", "gzip")
	}
	l.s.writeHeader(l.w, l.a)
}

// finish hands the rest on.
func (l *lazyWriter) finish(buf *bufio.Writer) error {
	l.last = true
	if err := buf.Flush(); err != nil {
		return err
	}
	if l.zip != nil {
		return l.zip.Close()
	}
	if !l.started {
		l.start() // an empty body
	}
	return nil
}

// release gives the compressor back. One whose stream broke off is reset by
// its next user.
func (l *lazyWriter) release() {
	if l.zip != nil {
		l.zip.Reset(io.Discard)
		zippers.Put(l.zip)
		l.zip = nil
	}
}

// Write implements io.Writer.
func (l *lazyWriter) Write(p []byte) (int, error) {
	if !l.decided {
		l.decide(len(p))
	}
	if l.zip != nil {
		return l.zip.Write(p)
	}
	return wire{l}.Write(p)
}

// wire writes to the client, each piece with a deadline of its own.
type wire struct{ l *lazyWriter }

// Write implements io.Writer.
func (w wire) Write(p []byte) (int, error) {
	l := w.l
	if !l.started {
		l.start()
	}
	if l.a.head {
		return 0, errHeadSent
	}
	if l.a.length == 0 { // else its time was given to it as a whole
		l.s.extend(l.w, 0)
	}
	n, err := l.w.Write(p)
	if err != nil && !errors.Is(err, io.ErrShortWrite) {
		l.failed = err
	}
	return n, err
}

// takesGzip reports whether an Accept-Encoding header takes gzip, and likes it
// no less than the answer as it is (RFC 9110, section 12.5.3). Codings have the
// syntax of media ranges but for the slash, so those are read as such.
func takesGzip(h http.Header) bool {
	accept := strings.Join(h.Values("Accept-Encoding"), ",")
	if accept == "" {
		return false
	}
	ranges := make([]string, 0, 4)
	for item := range strings.SplitSeq(accept, ",") {
		name, params, _ := strings.Cut(item, ";")
		switch name = strings.ToLower(strings.TrimSpace(name)); name {
		case "gzip", "x-gzip", "identity":
			ranges = append(ranges, "coding/"+strings.TrimPrefix(name, "x-")+";"+params)
		case "*":
			ranges = append(ranges, "coding/*;"+params)
		}
	}
	best, ok := rdfresults.Best(strings.Join(ranges, ","), [][]string{{"coding/gzip"}, {"coding/identity"}})
	return ok && best == 0 && len(ranges) > 0
}
