// Package ttl reads and writes RDF: a streaming Turtle 1.1 and N-Triples
// reader with limits and positions in its errors, and a writer for both.
//
// The reader is made for untrusted bytes: it keeps no goroutine, has a bound
// on everything it holds, and never recurses by input depth. See
// docs/RATIONALE.md for why it does not build on knakk/rdf's decoder.
package ttl

// Kind tells the three kinds of RDF terms apart. The zero Kind marks "no term".
type Kind uint8

// The kinds of terms.
const (
	None    Kind = iota // no term: a wildcard in a pattern, or the default graph
	IRI                 // an absolute IRI
	Blank               // a blank node, by its label
	Literal             // a literal: lexical form, and language tag or datatype
)

// Term is one RDF term. It is comparable, and two terms are equal in the sense
// of RDF 1.1 just when they are == as Go values: a plain literal has both Lang
// and Datatype empty (its datatype is xsd:string), and a language-tagged
// string has Datatype empty (it is rdf:langString). Terms are immutable.
type Term struct {
	Kind     Kind
	Value    string // the IRI, the blank node's label, or the lexical form
	Lang     string // the language tag as written, for a language-tagged string
	Datatype string // the datatype's IRI; "" stands for xsd:string
}

// Triple is one statement.
type Triple struct{ S, P, O Term }

// Quad is a statement in a named graph; G of Kind None is the default graph.
type Quad struct {
	S, P, O, G Term
}

// The datatypes the grammar itself speaks of.
const (
	XSD           = "http://www.w3.org/2001/XMLSchema#"
	XSDString     = XSD + "string"
	XSDBoolean    = XSD + "boolean"
	XSDInteger    = XSD + "integer"
	XSDDecimal    = XSD + "decimal"
	XSDDouble     = XSD + "double"
	XSDDateTime   = XSD + "dateTime"
	RDFNS         = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
	RDFType       = RDFNS + "type"
	RDFFirst      = RDFNS + "first"
	RDFRest       = RDFNS + "rest"
	RDFNil        = RDFNS + "nil"
	RDFLangString = RDFNS + "langString"
)

// NewIRI returns an IRI term. It does not check the text; the reader and
// ValidIRI do.
func NewIRI(iri string) Term { return Term{Kind: IRI, Value: iri} }

// NewBlank returns a blank node with a label.
func NewBlank(label string) Term { return Term{Kind: Blank, Value: label} }

// NewString returns a plain literal (xsd:string).
func NewString(s string) Term { return Term{Kind: Literal, Value: s} }

// NewLang returns a language-tagged string.
func NewLang(s, tag string) Term { return Term{Kind: Literal, Value: s, Lang: tag} }

// NewTyped returns a literal of a datatype; xsd:string gives the plain form.
func NewTyped(lexical, datatype string) Term {
	if datatype == XSDString {
		datatype = ""
	}
	return Term{Kind: Literal, Value: lexical, Datatype: datatype}
}

// DatatypeIRI returns the literal's datatype IRI, also where it is implied.
// It is "" for other terms.
func (t Term) DatatypeIRI() string {
	switch {
	case t.Kind != Literal:
		return ""
	case t.Lang != "":
		return RDFLangString
	case t.Datatype == "":
		return XSDString
	}
	return t.Datatype
}

// IsZero reports whether t is no term at all.
func (t Term) IsZero() bool { return t.Kind == None }
