// Package capture carries a child's standard streams: it reads stdout and
// stderr up to a bound without ever letting the child block on a full pipe, and
// it writes stdin without caring whether the child reads it.
//
// All goroutines here end when Close or Finish returns, also when a process
// that the child left behind still holds the other end of the pipe: what ends
// them is our end being closed, never the child's.
package capture

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// readSize is the capacity of a Linux pipe: one read empties it.
const readSize = 64 << 10

var buffers = sync.Pool{New: func() any { return new([readSize]byte) }}

// Stream is one output stream of a child, being read. Its methods are safe for
// concurrent use.
type Stream struct {
	r    *os.File
	done chan struct{}

	keep    int64 // bytes to keep
	flood   int64 // bytes after which onFlood is called
	onFlood func()

	total atomic.Int64 // bytes read so far
	mu    sync.Mutex
	kept  []byte
}

// Start reads r, which must be the read end of a pipe, in a goroutine until
// its end. The first keep bytes are kept; what follows is read and dropped.
// When more than flood bytes have come, onFlood is called once, from the
// reading goroutine: it must not block and must not call back into the Stream.
// Reading goes on after it. The Stream owns r.
func Start(r *os.File, keep, flood int64, onFlood func()) *Stream {
	s := &Stream{r: r, done: make(chan struct{}), keep: keep, flood: flood, onFlood: onFlood}
	go s.read()
	return s
}

func (s *Stream) read() {
	defer close(s.done)
	buf := buffers.Get().(*[readSize]byte)
	defer buffers.Put(buf)
	flooded := false
	for {
		n, err := s.r.Read(buf[:])
		s.take(buf[:n])
		if !flooded && s.total.Load() > s.flood {
			flooded = true
			s.onFlood()
		}
		if err != nil {
			return // end of file, or our end was closed or ran out of time
		}
	}
}

func (s *Stream) take(b []byte) {
	before := s.total.Add(int64(len(b))) - int64(len(b))
	if room := s.keep - before; room < int64(len(b)) {
		b = b[:max(room, 0)]
	}
	if len(b) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if need := len(s.kept) + len(b); need > cap(s.kept) {
		// Doubling, and never beyond keep: all the copies that growing leaves
		// behind are together no larger than the bound.
		grown := make([]byte, len(s.kept), min(max(2*cap(s.kept), need), int(s.keep)))
		copy(grown, s.kept)
		s.kept = grown
	}
	s.kept = append(s.kept, b...)
}

// Done is closed when the stream has ended: every writer closed its end, or
// Finish or Close was called.
func (s *Stream) Done() <-chan struct{} { return s.done }

// Finish reads what is still in the pipe, for grace at the most, and closes
// the stream. Call it when the process tree has ended: then the end of the
// stream comes at once, unless a process escaped and keeps the pipe open.
func (s *Stream) Finish(grace time.Duration) {
	// An error means that r has no deadlines (not a pipe) or is closed; then
	// the stream can only end by itself or by Close.
	if err := s.r.SetReadDeadline(time.Now().Add(grace)); err == nil || errors.Is(err, os.ErrClosed) {
		<-s.done
	}
	s.Close()
}

// Close ends reading at once and waits for the goroutine. Closing again does
// nothing.
func (s *Stream) Close() {
	_ = s.r.Close() // a read end has nothing to lose; ErrClosed the second time
	<-s.done
}

// Bytes returns a copy of what was kept so far.
func (s *Stream) Bytes() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]byte(nil), s.kept...)
}

// Truncated reports whether bytes were dropped.
func (s *Stream) Truncated() bool { return s.total.Load() > s.keep }

// Total returns how many bytes have come, the dropped ones too.
func (s *Stream) Total() int64 { return s.total.Load() }

// Feeder writes a child's standard input.
type Feeder struct {
	w    *os.File
	done chan struct{}
}

// Feed writes data to w, the write end of a pipe, in a goroutine, and closes
// w. A child that closes its end early or never reads is no error: nobody can
// know how much of its input a program means to read. The Feeder owns w; data
// must not change before Close has returned.
func Feed(w *os.File, data []byte) *Feeder {
	f := &Feeder{w: w, done: make(chan struct{})}
	if len(data) == 0 {
		_ = w.Close()
		close(f.done)
		return f
	}
	go func() {
		defer close(f.done)
		// The error is EPIPE (Go turns SIGPIPE into it for all descriptors
		// but 1 and 2) or that Close came first; neither concerns anybody.
		_, _ = w.Write(data)
		_ = w.Close()
	}()
	return f
}

// Done is closed when all was written or the reader went away.
func (f *Feeder) Done() <-chan struct{} { return f.done }

// Close stops writing at once and waits for the goroutine. Closing again does
// nothing.
func (f *Feeder) Close() {
	_ = f.w.Close()
	<-f.done
}
