package ontology

import (
	"fmt"
	"strings"
)

// Base is the namespace of Banyan's vocabulary, prefix "bn:".
const Base = "https://seed-ff860830.github.io/banyan/ns#"

// Root is the namespace under which Banyan mints the IRIs of things.
const Root = "https://seed-ff860830.github.io/banyan/"

// IRI is an absolute IRI, without angle brackets.
type IRI string

// SnapshotID names one snapshot: "sn_" and a ULID.
type SnapshotID string

// RunID names one run of a job: "ex_" and a ULID.
type RunID string

// SandboxID names one sandbox that lives on between runs: "sb_" and a ULID.
type SandboxID string

// RungName names one way to run ("forkserver").
type RungName string

// RuntimeID names a language runtime ("python", "python-3.11").
type RuntimeID string

// SpecKey is the content hash of a rungs.Spec, hexadecimal SHA-256.
type SpecKey string

// The namespaces of minted IRIs, by sort of thing.
const (
	snapshotNS = Root + "snapshot/"
	rungNS     = Root + "rung/"
	runtimeNS  = Root + "runtime/"
	graphNS    = Root + "graph/"
)

// IRI returns the snapshot's node in the graph.
func (id SnapshotID) IRI() IRI { return IRI(snapshotNS + string(id)) }

// IRI returns the rung's node in the graph.
func (n RungName) IRI() IRI { return IRI(rungNS + string(n)) }

// IRI returns the runtime's node in the graph.
func (id RuntimeID) IRI() IRI { return IRI(runtimeNS + string(id)) }

// SnapshotOf returns the snapshot a node stands for; ok is false if it is not
// a snapshot's node.
func SnapshotOf(iri IRI) (id SnapshotID, ok bool) {
	rest, ok := strings.CutPrefix(string(iri), snapshotNS)
	return SnapshotID(rest), ok && validName(rest)
}

// RungOf returns the rung a node stands for.
func RungOf(iri IRI) (name RungName, ok bool) {
	rest, ok := strings.CutPrefix(string(iri), rungNS)
	return RungName(rest), ok && validName(rest)
}

// RuntimeOf returns the runtime a node stands for.
func RuntimeOf(iri IRI) (id RuntimeID, ok bool) {
	rest, ok := strings.CutPrefix(string(iri), runtimeNS)
	return RuntimeID(rest), ok && validName(rest)
}

// The named graphs that Banyan keeps for itself.
const (
	// GraphSnapshots holds every snapshot's triples.
	GraphSnapshots = IRI(graphNS + "snapshots")
	// GraphHost holds what the daemon found out about this host: rungs,
	// runtimes and what they can do.
	GraphHost = IRI(graphNS + "host")
	// GraphBuiltin holds the embedded vocabulary and the built-in runtimes.
	GraphBuiltin = IRI(graphNS + "builtin")
)

// ImportGraph returns the named graph for an imported file of the given base
// name, when the caller names none.
func ImportGraph(file string) IRI { return IRI(graphNS + "import/" + EscapeSegment(file)) }

// Valid reports whether id has the form of a snapshot id.
func (id SnapshotID) Valid() bool {
	return strings.HasPrefix(string(id), "sn_") && validName(string(id))
}

// Valid reports whether id has the form of a run id.
func (id RunID) Valid() bool { return strings.HasPrefix(string(id), "ex_") && validName(string(id)) }

// Valid reports whether the name can be a runtime's.
func (id RuntimeID) Valid() bool { return validName(string(id)) }

// Valid reports whether the name can be a rung's.
func (n RungName) Valid() bool { return validName(string(n)) }

// validName accepts what may stand in a minted IRI and in a file name: 1 to 64
// letters, digits, '.', '_' and '-', not beginning with '.' or '-'.
func validName(s string) bool {
	if s == "" || len(s) > 64 || s[0] == '.' || s[0] == '-' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
		if !ok {
			return false
		}
	}
	return true
}

// EscapeSegment percent-encodes s so that it can stand as one segment of an
// IRI: all but RFC 3986 unreserved characters and '@' is escaped.
func EscapeSegment(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~@+", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}
