package results

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// TSVReader reads an answer in TSV a row at a time, so that an answer of any
// length can be read in bounded memory: it holds one line.
//
// TSV has no end mark. So the end of the stream is the end of the answer, and
// an answer that was broken off is only known if src returns an error that is
// not io.EOF. A TSVReader is not for concurrent use.
type TSVReader struct {
	src  *bufio.Reader
	most int64
	vars []string
	line int
	err  error
}

// NewTSVReader reads the head of an answer. Of l it takes Vars, and Bytes as
// the bound of a line. Errors are those of Read.
func NewTSVReader(src io.Reader, l Limits) (*TSVReader, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	l = l.withDefaults()
	r := &TSVReader{src: bufio.NewReaderSize(src, 64<<10), most: l.Bytes}
	line, err := r.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if r.vars, err = tsvHead(line, l.Vars); err != nil {
		return nil, err
	}
	return r, checkVars(r.vars)
}

// Vars returns the variables, without the question mark. They are the reader's.
func (r *TSVReader) Vars() []string { return r.vars }

// Row returns the next row, which is the caller's, and io.EOF behind the last.
// After an error every call returns that error.
func (r *TSVReader) Row() ([]ttl.Term, error) {
	if r.err != nil {
		return nil, r.err
	}
	line, err := r.next()
	if err != nil {
		r.err = err
		return nil, err
	}
	row := make([]ttl.Term, len(r.vars))
	if err := tsvRow(line, row); err != nil {
		r.err = errs.New(errs.Invalid, "line %d: %s", r.line, errs.Public(err))
		return nil, r.err
	}
	return row, nil
}

// next reads a line without its end. At the end of the stream it is io.EOF; a
// last line without an end is a line.
func (r *TSVReader) next() (string, error) {
	r.line++
	var b []byte
	for {
		part, err := r.src.ReadSlice('\n')
		if int64(len(b)+len(part)) > r.most {
			return "", errs.New(errs.TooLarge, "line %d is longer than %d bytes", r.line, r.most)
		}
		b = append(b, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return "", errs.Wrap(errs.KindOf(err), err, "the result could not be read")
		case err != nil && len(b) == 0:
			return "", io.EOF
		}
		if !utf8.Valid(b) {
			return "", errs.New(errs.Invalid, "line %d is not UTF-8", r.line)
		}
		return strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r"), nil
	}
}
