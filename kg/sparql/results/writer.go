package results

import (
	"io"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// flushAt is how many bytes a Writer gathers before it hands them on.
const flushAt = 16 << 10

// Writer writes one answer to an io.Writer as it comes: either Begin, any
// number of Row, and End; or Boolean alone. It holds a buffer of some 16 KiB.
//
// An answer that is broken off, because the query failed on the way, must not
// look whole. So End is called only after the last row: without it JSON and
// XML do not parse. CSV and TSV have no end mark; there the transport has to
// say so, by breaking the connection off.
//
// Its errors are of Kind Invalid for a term or a variable that no document can
// hold, Unsupported for what the format has no way to write, Internal for
// calls out of order, or the io.Writer's own. After an error every call
// returns that error. A Writer is not for concurrent use.
type Writer struct {
	w     io.Writer
	enc   encoder
	buf   []byte
	vars  int
	state writerState
	err   error
}

type writerState uint8

const (
	atStart writerState = iota
	inRows
	atEnd
)

// encoder appends the parts of a document in one format to a buffer.
type encoder interface {
	begin(b []byte, vars []string) []byte
	row(b []byte, terms []ttl.Term) ([]byte, error)
	end(b []byte) []byte
	boolean(b []byte, v bool) ([]byte, error)
}

// NewWriter returns a Writer of a format to w. A format that does not exist is
// reported by the first call.
func NewWriter(w io.Writer, f Format) *Writer {
	out := &Writer{w: w}
	switch f {
	case JSON:
		out.enc = &jsonEncoder{}
	case XML:
		out.enc = &xmlEncoder{}
	case CSV:
		out.enc = csvEncoder{}
	case TSV:
		out.enc = tsvEncoder{}
	default:
		out.err = errs.New(errs.Unsupported, "there is no such format for results")
	}
	return out
}

// Begin writes the head of a SELECT's answer: its variables, by name without
// the question mark, in order.
func (w *Writer) Begin(vars []string) error {
	if !w.in(atStart) {
		return w.err
	}
	if w.err = checkVars(vars); w.err != nil {
		return w.err
	}
	w.vars, w.state = len(vars), inRows
	w.buf = w.enc.begin(w.buf, vars)
	return w.hand(flushAt)
}

// Row writes one solution: a term for each variable, of Kind None where it is
// unbound. It keeps nothing of terms.
func (w *Writer) Row(terms []ttl.Term) error {
	if !w.in(inRows) {
		return w.err
	}
	if len(terms) != w.vars {
		w.err = errs.New(errs.Internal, "a row of %d terms for %d variables", len(terms), w.vars)
		return w.err
	}
	for _, t := range terms {
		if w.err = t.Validate(); w.err != nil {
			return w.err
		}
	}
	b, err := w.enc.row(w.buf, terms)
	if err != nil {
		w.err = err
		return err
	}
	w.buf = b
	return w.hand(flushAt)
}

// End completes the document and hands the rest on. The io.Writer stays open.
func (w *Writer) End() error {
	if !w.in(inRows) {
		return w.err
	}
	w.buf, w.state = w.enc.end(w.buf), atEnd
	return w.hand(1)
}

// Boolean writes the whole answer of an ASK. CSV and TSV have none: Kind
// Unsupported.
func (w *Writer) Boolean(v bool) error {
	if !w.in(atStart) {
		return w.err
	}
	w.buf, w.err = w.enc.boolean(w.buf, v)
	if w.err != nil {
		return w.err
	}
	w.state = atEnd
	return w.hand(1)
}

// Flush hands what is in the buffer to the io.Writer, for answers whose rows
// come slowly.
func (w *Writer) Flush() error {
	if w.err != nil {
		return w.err
	}
	return w.hand(1)
}

// in reports whether a call is in order, and sets w.err if not.
func (w *Writer) in(s writerState) bool {
	if w.err == nil && w.state != s {
		w.err = errs.New(errs.Internal, "the parts of a result document were written out of order")
	}
	return w.err == nil
}

// hand gives the buffer to the io.Writer if it holds least bytes.
func (w *Writer) hand(least int) error {
	if len(w.buf) < least {
		return nil
	}
	_, err := w.w.Write(w.buf)
	w.buf = w.buf[:0]
	if err != nil {
		w.err = errs.Wrap(errs.Unavailable, err, "the result could not be written")
	}
	return w.err
}
