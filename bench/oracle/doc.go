// Package oracle holds Banyan's SPARQL to other engines: random queries and
// updates over small random graphs must give what they give. It has tests only.
//
// goRDFlib runs in every test run, Oxigraph where there is npm to install it. The
// same few hundred cases run each time; -rapid.seed=0 -rapid.checks=N draws N
// new ones of each sort.
//
// Where an engine is known not to do what the specification says, the table of
// differences in differences_test.go names the section, has a case that shows
// it, and keeps what brings it about, and nothing else, out of what that
// engine is asked.
package oracle
