package ontology

import (
	"fmt"
	"strings"
)

// Isolation is how strongly a rung walls a job off, weakest first; it is
// ordered, so that "at least" is a comparison.
type Isolation uint8

// The isolation levels of INTERFACES: none < process < wasm < container < microvm.
const (
	IsolationNone Isolation = iota
	IsolationProcess
	IsolationWasm
	IsolationContainer
	IsolationMicroVM
)

var isolationNames = []string{"none", "process", "wasm", "container", "microvm"}

// String returns the level's name as it stands in JSON.
func (i Isolation) String() string { return enumName(isolationNames, int(i)) }

// ParseIsolation reads a level's name.
func ParseIsolation(s string) (Isolation, error) {
	i, err := enumParse("isolation", isolationNames, s)
	return Isolation(i), err
}

// MarshalText writes the level's name.
func (i Isolation) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText reads a level's name.
func (i *Isolation) UnmarshalText(b []byte) (err error) {
	*i, err = ParseIsolation(string(b))
	return err
}

// SnapshotState is where a snapshot stands in its life.
type SnapshotState uint8

// The states of DESIGN §3.
const (
	StateLive    SnapshotState = iota // a running parent that can be forked now
	StateStored                       // an image that can be forked after loading
	StateRetired                      // gone; kept for its lineage
	StateRevoked                      // withdrawn; must never be forked again
)

var stateNames = []string{"Live", "Stored", "Retired", "Revoked"}

// String returns the state's name, which is also its local name in the graph.
func (s SnapshotState) String() string { return enumName(stateNames, int(s)) }

// ParseSnapshotState reads a state's name.
func ParseSnapshotState(s string) (SnapshotState, error) {
	i, err := enumParse("snapshot state", stateNames, s)
	return SnapshotState(i), err
}

// IRI returns the state's node in the graph.
func (s SnapshotState) IRI() IRI { return IRI(Base + s.String()) }

// MarshalText writes the state's name.
func (s SnapshotState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a state's name.
func (s *SnapshotState) UnmarshalText(b []byte) (err error) {
	*s, err = ParseSnapshotState(string(b))
	return err
}

// MatchPolicy says which snapshots may serve a job (DESIGN §7.4).
type MatchPolicy uint8

// The policies.
const (
	MatchSuperset MatchPolicy = iota // a snapshot that holds more will do
	MatchExact                       // only one made for just these capabilities
)

var matchNames = []string{"superset", "exact"}

// String returns the policy's name as it stands in JSON.
func (m MatchPolicy) String() string { return enumName(matchNames, int(m)) }

// ParseMatchPolicy reads a policy's name.
func ParseMatchPolicy(s string) (MatchPolicy, error) {
	i, err := enumParse("match policy", matchNames, s)
	return MatchPolicy(i), err
}

// MarshalText writes the policy's name.
func (m MatchPolicy) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads a policy's name.
func (m *MatchPolicy) UnmarshalText(b []byte) (err error) {
	*m, err = ParseMatchPolicy(string(b))
	return err
}

func enumName(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("invalid(%d)", i)
	}
	return names[i]
}

func enumParse(what string, names []string, s string) (int, error) {
	for i, n := range names {
		if n == s {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%q is not a known %s; known: %s", s, what, strings.Join(names, ", "))
}
