// Package errs is the one error type of Banyan.
//
// Every error that crosses a package boundary and that somebody has to act on
// is an *Error with a Kind. One table maps a Kind to an HTTP status and to a
// process exit code, so that every surface says the same thing. An error
// without a Kind counts as Internal: its text is for the log, never for an
// untrusted caller.
package errs

import (
	"errors"
	"fmt"
)

// Kind says what sort of failure an error is, and so who can mend it.
type Kind uint8

// The kinds. The zero value is Internal, so that an error nobody classified
// is never shown to a caller.
const (
	// Internal is a fault of ours; its text is only logged.
	Internal Kind = iota
	// Invalid is a request that can never work as it stands.
	Invalid
	// NotFound names something that does not exist.
	NotFound
	// Conflict is a request that the present state forbids.
	Conflict
	// Exhausted is a limit that is in force now; the same request may work later.
	Exhausted
	// TooLarge is a request over a size bound.
	TooLarge
	// Unavailable is a part that cannot be reached or cannot run now.
	Unavailable
	// Unsupported is a request that nothing here is able to do.
	Unsupported
	// Timeout is a bound on time that ran out.
	Timeout
	// Denied is a request that policy or authentication refuses.
	Denied
	// Canceled is a request whose caller went away.
	Canceled
	// Corrupt is a store whose bytes cannot be trusted.
	Corrupt
	// RungFailed is a rung's own failure (never a job's).
	RungFailed

	numKinds
)

// kindInfo is what the surfaces need to know of a kind.
type kindInfo struct {
	name string
	http int
	exit int
}

// kinds is the one table Kind → name, HTTP status, exit code
// (INTERFACES: 1 general, 2 usage, 3 no rung, 4 refused, 5 store).
var kinds = [numKinds]kindInfo{
	Internal:    {"internal", 500, 1},
	Invalid:     {"invalid", 400, 2},
	NotFound:    {"not-found", 404, 1},
	Conflict:    {"conflict", 409, 1},
	Exhausted:   {"exhausted", 429, 4},
	TooLarge:    {"too-large", 413, 4},
	Unavailable: {"unavailable", 503, 1},
	Unsupported: {"unsupported", 422, 3},
	Timeout:     {"timeout", 503, 1},
	Denied:      {"denied", 403, 4},
	Canceled:    {"canceled", 499, 1},
	Corrupt:     {"corrupt", 500, 5},
	RungFailed:  {"rung-failed", 502, 1},
}

// Kinds returns every kind, for tests of tables keyed by Kind.
func Kinds() []Kind {
	all := make([]Kind, numKinds)
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// String returns the kind's stable name, as it stands in JSON.
func (k Kind) String() string {
	if k >= numKinds {
		return "internal"
	}
	return kinds[k].name
}

// HTTPStatus returns the status code that an HTTP answer of this kind carries.
func (k Kind) HTTPStatus() int {
	if k >= numKinds {
		k = Internal
	}
	return kinds[k].http
}

// ExitCode returns the exit code of a command that ends with this kind.
func (k Kind) ExitCode() int {
	if k >= numKinds {
		k = Internal
	}
	return kinds[k].exit
}

// ParseKind returns the kind with the given name; Internal if there is none.
func ParseKind(name string) Kind {
	for k, info := range kinds {
		if info.name == name {
			return Kind(k)
		}
	}
	return Internal
}

// Error is a classified error. It is immutable once made.
type Error struct {
	Op    string // what was being done, a verb and its object: "warm parent"
	Kind  Kind   // what sort of failure
	ID    string // the snapshot, run or file it is about, if any
	Msg   string // the sentence for the caller; safe to show
	Hint  string // a line that can be pasted to mend it, if there is one
	Parts []Part // the several faults of one input, if there are several
	Err   error  // the cause; logged, not shown unless it is an *Error
}

// Part is one fault in an input, with its place.
type Part struct {
	Pointer string `json:"pointer,omitempty"` // JSON pointer or file:line:column
	Detail  string `json:"detail"`
}

// Error returns operation, id, sentence and cause, for logs.
func (e *Error) Error() string {
	s := e.Msg
	if e.ID != "" {
		s = e.ID + ": " + s
	}
	if e.Op != "" {
		s = e.Op + ": " + s
	}
	if e.Err != nil {
		if s != "" {
			s += ": "
		}
		s += e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is an *Error of the same Kind with nothing else
// set, so that errors.Is(err, &Error{Kind: NotFound}) asks for a kind.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Kind == e.Kind && t.Msg == "" && t.Op == "" && t.Err == nil
}

// New makes an error of a kind with a sentence that is safe to show.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Msg: fmt.Sprintf(format, args...)}
}

// Wrap makes an error of a kind around a cause that is only logged.
func Wrap(kind Kind, cause error, format string, args ...any) *Error {
	return &Error{Kind: kind, Msg: fmt.Sprintf(format, args...), Err: cause}
}

// WithHint returns a copy of e with a hint.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// WithParts returns a copy of e with the faults of its input.
func (e *Error) WithParts(parts ...Part) *Error {
	c := *e
	c.Parts = parts
	return &c
}

// WithID returns a copy of e about id.
func (e *Error) WithID(id string) *Error {
	c := *e
	c.ID = id
	return &c
}

// KindOf returns the kind of the outermost *Error in err's chain, Internal if
// there is none.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// HintOf returns the first hint in err's chain, or "".
func HintOf(err error) string {
	for err != nil {
		var e *Error
		if !errors.As(err, &e) {
			return ""
		}
		if e.Hint != "" {
			return e.Hint
		}
		err = e.Err
	}
	return ""
}

// Public returns the sentence of err that an untrusted caller may see: the
// sentence of the outermost classified error, and a fixed one for the rest.
func Public(err error) string {
	var e *Error
	if errors.As(err, &e) && e.Kind != Internal && e.Msg != "" {
		return e.Msg
	}
	return "internal error; the log has the details under this request's id"
}
