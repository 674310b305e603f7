package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
)

// problem is the body of every error: RFC 9457, with the members code and
// message for clients that look for these, and Banyan's own.
type problem struct {
	Type         string      `json:"type"`
	Title        string      `json:"title"`
	Status       int         `json:"status"`
	Detail       string      `json:"detail"`
	Instance     string      `json:"instance"`
	Code         int         `json:"code"`
	Message      string      `json:"message"`
	Kind         string      `json:"kind"`
	Hint         string      `json:"hint,omitempty"`
	Errors       []errs.Part `json:"errors,omitempty"`
	RetryAfterMS int64       `json:"retry_after_ms,omitempty"`
	Plan         any         `json:"plan,omitempty"`
}

// titles says each kind in a few words: the same for all problems of a type.
var titles = map[errs.Kind]string{
	errs.Internal:    "Internal error",
	errs.Invalid:     "Invalid request",
	errs.NotFound:    "Not found",
	errs.Conflict:    "Conflict",
	errs.Exhausted:   "Too many requests",
	errs.TooLarge:    "Too large",
	errs.Unavailable: "Unavailable",
	errs.Unsupported: "Nothing here can do this",
	errs.Timeout:     "Timed out",
	errs.Denied:      "Refused",
	errs.Canceled:    "Canceled by the caller",
	errs.Corrupt:     "The store is damaged",
	errs.RungFailed:  "A rung failed",
}

// problemBase is where the types of problems are explained.
const problemBase = ontology.Root + "problems#"

// statusError is an error of HTTP itself, whose status is not its kind's.
type statusError struct {
	err    *errs.Error
	status int
	header http.Header
}

func withStatus(status int, e *errs.Error) *statusError {
	return &statusError{err: e, status: status, header: http.Header{}}
}

// Error implements error.
func (e *statusError) Error() string { return e.err.Error() }

func (e *statusError) withHeader(name, value string) *statusError {
	e.header.Set(name, value)
	return e
}

// Unwrap shows the classified error to errors.As.
func (e *statusError) Unwrap() error { return e.err }

// planned is an error that knows the plan that failed.
type planned interface{ FailedPlan() any }

// retrying is an error that knows when to try again.
type retrying interface{ RetryAfter() time.Duration }

// The bounds of Retry-After: at least the second that the header can say.
const (
	minRetry = time.Second
	maxRetry = time.Hour
)

// problemOf turns an error into what the caller gets to see. id is the
// request's.
func problemOf(err error, id string) (problem, http.Header) {
	kind := errs.KindOf(err)
	p := problem{
		Type: problemBase + kind.String(), Title: titles[kind], Status: kind.HTTPStatus(),
		Kind: kind.String(), Instance: "urn:req:" + id, Message: errs.Public(err),
	}
	header := http.Header{}
	var se *statusError
	if errors.As(err, &se) {
		p.Status, header = se.status, se.header.Clone()
		p.Title = http.StatusText(se.status)
		p.Type = problemBase + "http-" + strconv.Itoa(se.status)
	}
	if kind != errs.Internal {
		p.describe(err)
	}
	if p.Status == http.StatusTooManyRequests || p.Status == http.StatusServiceUnavailable {
		wait := retryAfter(err)
		seconds := int64((wait + time.Second - 1) / time.Second)
		header.Set("Retry-After", strconv.FormatInt(seconds, 10))
		p.RetryAfterMS = wait.Milliseconds()
	}
	p.Code, p.Detail = p.Status, p.Message
	return p, header
}

// describe adds what a classified error knows beside its sentence.
func (p *problem) describe(err error) {
	var e *errs.Error
	if errors.As(err, &e) && e.ID != "" && !strings.Contains(p.Message, e.ID) {
		p.Message = e.ID + ": " + p.Message
	}
	p.Hint = errs.HintOf(err)
	p.Errors = partsOf(err)
	var pl planned
	if errors.As(err, &pl) {
		p.Plan = pl.FailedPlan()
	}
}

// partsOf returns the first list of parts in err's chain of classified errors.
func partsOf(err error) []errs.Part {
	for err != nil {
		var e *errs.Error
		if !errors.As(err, &e) {
			return nil
		}
		if len(e.Parts) > 0 {
			return e.Parts
		}
		err = e.Err
	}
	return nil
}

// retryAfter returns when to try again.
func retryAfter(err error) time.Duration {
	var r retrying
	if !errors.As(err, &r) {
		return minRetry
	}
	return min(max(r.RetryAfter(), minRetry), maxRetry)
}

// classify gives a kind to the errors of contexts that nobody classified, and
// tells a caller that went away from a server that cut a request off.
func (s *Server) classify(ctx context.Context, err error) error {
	kind, classified := errs.KindOf(err), errors.As(err, new(*errs.Error))
	switch {
	case !classified && errors.Is(err, context.DeadlineExceeded):
		return errs.Wrap(errs.Timeout, err, "the request ran out of time")
	case kind == errs.Canceled || !classified && errors.Is(err, context.Canceled):
	default:
		return err
	}
	if errors.Is(context.Cause(ctx), errCut) {
		return errs.Wrap(errs.Unavailable, err, "the daemon is shutting down; the request was cut off")
	}
	if kind == errs.Canceled {
		return err
	}
	return errs.Wrap(errs.Canceled, err, "the caller went away")
}
