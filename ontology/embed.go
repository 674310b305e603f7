package ontology

import _ "embed"

//go:generate go run ./gen

// VocabularyTTL is the vocabulary itself, capability.ttl, as Turtle. The
// constants Class…, Prop… and Ind… are generated from it.
//
//go:embed capability.ttl
var VocabularyTTL string

// BuiltinTTL declares the runtimes that exist without any import, as Turtle.
//
//go:embed builtin.ttl
var BuiltinTTL string

// ShapesTTL states in SHACL Core what an imported file may say, as Turtle.
//
//go:embed shapes.ttl
var ShapesTTL string

// The namespaces of other vocabularies that Banyan's graph speaks in.
const (
	RDF     = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
	RDFS    = "http://www.w3.org/2000/01/rdf-schema#"
	OWL     = "http://www.w3.org/2002/07/owl#"
	XSD     = "http://www.w3.org/2001/XMLSchema#"
	PROV    = "http://www.w3.org/ns/prov#"
	DCTerms = "http://purl.org/dc/terms/"
	SKOS    = "http://www.w3.org/2004/02/skos/core#"
	SPDX    = "http://spdx.org/rdf/terms#"
)

// The terms of other vocabularies that Banyan writes or reads.
const (
	RDFType             = IRI(RDF + "type")
	RDFSLabel           = IRI(RDFS + "label")
	RDFSComment         = IRI(RDFS + "comment")
	ProvEntity          = IRI(PROV + "Entity")
	ProvGeneratedAtTime = IRI(PROV + "generatedAtTime")
	DCTermsIdentifier   = IRI(DCTerms + "identifier")
)
