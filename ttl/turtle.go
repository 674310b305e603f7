package ttl

import "bytes"

// The Turtle reader is a machine with an explicit stack, not a recursive
// descent: a Go stack that overflows ends the process and cannot be
// recovered, and an untrusted document may nest as deep as it likes.

// state says what the reader stands before.
type state uint8

const (
	atStatement   state = iota // a directive or a subject
	atVerb                     // a predicate
	atVerbOrEnd                // the same, or '.', behind "[ … ]" as a subject
	atSeparator                // ',' ';' or the end of the predicate list
	atVerbOrClose              // behind ';': a predicate, another ';', or the end
	atItem                     // an item of a collection, or ')'
	atFirstItem                // the same, for the cell that stands already
	atObject                   // an object, behind ','
)

// mode says in what the reader is.
type mode uint8

const (
	inStatement mode = iota
	inBrackets       // "[ … ]", a blank node's properties
	inList           // "( … )", a collection
)

// turtle is the part of a Reader that only Turtle needs: the subject and
// predicate that the next object completes, and what to come back to.
type turtle struct {
	state      state
	mode       mode
	subj, pred Term
	stack      []frame
}

// frame is what an open bracket interrupted. asSubject marks a bracket that is
// itself the subject of what follows; subj is then its node.
type frame struct {
	mode       mode
	asSubject  bool
	subj, pred Term
}

var (
	termType  = NewIRI(RDFType)
	termFirst = NewIRI(RDFFirst)
	termRest  = NewIRI(RDFRest)
	termNil   = NewIRI(RDFNil)
)

// step reads one element. It either makes progress or sets r.err.
func (r *Reader) step() bool {
	switch r.state {
	case atStatement:
		return r.readStatement()
	case atVerb:
		return r.readVerb()
	case atVerbOrEnd:
		if c, _ := r.skip(); c == '.' {
			return r.closeStatement()
		}
		return r.readVerb()
	case atObject:
		return r.readObject()
	case atFirstItem, atItem:
		return r.readItem()
	case atVerbOrClose:
		c, _ := r.skip()
		if c == '.' || c == ']' || c == ';' {
			return r.readSeparator(c)
		}
		return r.readVerb()
	default:
		c, _ := r.skip()
		return r.readSeparator(c)
	}
}

// readStatement reads a directive, or a subject and what is behind it up to
// the first object.
func (r *Reader) readStatement() bool {
	c, ok := r.skip()
	if !ok {
		return r.finish()
	}
	r.mode = inStatement
	switch {
	case c == '<':
		s, ok := r.readIRIRef()
		return ok && r.setSubject(Term{Kind: IRI, Value: s})
	case c == '_':
		s, ok := r.readBlankLabel()
		return ok && r.setSubject(Term{Kind: Blank, Value: s})
	case c == '[':
		return r.openBrackets(true)
	case c == '(':
		return r.openList(true)
	case c == '@':
		return r.readAtDirective()
	case c == ':' || is(c, classAlpha) || c >= 0x80:
		iri, word, ok := r.readName()
		switch {
		case !ok:
			return false
		case word == nil:
			return r.setSubject(Term{Kind: IRI, Value: iri})
		case bytes.EqualFold(word, []byte("prefix")):
			r.pos += len(word)
			return r.readPrefix()
		case bytes.EqualFold(word, []byte("base")):
			r.pos += len(word)
			return r.readBase()
		}
		return r.badWord(word, "a subject or a directive")
	}
	return r.unexpected("a subject or a directive")
}

func (r *Reader) setSubject(t Term) bool {
	r.subj = t
	return r.readVerb()
}

// readVerb reads a predicate and its first object.
func (r *Reader) readVerb() bool {
	c, _ := r.skip()
	switch {
	case c == '<':
		s, ok := r.readIRIRef()
		if !ok {
			return false
		}
		r.pred = Term{Kind: IRI, Value: s}
	case c == ':' || is(c, classAlpha) || c >= 0x80:
		iri, word, ok := r.readName()
		switch {
		case !ok:
			return false
		case word == nil:
			r.pred = Term{Kind: IRI, Value: iri}
		case string(word) == "a":
			r.pos++
			r.pred = termType
		default:
			return r.badWord(word, "a predicate")
		}
	default:
		return r.unexpected("a predicate: an IRI or 'a'")
	}
	return r.readObject()
}

// readObject reads an object, and so completes a triple.
func (r *Reader) readObject() bool {
	c, _ := r.skip()
	at := r.here()
	switch {
	case c == '<':
		s, ok := r.readIRIRef()
		return ok && r.setObject(Term{Kind: IRI, Value: s}, at)
	case c == '"' || c == '\'':
		t, ok := r.readLiteral()
		return ok && r.setObject(t, at)
	case c == ':' || is(c, classAlpha) || c >= 0x80:
		iri, word, ok := r.readName()
		switch {
		case !ok:
			return false
		case word == nil:
			return r.setObject(Term{Kind: IRI, Value: iri}, at)
		case string(word) == "true":
			r.pos += len(word)
			return r.setObject(Term{Kind: Literal, Value: "true", Datatype: XSDBoolean}, at)
		case string(word) == "false":
			r.pos += len(word)
			return r.setObject(Term{Kind: Literal, Value: "false", Datatype: XSDBoolean}, at)
		}
		return r.badWord(word, "an object")
	case is(c, classDigit) || c == '+' || c == '-' || c == '.':
		t, ok := r.readNumber()
		return ok && r.setObject(t, at)
	case c == '_':
		s, ok := r.readBlankLabel()
		return ok && r.setObject(Term{Kind: Blank, Value: s}, at)
	case c == '[':
		return r.openBrackets(false)
	case c == '(':
		return r.openList(false)
	}
	return r.unexpected("an object")
}

func (r *Reader) setObject(o Term, at Position) bool {
	r.afterObject()
	return r.emit(Triple{r.subj, r.pred, o}, at)
}

// afterObject sets what may follow an object.
func (r *Reader) afterObject() {
	if r.mode == inList {
		r.state = atItem
		return
	}
	r.state = atSeparator
}

// readSeparator reads what stands behind an object, or behind a ';'.
func (r *Reader) readSeparator(c byte) bool {
	switch {
	case c == ',' && r.state == atSeparator:
		r.pos++
		r.state = atObject
		return true
	case c == ';':
		r.pos++
		r.state = atVerbOrClose
		return true
	case c == '.' && r.mode == inStatement:
		return r.closeStatement()
	case c == ']' && r.mode == inBrackets:
		r.pos++
		if r.pop() {
			r.state = atVerbOrEnd
		}
		return true
	case r.mode == inBrackets:
		return r.unexpected("',', ';' or ']'")
	}
	return r.unexpected("',', ';' or '.'")
}

func (r *Reader) closeStatement() bool {
	r.pos++
	r.state = atStatement
	return true
}

// badWord fails for a word, before which pos is, that is neither a name nor a
// keyword.
func (r *Reader) badWord(word []byte, want string) bool {
	if len(word) == 0 {
		return r.unexpected(want)
	}
	return r.fail(r.pos, "expected %s, found the word %q; a name has a prefix and ':'", want, clip(word))
}
