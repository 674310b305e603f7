// Package sparql answers SPARQL 1.1 queries and runs SPARQL 1.1 updates over
// the store of package kg.
//
// A text is parsed by a recursive-descent parser with bounds on size and
// depth, translated to the algebra as section 18.2 of the specification says,
// and evaluated over the ids of the store's dictionary: a row has one id for
// each variable, and a term is looked at only where an expression needs it.
// Terms that a query makes have ids of its own.
//
// Evaluation streams. An operator is run with a row and calls back for each
// solution that agrees with it, the solution standing in the same row; only
// tables of joins, groups, orders and DISTINCT hold rows, and what they hold
// is bounded. What the specification evaluates on its own (a subquery, the
// inside of an OPTIONAL that names variables from further out) never sees a
// row's other variables; see canPipe.
//
// The steps of a pattern are put in order by counts. Several constants asked of
// one subject are intersected by leaping, or taken from the capability index
// where they are bn:provides; "has all of these" said by a double NOT EXISTS is
// the same (see forAll). A step that many rows run into reads its range into a
// table once that is cheaper than seeking (see hashed).
//
// Every bound that is passed is an error of Kind TooLarge or
// Timeout: no answer is cut silently.
package sparql
