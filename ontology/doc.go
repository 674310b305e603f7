// Package ontology is Banyan's vocabulary: the embedded capability.ttl, the
// IRI constants generated from it, and the named identifier types that every
// other package speaks in. It does no I/O and knows nothing of the rest.
package ontology
