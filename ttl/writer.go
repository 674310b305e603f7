package ttl

import (
	"bufio"
	"io"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// WriterOptions say how to write a document.
type WriterOptions struct {
	Format Format
	// Prefixes are declared at the head of a Turtle document, by name without
	// the colon, and used where they fit. Other formats have none.
	Prefixes map[string]string
}

// Writer writes statements as they come: it holds one statement and a small
// buffer, and the same statements in the same order give the same bytes. In
// Turtle it joins neighbours that share their subject, or subject and
// predicate, so sorted input gives the shortest document. It writes nothing
// that a Reader would not read back as the same term, and refuses what has no
// such form. It is not for concurrent use.
type Writer struct {
	w      *bufio.Writer
	format Format
	names  abbreviator
	line   []byte
	err    error
	last   Triple // the statement that is still open, in Turtle
	open   bool
}

// NewWriter returns a Writer to w. Options that cannot work are reported by
// the first write. Close completes the document.
func NewWriter(w io.Writer, o WriterOptions) *Writer {
	out := &Writer{w: bufio.NewWriterSize(w, 16<<10), format: o.Format}
	if int(o.Format) >= len(formats) {
		out.err = errs.New(errs.Unsupported, "there is no such format")
		return out
	}
	if o.Format == Turtle {
		out.writePrefixes(o.Prefixes)
	}
	return out
}

func (w *Writer) writePrefixes(prefixes map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(prefixes)) {
		iri := prefixes[name]
		if !validPrefix(name) {
			w.err = errs.New(errs.Invalid, "%q cannot be the name of a prefix", name)
			return
		}
		if !ValidIRI(iri) {
			w.err = errs.New(errs.Invalid, "the prefix %q does not stand for an absolute IRI", name)
			return
		}
		w.names.add(name, iri)
		w.line = append(w.line, "@prefix "+name+": <"+iri+"> .\n"...)
	}
	w.flushLine()
}

// Write writes a statement. Its errors are of Kind Invalid, for a term that no
// document can hold, or the io.Writer's own; every later call returns the same
// one, and the document is to be thrown away.
func (w *Writer) Write(t Triple) error { return w.WriteQuad(Quad{S: t.S, P: t.P, O: t.O}) }

// WriteQuad writes a statement of a named graph, which only N-Quads can hold.
func (w *Writer) WriteQuad(q Quad) error {
	if w.err == nil {
		w.err = checkQuad(q, w.format)
	}
	if w.err != nil {
		return w.err
	}
	t := Triple{q.S, q.P, q.O}
	if w.format == Turtle {
		w.turtleStatement(t)
	} else {
		w.line = appendTerm(w.line, t.S, nil)
		w.line = appendTerm(append(w.line, ' '), t.P, nil)
		w.line = appendTerm(append(w.line, ' '), t.O, nil)
		if q.G.Kind != None {
			w.line = appendTerm(append(w.line, ' '), q.G, nil)
		}
		w.line = append(w.line, " .\n"...)
	}
	w.flushLine()
	return w.err
}

func (w *Writer) turtleStatement(t Triple) {
	switch {
	case w.open && t.S == w.last.S && t.P == w.last.P:
		w.line = append(w.line, ", "...)
	case w.open && t.S == w.last.S:
		w.line = append(w.line, ";\n    "...)
		w.line = append(w.predicate(t.P), ' ')
	default:
		if w.open {
			w.line = append(w.line, ".\n"...)
		}
		w.line = append(appendTerm(w.line, t.S, &w.names), ' ')
		w.line = append(w.predicate(t.P), ' ')
	}
	// The space keeps a dot that ends the statement apart from a number.
	w.line = append(appendTerm(w.line, t.O, &w.names), ' ')
	w.last, w.open = t, true
}

func (w *Writer) predicate(p Term) []byte {
	if p.Value == RDFType {
		return append(w.line, 'a')
	}
	return appendTerm(w.line, p, &w.names)
}

func (w *Writer) flushLine() {
	if w.err == nil {
		_, w.err = w.w.Write(w.line)
	}
	w.line = w.line[:0]
}

// Close completes the document and hands the rest to the io.Writer, which it
// does not close.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	if w.open {
		w.open = false
		w.line = append(w.line, ".\n"...)
		w.flushLine()
	}
	if w.err == nil {
		w.err = w.w.Flush()
	}
	return w.err
}

// checkQuad reports why a statement cannot be written in a format.
func checkQuad(q Quad, f Format) error {
	switch {
	case q.S.Kind != IRI && q.S.Kind != Blank:
		return errs.New(errs.Invalid, "the subject of a statement must be an IRI or a blank node")
	case q.P.Kind != IRI:
		return errs.New(errs.Invalid, "the predicate of a statement must be an IRI")
	case q.O.Kind == None:
		return errs.New(errs.Invalid, "the statement has no object")
	case q.G.Kind != None && f != NQuads:
		return errs.New(errs.Unsupported, "%s has no named graphs", f).WithHint("write %s instead", NQuads)
	case q.G.Kind == Literal:
		return errs.New(errs.Invalid, "the name of a graph must be an IRI or a blank node")
	}
	for _, t := range []Term{q.S, q.P, q.O, q.G} {
		if err := t.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// Validate reports why a term cannot be written down, with Kind Invalid: an
// IRI that is not a ValidIRI, an empty blank node label, text that is not
// UTF-8, a language tag out of form, or a literal that has both a tag and a
// datatype. No term at all (Kind None) is valid.
func (t Term) Validate() error {
	switch {
	case t.Kind > Literal:
		return errs.New(errs.Invalid, "there is no such kind of term")
	case t.Kind == IRI && !ValidIRI(t.Value):
		return errs.New(errs.Invalid, "%q is not an absolute IRI", t.Value)
	case t.Kind == Blank && t.Value == "":
		return errs.New(errs.Invalid, "a blank node has no label")
	case t.Kind != Literal:
		if t.Lang != "" || t.Datatype != "" {
			return errs.New(errs.Invalid, "only a literal has a language or a datatype")
		}
		return nil
	case !utf8.ValidString(t.Value):
		return errs.New(errs.Invalid, "a literal's text is not UTF-8")
	case t.Lang != "" && t.Datatype != "":
		return errs.New(errs.Invalid, "a literal has a language and a datatype")
	case t.Lang != "" && !ValidLanguage(t.Lang):
		return errs.New(errs.Invalid, "%q is not a language tag", t.Lang)
	case t.Datatype != "" && !ValidIRI(t.Datatype):
		return errs.New(errs.Invalid, "the datatype %q is not an absolute IRI", t.Datatype)
	}
	return nil
}

// ValidLanguage reports whether tag has the form of the grammar's LANGTAG: one
// to any number of parts joined by '-', the first of letters only.
func ValidLanguage(tag string) bool {
	part, first := 0, true
	for i := range len(tag) {
		switch c := tag[i]; {
		case is(c, classAlpha) || is(c, classDigit) && !first:
			part++
		case c == '-' && part > 0:
			part, first = 0, false
		default:
			return false
		}
	}
	return part > 0
}
