// Package w3c reads the W3C's SPARQL test suites and judges what an engine
// makes of them. It is used by tests only.
//
// The suites are not part of this repository. A copy of the rdf-tests of the
// RDF Test Curation group is named by BANYAN_W3C_DIR; Suites says which of its
// manifests are run. Everything is read with readers of our own: the
// manifests and data by ttl, the expected answers by results. Only the 16
// files in RDF/XML, which Banyan does not read, have a small reader here that
// knows no more than they need.
//
// The judge is strict: terms are compared by their form, blank nodes up to one
// renaming for the whole answer, rows as a multiset, and in order where the
// query orders. Mutations of an answer that passed must not pass.
package w3c
