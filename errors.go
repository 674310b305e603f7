package banyan

import "github.com/seed-ff860830/banyan/internal/errs"

// Error is a failure of Banyan's own, never of a job: what kind it is, a
// sentence that is safe to show, a hint that can be pasted where there is one,
// and the faults of the input where there are several. Find it with errors.As.
type Error = errs.Error

// ErrorPart is one fault in an input, with its place.
type ErrorPart = errs.Part

// ErrorKind says what sort of failure an Error is, and so who can mend it.
type ErrorKind = errs.Kind

// The kinds of errors.
const (
	ErrInternal    = errs.Internal    // a fault of Banyan
	ErrInvalid     = errs.Invalid     // the request can never work as it stands
	ErrNotFound    = errs.NotFound    // it names something that does not exist
	ErrConflict    = errs.Conflict    // the present state forbids it
	ErrExhausted   = errs.Exhausted   // a limit is in force now; it may work later
	ErrTooLarge    = errs.TooLarge    // it is over a size bound
	ErrUnavailable = errs.Unavailable // a part cannot run now
	ErrUnsupported = errs.Unsupported // nothing here is able to do it
	ErrTimeout     = errs.Timeout     // a bound on time ran out
	ErrDenied      = errs.Denied      // policy refuses it
	ErrCanceled    = errs.Canceled    // the caller went away
	ErrCorrupt     = errs.Corrupt     // the store cannot be trusted
	ErrRungFailed  = errs.RungFailed  // a rung's own failure
)

// KindOf returns the kind of an error that an Engine returned; ErrInternal for
// any other.
func KindOf(err error) ErrorKind { return errs.KindOf(err) }

// HintOf returns the line that may mend an error, or "".
func HintOf(err error) string { return errs.HintOf(err) }
