package server

import (
	"container/list"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// maxKeyLen bounds an Idempotency-Key, in bytes.
const maxKeyLen = 255

// memory keeps the answers of requests that carried an Idempotency-Key, so
// that a request which is sent again is not run again. It is bounded in
// number, bytes and time; what is oldest goes first. It lives in the process: a
// daemon that restarts has forgotten, and has ended every job it ran.
type memory struct {
	maxKeys  int
	maxBytes int64
	ttl      time.Duration

	mu    sync.Mutex
	byKey map[string]*remembered
	done  *list.List // of *remembered, the oldest first
	bytes int64
}

// remembered is one request: running until at is set, then its outcome.
type remembered struct {
	key    string
	body   [sha256.Size]byte
	at     time.Time
	answer answer
	err    error
	size   int64
}

func newMemory(keys int, bytes int64, ttl time.Duration) *memory {
	return &memory{maxKeys: keys, maxBytes: bytes, ttl: ttl, byKey: map[string]*remembered{}, done: list.New()}
}

// begin notes a request as running, with first set; or it returns a finished
// one; or the error that the request gets.
func (m *memory) begin(key string, body []byte) (e *remembered, first bool, err error) {
	hash := sha256.Sum256(body)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expire(time.Now())
	if e, ok := m.byKey[key]; ok {
		switch {
		case e.body != hash:
			return nil, false, withStatus(http.StatusUnprocessableEntity,
				errs.New(errs.Conflict, "this Idempotency-Key was sent with another body").WithHint("use a new key for a new request"))
		case e.at.IsZero():
			return nil, false, errs.New(errs.Conflict, "the first request with this Idempotency-Key is still running").
				WithHint("send it again when it has ended")
		}
		return e, false, nil
	}
	if len(m.byKey) >= m.maxKeys && !m.forgetOldest() {
		return nil, false, errs.New(errs.Exhausted, "too many requests with an Idempotency-Key are running")
	}
	e = &remembered{key: key, body: hash}
	m.byKey[key] = e
	return e, true, nil
}

// finish keeps the outcome of a request that begin noted.
func (m *memory) finish(e *remembered, a answer, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e.answer, e.err, e.at = a, err, time.Now()
	e.answer.held = nil // it goes with the sending, not with the keeping
	e.size = int64(len(e.key) + len(a.raw))
	if a.stream != nil || e.size > m.largest() {
		// One answer must not push out all others. That the request was run is
		// still known, and that is what keeps it from running twice.
		e.answer, e.size = answer{}, int64(len(e.key))
		e.err = errs.New(errs.Conflict, "the request was run, but its answer was too large to keep").
			WithHint("use a new key to run it again")
	}
	m.bytes += e.size
	m.done.PushBack(e)
	for m.bytes > m.maxBytes && m.forgetOldest() {
		continue
	}
}

// largest is the most bytes that one answer may have and be kept.
func (m *memory) largest() int64 { return m.maxBytes / 4 }

// forget lets a request that has not run anything be sent again.
func (m *memory) forget(e *remembered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byKey, e.key)
}

// expire drops what is older than the time to live.
func (m *memory) expire(now time.Time) {
	for front := m.done.Front(); front != nil; front = m.done.Front() {
		if now.Sub(front.Value.(*remembered).at) < m.ttl {
			return
		}
		m.forgetOldest()
	}
}

// forgetOldest drops the oldest finished request; false if there is none.
func (m *memory) forgetOldest() bool {
	front := m.done.Front()
	if front == nil {
		return false
	}
	e := m.done.Remove(front).(*remembered)
	delete(m.byKey, e.key)
	m.bytes -= e.size
	return true
}

// idempotencyKey returns the request's key, "" if it has none.
func idempotencyKey(h http.Header) (string, error) {
	values := h.Values("Idempotency-Key")
	if len(values) == 0 {
		return "", nil
	}
	if len(values) > 1 || values[0] == "" || len(values[0]) > maxKeyLen || !printable(values[0]) {
		return "", errs.New(errs.Invalid, "the Idempotency-Key must be one header of 1 to %d printable ASCII characters", maxKeyLen)
	}
	return values[0], nil
}

// printable reports whether s is all visible ASCII.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// ranNothing reports whether an error came before anything was run, so that
// the same request may be tried again. An error that may have come after that
// is kept: a job that may have started is not started twice.
func ranNothing(err error) bool {
	switch errs.KindOf(err) {
	case errs.Invalid, errs.NotFound, errs.Conflict, errs.Exhausted, errs.TooLarge, errs.Unavailable, errs.Unsupported, errs.Denied:
		return true
	}
	return false
}
