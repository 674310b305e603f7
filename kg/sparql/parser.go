package sparql

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// ParseOptions bound and set up the reading of a text. A field of zero takes
// its default.
type ParseOptions struct {
	// Base is what relative IRIs are resolved against until the text has BASE.
	Base string
	// MaxBytes is the text's size. Default 4 MiB.
	MaxBytes int
	// MaxDepth is how deep groups, parentheses, paths, lists and signs may
	// nest. Default 256.
	MaxDepth int
	// MaxParts bounds patterns, expressions and paths together: what is
	// evaluated, not what INSERT DATA or VALUES list. Default 20,000.
	MaxParts int
}

func (o ParseOptions) withDefaults() ParseOptions {
	for _, f := range [...]struct {
		n   *int
		def int
	}{{&o.MaxBytes, 4 << 20}, {&o.MaxDepth, 256}, {&o.MaxParts, 20_000}} {
		if *f.n <= 0 {
			*f.n = f.def
		}
	}
	return o
}

// parser is a recursive-descent parser of SPARQL 1.1. Its recursion is bounded
// by MaxDepth.
type parser struct {
	lex      lexer
	tok      token
	o        ParseOptions
	base     string
	prefixes map[string]string
	depth    int
	parts    int
	blanks   int
	// labels maps a blank node's label to the basic graph pattern or operation
	// that used it: no two may share one (section 5.1.1).
	labels   map[string]int
	pattern  int            // the number of the basic graph pattern being read
	patterns int            // the last number given
	uses     map[string]int // how often each variable is written
	data     bool           // in DATA: no variables
	noBlank  bool           // in DELETE: no blank nodes
	agg      bool           // aggregates may stand here
}

func newParser(text string, o ParseOptions) (*parser, error) {
	o = o.withDefaults()
	if len(text) > o.MaxBytes {
		return nil, errs.New(errs.TooLarge, "the text is larger than the limit of %d bytes", o.MaxBytes)
	}
	if !utf8.ValidString(text) {
		return nil, errs.New(errs.Invalid, "the text is not UTF-8")
	}
	text = strings.TrimPrefix(text, "\ufeff")
	p := &parser{lex: lexer{text: text}, o: o, base: o.Base, prefixes: map[string]string{}, labels: map[string]int{}, uses: map[string]int{}}
	return p, p.advance()
}

// Parse reads a query.
func Parse(text string, o ParseOptions) (*Query, error) {
	p, err := newParser(text, o)
	if err != nil {
		return nil, err
	}
	if err := p.prologue(); err != nil {
		return nil, err
	}
	q, err := p.query()
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokEOF {
		return nil, p.unexpected("the end of the query")
	}
	return &Query{body: q, kind: q.kind, base: p.base, uses: p.uses}, nil
}

// advance reads the next token.
func (p *parser) advance() (err error) {
	p.tok, err = p.lex.next()
	if p.tok.kind == tokVar {
		p.uses[p.tok.text]++
	}
	return err
}

func (p *parser) fail(at int, msg string) error { return syntaxAt(p.lex.text, at, msg) }

// unexpected says what should have stood where the token is.
func (p *parser) unexpected(want string) error {
	found := "the text ends"
	if p.tok.kind != tokEOF {
		found = quote(p.lex.text[p.tok.at:p.tok.end]) + " stands"
	}
	return p.fail(p.tok.at, want+" is expected where "+found)
}

// enter counts a level of nesting; leave ends it.
func (p *parser) enter() error {
	if p.depth++; p.depth > p.o.MaxDepth {
		return p.fail(p.tok.at, "the text nests deeper than the limit of "+strconv.Itoa(p.o.MaxDepth))
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

// part counts one part of what is evaluated.
func (p *parser) part() error {
	if p.parts++; p.parts > p.o.MaxParts {
		return errs.New(errs.TooLarge, "the text has more than the limit of %d patterns and expressions", p.o.MaxParts)
	}
	return nil
}

func (p *parser) isPunct(s string) bool { return p.tok.kind == tokPunct && p.tok.text == s }

func (p *parser) isWord(w string) bool {
	return p.tok.kind == tokWord && strings.EqualFold(p.tok.text, w)
}

// punct reads an operator or bracket if it is there.
func (p *parser) punct(s string) (bool, error) {
	if !p.isPunct(s) {
		return false, nil
	}
	return true, p.advance()
}

// word reads a keyword if it is there.
func (p *parser) word(w string) (bool, error) {
	if !p.isWord(w) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) need(s string) error {
	ok, err := p.punct(s)
	if err == nil && !ok {
		err = p.unexpected("'" + s + "'")
	}
	return err
}

func (p *parser) needWord(w string) error {
	ok, err := p.word(w)
	if err == nil && !ok {
		err = p.unexpected(w)
	}
	return err
}

// prologue reads BASE and PREFIX declarations.
func (p *parser) prologue() error {
	for {
		switch {
		case p.isWord("BASE"):
			if err := p.advance(); err != nil {
				return err
			}
			iri, err := p.iriRef()
			if err != nil {
				return err
			}
			p.base = iri
		case p.isWord("PREFIX"):
			if err := p.prefixDecl(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

func (p *parser) prefixDecl() error {
	if err := p.advance(); err != nil {
		return err
	}
	if p.tok.kind != tokName || p.tok.local != "" {
		return p.unexpected("a prefix")
	}
	name := p.tok.text
	if err := p.advance(); err != nil {
		return err
	}
	iri, err := p.iriRef()
	if err != nil {
		return err
	}
	p.prefixes[name] = iri
	return nil
}

// iriRef reads an IRI between angle brackets.
func (p *parser) iriRef() (string, error) {
	if p.tok.kind != tokIRI {
		return "", p.unexpected("an IRI between angle brackets")
	}
	iri, err := p.resolve(p.tok.at, p.tok.text)
	if err != nil {
		return "", err
	}
	return iri, p.advance()
}

// resolve makes a reference absolute.
func (p *parser) resolve(at int, ref string) (string, error) {
	if ttl.ValidIRI(ref) {
		return ref, nil
	}
	if p.base == "" {
		return "", p.fail(at, "the IRI is relative and there is no BASE")
	}
	iri := ttl.ResolveIRI(p.base, ref)
	if !ttl.ValidIRI(iri) {
		return "", p.fail(at, quote(iri)+" is not an IRI")
	}
	return iri, nil
}

// isIRI reports whether an IRI or prefixed name is next.
func (p *parser) isIRI() bool { return p.tok.kind == tokIRI || p.tok.kind == tokName }

// iri reads an IRI or a prefixed name.
func (p *parser) iri() (ttl.Term, error) {
	if p.tok.kind == tokIRI {
		iri, err := p.iriRef()
		return ttl.NewIRI(iri), err
	}
	if p.tok.kind != tokName {
		return ttl.Term{}, p.unexpected("an IRI")
	}
	ns, ok := p.prefixes[p.tok.text]
	if !ok {
		return ttl.Term{}, p.fail(p.tok.at, "the prefix "+quote(p.tok.text)+" is not declared")
	}
	iri := ns + p.tok.local
	if !ttl.ValidIRI(iri) {
		return ttl.Term{}, p.fail(p.tok.at, quote(iri)+" is not an IRI")
	}
	return ttl.NewIRI(iri), p.advance()
}

// fresh returns a new variable for a blank node or a path.
func (p *parser) fresh() node {
	p.blanks++
	return variable(blankMark + "#" + strconv.Itoa(p.blanks))
}
