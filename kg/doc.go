// Package kg is the knowledge graph: RDF in Badger, dictionary-encoded, with
// the capability index over it that answers the planner.
//
// # Store
//
// A Store keeps quads. Every term has a 64-bit id, and a quad stands in five
// orders (see key.go), so that every pattern with a bound term is a range scan.
// A named graph is reached through a small table from its IRI to a graph
// number; rows carry the number. To replace a graph as a whole, however large,
// the new rows are written under a fresh number, and one small commit turns
// the table over; the old rows are then swept. What a crash leaves half-swept
// is listed in the store and swept at the next open.
//
// There is one writer at a time. Readers see the state at one commit and never
// wait for the writer, nor it for them. An acknowledged write is on disk.
//
// # Trust
//
// Badger opens silently when some of its files are gone. So every commit
// carries a meta record with the number of triples, checked against the rows
// at open, and a file beside the database remembers the number of the last
// commit; a store that has lost commits is reported as corrupt, not used.
//
// # Catalogue and index
//
// Over the triples stand typed methods for snapshots, runtimes, capabilities
// and rungs, and a capability index in memory (View), rebuilt from the triples
// at open and kept up by every commit.
package kg
