package sparql

import "github.com/seed-ff860830/banyan/ttl"

// triples reads subjects with their property lists and hands out each triple.
// Paths are read where withPaths says so.
type triples struct {
	p         *parser
	withPaths bool
	emit      func(triplePat) error
}

// startsTriples reports whether a subject is next.
func (p *parser) startsTriples() bool { return p.isTerm() || p.isPunct("(") || p.isPunct("[") }

// subject reads TriplesSameSubject[Path].
func (ts *triples) subject() error {
	bracket := ts.p.isPunct("[") || ts.p.isPunct("(")
	s, listed, err := ts.node()
	if err != nil {
		return err
	}
	// "[ :p :o ]" and "( 1 )" may stand alone, "[]" and "()" may not.
	if bracket && listed && !ts.startsVerb() {
		return nil
	}
	return ts.properties(s)
}

func (ts *triples) startsVerb() bool {
	p := ts.p
	if p.tok.kind == tokVar || p.isIRI() || p.tok.kind == tokWord && p.tok.text == "a" {
		return true
	}
	return ts.withPaths && (p.isPunct("^") || p.isPunct("!") || p.isPunct("("))
}

// properties reads PropertyListNotEmpty.
func (ts *triples) properties(s node) error {
	for {
		if err := ts.verbObjects(s); err != nil {
			return err
		}
		more := false
		for ts.p.isPunct(";") {
			more = true
			if err := ts.p.advance(); err != nil {
				return err
			}
		}
		if !more || !ts.startsVerb() {
			return nil
		}
	}
}

// verbObjects reads a verb and its objects.
func (ts *triples) verbObjects(s node) error {
	t := triplePat{s: s}
	if err := ts.verb(&t); err != nil {
		return err
	}
	for {
		o, _, err := ts.node()
		if err != nil {
			return err
		}
		t.o = o
		if err := ts.emit(t); err != nil {
			return err
		}
		if ok, err := ts.p.punct(","); err != nil || !ok {
			return err
		}
	}
}

func (ts *triples) verb(t *triplePat) (err error) {
	p := ts.p
	switch {
	case p.tok.kind == tokVar:
		t.p, err = p.varNode()
	case !ts.startsVerb():
		return p.unexpected("a predicate")
	case ts.withPaths:
		var pa *path
		if pa, err = p.path(); err == nil {
			if pa.op == pathLink {
				t.p = node{term: pa.link}
			} else {
				t.path = pa
			}
		}
	case p.tok.kind == tokWord:
		t.p = node{term: ttl.NewIRI(ttl.RDFType)}
		err = p.advance()
	default:
		t.p.term, err = p.iri()
	}
	return err
}

// node reads GraphNode: a term, a list or a bracketed property list. listed
// says that a bracket had something in it.
func (ts *triples) node() (n node, listed bool, err error) {
	p := ts.p
	if !p.isPunct("[") && !p.isPunct("(") {
		n, err = p.varOrTerm()
		return n, false, err
	}
	if err := p.enter(); err != nil {
		return node{}, false, err
	}
	defer p.leave()
	open := p.tok
	if err := p.advance(); err != nil {
		return node{}, false, err
	}
	if open.text == "(" {
		return ts.list()
	}
	if p.noBlank {
		return node{}, false, p.fail(open.at, "what is deleted holds no blank nodes")
	}
	n = p.fresh()
	if p.isPunct("]") {
		return n, false, p.advance()
	}
	if err := ts.properties(n); err != nil {
		return node{}, false, err
	}
	return n, true, p.need("]")
}

// list reads a collection behind its '('.
func (ts *triples) list() (first node, listed bool, err error) {
	p := ts.p
	end := node{term: ttl.NewIRI(ttl.RDFNil)}
	if p.isPunct(")") {
		return end, false, p.advance()
	}
	if p.noBlank {
		return node{}, false, p.fail(p.tok.at, "what is deleted holds no blank nodes")
	}
	first = p.fresh()
	for cell := first; ; {
		item, _, err := ts.node()
		if err != nil {
			return node{}, false, err
		}
		if err := ts.emit(triplePat{s: cell, p: node{term: ttl.NewIRI(ttl.RDFFirst)}, o: item}); err != nil {
			return node{}, false, err
		}
		next := end
		if !p.isPunct(")") {
			next = p.fresh()
		}
		if err := ts.emit(triplePat{s: cell, p: node{term: ttl.NewIRI(ttl.RDFRest)}, o: next}); err != nil {
			return node{}, false, err
		}
		if next == end {
			return first, true, p.advance()
		}
		cell = next
	}
}

// triplesBlock reads triples up to what is none, with '.' between them.
func (p *parser) triplesBlock(withPaths bool, emit func(triplePat) error) error {
	ts := &triples{p: p, withPaths: withPaths, emit: emit}
	for p.startsTriples() {
		if err := ts.subject(); err != nil {
			return err
		}
		if ok, err := p.punct("."); err != nil || !ok {
			return err
		}
	}
	return nil
}
