// Package shacl holds data against shapes: SHACL Core (W3C, 2017) over the
// terms of package ttl.
//
// Shapes are read once with Load and may then be used by many goroutines at a
// time. What SHACL Core leaves open is closed here: shapes that refer to
// themselves, SPARQL-based constraints and words of SHACL that are not known
// are refused when the shapes are read, never skipped. Work, results, paths
// and nesting are bounded, for both shapes and data may come from strangers.
package shacl

import "github.com/seed-ff860830/banyan/ttl"

// NS is the namespace of SHACL.
const NS = "http://www.w3.org/ns/shacl#"

const (
	rdfs         = "http://www.w3.org/2000/01/rdf-schema#"
	subClassOf   = rdfs + "subClassOf"
	rdfsClass    = rdfs + "Class"
	owlClass     = "http://www.w3.org/2002/07/owl#Class"
	noStatement  = -1
	maxShapes    = 10_000 // shapes in one set
	maxNesting   = 64     // shapes within shapes, and paths within paths
	maxList      = 10_000 // members of one list of the shapes
	maxPattern   = 4096   // bytes of a pattern
	maxSteps     = 50_000_000
	maxResults   = 1000
	stepsPerLook = 4096 // steps between two looks at the context
)

func sh(local string) ttl.Term { return ttl.NewIRI(NS + local) }
