package sparql

import (
	"strings"

	"github.com/seed-ff860830/banyan/ttl"
)

// isLiteral reports whether a literal is next; a sign belongs to the number
// that follows it at once.
func (p *parser) isLiteral() bool {
	switch p.tok.kind {
	case tokString, tokInteger, tokDecimal, tokDouble:
		return true
	case tokPunct:
		return p.signed()
	}
	return p.isWord("true") || p.isWord("false")
}

// signed reports whether a sign with a number right behind it is next.
func (p *parser) signed() bool {
	if !p.isPunct("+") && !p.isPunct("-") || p.tok.end >= len(p.lex.text) {
		return false
	}
	c := rune(p.lex.text[p.tok.end])
	return isDigit(c) || c == '.' && p.tok.end+1 < len(p.lex.text) && isDigit(rune(p.lex.text[p.tok.end+1]))
}

// literal reads a literal.
func (p *parser) literal() (ttl.Term, error) {
	switch {
	case p.tok.kind == tokString:
		return p.stringLiteral()
	case p.isWord("true") || p.isWord("false"):
		t := ttl.NewTyped(strings.ToLower(p.tok.text), ttl.XSDBoolean)
		return t, p.advance()
	}
	sign := ""
	if p.tok.kind == tokPunct {
		sign = p.tok.text
		if err := p.advance(); err != nil {
			return ttl.Term{}, err
		}
	}
	datatype := ttl.XSDInteger
	switch p.tok.kind {
	case tokInteger:
	case tokDecimal:
		datatype = ttl.XSDDecimal
	case tokDouble:
		datatype = ttl.XSDDouble
	default:
		return ttl.Term{}, p.unexpected("a number")
	}
	t := ttl.NewTyped(sign+p.tok.text, datatype)
	return t, p.advance()
}

func (p *parser) stringLiteral() (ttl.Term, error) {
	text := p.tok.text
	if err := p.advance(); err != nil {
		return ttl.Term{}, err
	}
	if p.tok.kind == tokLang {
		t := ttl.NewLang(text, p.tok.text)
		return t, p.advance()
	}
	if ok, err := p.punct("^^"); err != nil || !ok {
		return ttl.NewString(text), err
	}
	dt, err := p.iri()
	return ttl.NewTyped(text, dt.Value), err
}

// isTerm reports whether a variable or a term without brackets is next.
func (p *parser) isTerm() bool {
	return p.tok.kind == tokVar || p.tok.kind == tokBlank || p.isIRI() || p.isLiteral()
}

// varOrTerm reads VarOrTerm but for the bracketed forms.
func (p *parser) varOrTerm() (node, error) {
	switch {
	case p.tok.kind == tokVar:
		return p.varNode()
	case p.tok.kind == tokBlank:
		return p.blankNode()
	case p.isIRI():
		t, err := p.iri()
		return node{term: t}, err
	case p.isLiteral():
		t, err := p.literal()
		return node{term: t}, err
	}
	return node{}, p.unexpected("a term")
}

// varNode reads a variable.
func (p *parser) varNode() (node, error) {
	if p.tok.kind != tokVar {
		return node{}, p.unexpected("a variable")
	}
	if p.data {
		return node{}, p.fail(p.tok.at, "data holds no variables")
	}
	n := variable(p.tok.text)
	return n, p.advance()
}

// blankNode reads a labelled blank node.
func (p *parser) blankNode() (node, error) {
	if p.noBlank {
		return node{}, p.fail(p.tok.at, "what is deleted holds no blank nodes")
	}
	if in, ok := p.labels[p.tok.text]; ok && in != p.pattern {
		return node{}, p.fail(p.tok.at, "the blank node's label "+quote(p.tok.text)+" stands in two patterns")
	}
	p.labels[p.tok.text] = p.pattern
	n := variable(blankMark + p.tok.text)
	return n, p.advance()
}

// varOrIRI reads VarOrIri.
func (p *parser) varOrIRI() (node, error) {
	if p.tok.kind == tokVar {
		return p.varNode()
	}
	t, err := p.iri()
	return node{term: t}, err
}
