// Package oracle holds Banyan's SPARQL to other engines: random queries and
// updates over small random graphs must give what they give. It has tests only.
//
// goRDFlib runs in every test run, Oxigraph where its npm package is installed
// (npm ci in bench/peer/oxigraph). A fixed number of cases runs by default,
// -rapid.checks=N runs more.
//
// Where an engine is known not to do what the specification says, the table of
// differences in differences_test.go names the section, has a case that shows
// it, and keeps what brings it about, and nothing else, out of what that
// engine is asked.
package oracle
