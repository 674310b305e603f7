// Package kg is the knowledge graph: RDF in Badger, dictionary-encoded, with
// the capability index over it that answers the planner.
package kg
