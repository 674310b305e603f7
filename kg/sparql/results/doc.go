// Package results writes and reads the answers of SPARQL queries in the four
// W3C formats: Query Results JSON, Query Results XML, CSV and TSV (all
// SPARQL 1.1), and picks one of them from an HTTP Accept header.
//
// A Writer streams: it holds one small buffer, however many rows there are.
// The readers are strict and bounded, for an answer may come from anywhere:
// they take UTF-8 only, refuse what the recommendations do not allow, expand
// no XML entity, read no DTD, and give up at their Limits.
//
// CSV is made for spreadsheets and drops what tells an IRI from a string; only
// the text of a term survives it. The other three keep every term, but for the
// labels of blank nodes, which mean nothing outside of their document.
package results
