package ttl

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// Options say how to read a document. The zero value reads Turtle that has
// only absolute IRIs (or its own @base), within DefaultLimits.
type Options struct {
	Format Format
	// Base is the absolute IRI against which relative IRIs resolve until the
	// document sets its own. Without a base a relative IRI is an error.
	Base   string
	Limits Limits
}

// Reader reads one document, one statement a call. It reads ahead by one
// buffer (64 KiB), starts no goroutine, and holds what its Limits allow. It is
// not for concurrent use. To bound time, or to stop early, let the io.Reader
// below it fail: its error ends the reading and is wrapped in what Read
// returns.
type Reader struct {
	input
	format  Format
	lim     Limits
	started bool
	scratch []byte
	err     error // what ends the reading, once the queue is empty

	base     string
	prefixes map[string]namespace
	iris     cache // IRIs, as written between '<' and '>'
	names    cache // IRIs, by their prefixed names
	labels   cache // blank node labels and language tags
	literals cache // short lexical forms

	queue   [4]statement // what one step found; one never finds more than two
	head, n int
	last    Position
	graph   Term // the graph of the last statement, for NQuads

	turtle
	blanks    int64 // how many labels were generated
	triples   int64
	termBytes int64
}

type namespace struct{ name, iri string }

type statement struct {
	t  Triple
	at Position
}

// NewReader returns a Reader of src. Options that cannot work are reported by
// the first Read.
func NewReader(src io.Reader, o Options) *Reader {
	r := &Reader{format: o.Format, lim: o.Limits.withDefaults(), base: o.Base, prefixes: map[string]namespace{}}
	r.init(src, r.lim.Bytes)
	switch err := o.Limits.Validate(); {
	case err != nil:
		r.err = err
	case int(o.Format) >= len(formats):
		r.err = errs.New(errs.Unsupported, "there is no such format")
	case o.Base != "" && !ValidIRI(o.Base):
		r.err = errs.New(errs.Invalid, "the base is not an absolute IRI")
	case len(o.Base) > r.lim.IRIBytes:
		r.err = errs.New(errs.TooLarge, "the base is longer than the limit of %d bytes", r.lim.IRIBytes)
	}
	return r
}

// Read returns the next triple, in the order in which the document completes
// them. At the end of the document it returns io.EOF; any other error is a
// *SyntaxError, a *LimitError, or wraps what the io.Reader returned. After an
// error every call returns that error. The triples before an error were
// returned already; it is the caller's part to take back what it did with
// them. Of an N-Quads document it reads the default graph only: a statement in
// a named graph is an error, for dropping its graph would be wrong.
func (r *Reader) Read() (Triple, error) {
	t, err := r.next()
	if err == nil && r.graph.Kind != None {
		r.fail(r.pos, "the statement is in a named graph, and only triples are wanted here")
		return Triple{}, r.err
	}
	return t, err
}

// ReadQuad is Read for a document that may hold named graphs. In a format
// without them every statement is in the default graph.
func (r *Reader) ReadQuad() (Quad, error) {
	t, err := r.next()
	if err != nil {
		return Quad{}, err
	}
	return Quad{S: t.S, P: t.P, O: t.O, G: r.graph}, nil
}

func (r *Reader) next() (Triple, error) {
	for r.head == r.n {
		if r.err != nil {
			return Triple{}, r.err
		}
		r.head, r.n = 0, 0
		if !r.started {
			r.started = true
			r.skipMark()
		}
		if r.format == Turtle {
			r.step()
		} else {
			r.readLine()
		}
	}
	s := &r.queue[r.head]
	r.head++
	r.last = s.at
	return s.t, nil
}

// All returns the rest of the document as a sequence. An error other than the
// document's end is its last element.
func (r *Reader) All() iter.Seq2[Triple, error] {
	return func(yield func(Triple, error) bool) {
		for {
			t, err := r.Read()
			if errors.Is(err, io.EOF) || !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// Position returns the place of the object of the statement that was returned
// last, and zero before the first. A statement that a collection implies has
// the place of the item, or of the parenthesis, that it stands for.
func (r *Reader) Position() Position { return r.last }

// Prefixes returns the prefixes in force where the reading stands, by name
// without the colon, each with its IRI. The map is the caller's.
func (r *Reader) Prefixes() map[string]string {
	m := make(map[string]string, len(r.prefixes))
	for name, ns := range r.prefixes {
		m[name] = ns.iri
	}
	return m
}

// emit puts a triple into the queue, unless a limit is passed.
func (r *Reader) emit(t Triple, at Position) bool {
	r.triples++
	r.termBytes += int64(len(t.S.Value) + len(t.P.Value) + len(t.O.Value) + len(t.O.Lang) + len(t.O.Datatype))
	switch {
	case r.triples > r.lim.Triples:
		return r.overLimit("Triples")
	case r.termBytes > r.lim.TermBytes:
		return r.overLimit("TermBytes")
	}
	r.queue[r.n] = statement{t, at}
	r.n++
	return true
}

// finish sets the error for a document that ends, or breaks off, between two
// statements.
func (r *Reader) finish() bool {
	if r.done {
		r.err = io.EOF
		return false
	}
	return r.fail(r.pos, "")
}

// fail sets a syntax error at index i, or the error of an input that broke
// off, which is then what made the syntax wrong. It returns false.
func (r *Reader) fail(i int, format string, args ...any) bool {
	switch err := r.input.err; {
	case errors.Is(err, errTooManyBytes):
		return r.overLimit("Bytes")
	case errors.Is(err, io.EOF) && !r.done:
		// The caller's errors.Is must not take it for the document's end.
		r.err = fmt.Errorf("read RDF input: %w: %s", io.ErrUnexpectedEOF, err.Error())
		return false
	case err != nil && !r.done:
		r.err = fmt.Errorf("read RDF input: %w", err)
		return false
	}
	r.err = &SyntaxError{Position: r.placeOf(i), Msg: fmt.Sprintf(format, args...), Excerpt: r.excerpt(i)}
	return false
}

func (r *Reader) failUTF8(i int) bool { return r.fail(i, "the document is not UTF-8 here") }

func (r *Reader) overLimit(name string) bool { return r.overLimitAt(name, r.here()) }

func (r *Reader) overLimitAt(name string, at Position) bool {
	m := map[string]int64{
		"Bytes": r.lim.Bytes, "Triples": r.lim.Triples, "Depth": int64(r.lim.Depth), "LiteralBytes": int64(r.lim.LiteralBytes),
		"IRIBytes": int64(r.lim.IRIBytes), "Prefixes": int64(r.lim.Prefixes), "TermBytes": r.lim.TermBytes,
	}
	r.err = &LimitError{Position: at, Limit: name, Max: m[name]}
	return false
}

// unexpected fails at pos, where something else was wanted.
func (r *Reader) unexpected(want string) bool {
	if r.broken {
		return r.failUTF8(r.pos) // skip stops in a comment only for this
	}
	return r.fail(r.pos, "expected %s, found %s", want, r.found())
}

// found describes the character at pos.
func (r *Reader) found() string {
	c, n, _ := r.rune(r.pos)
	switch {
	case r.pos == r.end:
		return "the end of the document"
	case n == 0:
		return "a byte that is not UTF-8"
	case c == '\n' || c == '\r':
		return "the end of the line"
	}
	return fmt.Sprintf("%q", c)
}

// pass moves pos to i; general says that there may be more than plain ASCII
// without line ends on the way.
func (r *Reader) pass(i int, general bool) {
	if general {
		r.advance(i)
		return
	}
	r.pos = i
}

// clip returns a name for an error's text.
func clip(b []byte) string {
	const most = 60
	if len(b) <= most {
		return printable(b)
	}
	b = b[:most]
	for len(b) > 0 && !utf8.RuneStart(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return printable(b[:max(len(b)-1, 0)]) + "…"
}

func quoteByte(c byte) string {
	if c == ' ' {
		return "a space"
	}
	return fmt.Sprintf("%q", rune(c))
}
