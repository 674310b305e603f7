// Package knakk turns the terms and statements of package ttl into those of
// github.com/knakk/rdf and back, so that Go programs that hold knakk's types
// can feed the graph and read it.
//
// Only knakk's term types are used. Its decoder must never see bytes from
// outside: its lexer runs in a goroutine of its own without recover, some valid
// documents (a string that begins with a quote, a decimal at the start of a
// line) make it panic there, which ends the process; a failed parse leaks the
// goroutine; it has no limits; and it resolves some relative IRIs wrongly
// without a word. Read with ttl.Reader and convert. Its Turtle encoder is not
// for our data either: it does not escape local names, and writes the lexical
// form of numbers and booleans as it is, so that such a literal can inject
// statements. Its N-Triples encoder is sound for what this package returns.
//
// All errors are of Kind Invalid, or of Kind Unsupported for what is valid RDF
// but has no form in knakk's types. The functions are safe for concurrent use.
package knakk

import (
	"strings"
	"unicode/utf8"

	"github.com/knakk/rdf"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// FromTerm converts one of knakk's terms. It checks what knakk's constructors
// let pass: blank node labels and IRIs of any text, text that is not UTF-8, and
// the zero values, among them the literal that a constructor returned beside
// an error nobody looked at. The infinities of NewLiteral, "+Inf" and "-Inf",
// become those of XML Schema, "INF" and "-INF".
func FromTerm(t rdf.Term) (ttl.Term, error) {
	var out ttl.Term
	switch t := t.(type) {
	case nil:
		return ttl.Term{}, errs.New(errs.Invalid, "a term is missing")
	case rdf.IRI:
		out = ttl.NewIRI(t.String())
	case rdf.Blank:
		// Not String: it panics for the zero Blank.
		label, ok := strings.CutPrefix(t.Serialize(rdf.NTriples), "_:")
		if !ok || !ttl.ValidBlankLabel(label) {
			return ttl.Term{}, errs.New(errs.Invalid, "%q cannot be a blank node's label", clip(label))
		}
		out = ttl.NewBlank(label)
	case rdf.Literal:
		var err error
		if out, err = fromLiteral(t); err != nil {
			return ttl.Term{}, err
		}
	default:
		return ttl.Term{}, errs.New(errs.Unsupported, "a term is of a type that is not knakk's")
	}
	if err := out.Validate(); err != nil {
		return ttl.Term{}, err
	}
	return out, nil
}

func fromLiteral(l rdf.Literal) (ttl.Term, error) {
	datatype := l.DataType.String()
	switch {
	case datatype == "":
		return ttl.Term{}, errs.New(errs.Invalid, "a literal has no datatype; it may be the zero literal of a failed constructor")
	case l.Lang() != "" && datatype == ttl.RDFLangString:
		return ttl.NewLang(l.String(), l.Lang()), nil
	case l.Lang() != "":
		// DataType is an exported field, so anybody can set another.
		return ttl.Term{}, errs.New(errs.Invalid, "a literal has a language and a datatype other than rdf:langString")
	case datatype == ttl.RDFLangString:
		return ttl.Term{}, errs.New(errs.Invalid, "a literal is an rdf:langString without a language")
	}
	lexical := l.String()
	if datatype == ttl.XSDDouble || datatype == ttl.XSD+"float" {
		switch lexical {
		case "+Inf":
			lexical = "INF"
		case "-Inf":
			lexical = "-INF"
		}
	}
	return ttl.NewTyped(lexical, datatype), nil
}

// ToTerm converts a term. A blank node gets its ttl.WritableLabel, so that the
// N-Triples encoder writes it as one token. A language tag that has two or more
// hyphens ("zh-Hant-TW"), or digits before the first, has no form in knakk's
// types: NewLangLiteral refuses it, and a shorter tag would be another term.
func ToTerm(t ttl.Term) (rdf.Term, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	switch t.Kind {
	case ttl.IRI:
		return toIRI(t.Value)
	case ttl.Blank:
		b, err := rdf.NewBlank(ttl.WritableLabel(t.Value))
		if err != nil {
			return nil, errs.Wrap(errs.Unsupported, err, "the blank node %q has no form in knakk's types", clip(t.Value))
		}
		return b, nil
	case ttl.Literal:
		return toLiteral(t)
	}
	return nil, errs.New(errs.Invalid, "a term is missing")
}

func toIRI(s string) (rdf.IRI, error) {
	iri, err := rdf.NewIRI(s)
	if err != nil {
		return rdf.IRI{}, errs.Wrap(errs.Unsupported, err, "the IRI %q has no form in knakk's types", clip(s))
	}
	return iri, nil
}

func toLiteral(t ttl.Term) (rdf.Term, error) {
	if t.Lang != "" { // NewLangLiteral panics on an empty tag
		l, err := rdf.NewLangLiteral(t.Value, t.Lang)
		if err != nil {
			return nil, errs.Wrap(errs.Unsupported, err, "the language tag %q has no form in knakk's types", clip(t.Lang))
		}
		return l, nil
	}
	if t.Datatype == ttl.RDFLangString {
		return nil, errs.New(errs.Invalid, "a literal is an rdf:langString without a language")
	}
	datatype, err := toIRI(t.DatatypeIRI())
	if err != nil {
		return nil, err
	}
	return rdf.NewTypedLiteral(t.Value, datatype), nil
}

// FromTriple converts a statement.
func FromTriple(t rdf.Triple) (ttl.Triple, error) {
	var out ttl.Triple
	var err error
	if out.S, err = fromPlace(t.Subj, "subject", ttl.IRI, ttl.Blank); err != nil {
		return ttl.Triple{}, err
	}
	if out.P, err = fromPlace(t.Pred, "predicate", ttl.IRI); err != nil {
		return ttl.Triple{}, err
	}
	if out.O, err = fromPlace(t.Obj, "object", ttl.IRI, ttl.Blank, ttl.Literal); err != nil {
		return ttl.Triple{}, err
	}
	return out, nil
}

// fromPlace converts the term in one place of a statement. An empty place is a
// nil interface, which the caller's conversion to rdf.Term keeps nil.
func fromPlace(t rdf.Term, place string, kinds ...ttl.Kind) (ttl.Term, error) {
	out, err := FromTerm(t)
	if err != nil {
		return ttl.Term{}, errs.Wrap(errs.KindOf(err), err, "%s: %s", place, errs.Public(err))
	}
	for _, k := range kinds {
		if out.Kind == k {
			return out, nil
		}
	}
	return ttl.Term{}, errs.New(errs.Invalid, "%s: a term of this kind cannot stand here", place)
}

// ToTriple converts a statement.
func ToTriple(t ttl.Triple) (rdf.Triple, error) {
	s, err := ToTerm(t.S)
	if err != nil {
		return rdf.Triple{}, err
	}
	p, err := ToTerm(t.P)
	if err != nil {
		return rdf.Triple{}, err
	}
	o, err := ToTerm(t.O)
	if err != nil {
		return rdf.Triple{}, err
	}
	subj, okS := s.(rdf.Subject)
	pred, okP := p.(rdf.Predicate)
	obj, okO := o.(rdf.Object)
	if !okS || !okP || !okO {
		return rdf.Triple{}, errs.New(errs.Invalid, "a statement needs an IRI or a blank node as subject and an IRI as predicate")
	}
	return rdf.Triple{Subj: subj, Pred: pred, Obj: obj}, nil
}

// clip shortens a text for an error's sentence.
func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	s = s[:most]
	for s != "" && !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + "…"
}
