package rdfgraph

// IsomorphicWithin is Isomorphic with another bound, so that its test is quick.
var IsomorphicWithin = isomorphic
