package kg

import "iter"

// Providers returns the subjects that provide every one of the capabilities,
// each once and in no order, from the index in memory: the ?s of
//
//	?s bn:provides c1, c2, …
//
// whatever state they are in. caps are ids of terms. ok is false if the index
// cannot answer for exactly the scanner's view, and the rows must be read: the
// index is of another commit, the view has changes that are not committed,
// bn:provides stands in another graph than GraphSnapshots, or a subject there
// provides something and is not a snapshot that can be read.
func (c *Scanner) Providers(caps []ID) (seq iter.Seq2[ID, error], ok bool) {
	return nil, false
}
