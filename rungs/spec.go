package rungs

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"maps"
	"slices"

	"github.com/seed-ff860830/banyan/ontology"
)

// Runtime is a language runtime as the graph declares it.
type Runtime struct {
	ID         ontology.RuntimeID
	Language   string       // which agent it needs ("python")
	Version    string       // as declared, may be empty
	Executable string       // absolute path, or a name looked up in a fixed PATH
	Args       []string     // arguments in front of the agent
	Namespace  ontology.IRI // where its modules' capabilities live
}

// Module is one capability and the name that loads it.
type Module struct {
	Capability ontology.Capability
	ImportName string
	Version    string // the version the need asks for, "" for any
}

// Spec says what a parent shall hold. Specs are values; do not change the
// slices and maps of one that has been handed on.
type Spec struct {
	Runtime Runtime
	Modules []Module          // in any order
	Setup   string            // code run in the parent after the imports
	Env     map[string]string // environment of the parent, beside the clean base
}

// Key returns the content hash of the spec: runtime, sorted capabilities,
// set-up code, environment. Equal keys mean the same parent.
func (s Spec) Key() ontology.SpecKey {
	h := sha256.New()
	field(h, "banyan-spec-1")
	field(h, string(s.Runtime.ID), s.Runtime.Language, s.Runtime.Version, s.Runtime.Executable, string(s.Runtime.Namespace))
	field(h, s.Runtime.Args...)
	names := make([]string, 0, len(s.Modules))
	for _, m := range s.Modules {
		names = append(names, string(m.Capability)+"\x00"+m.ImportName+"\x00"+m.Version)
	}
	slices.Sort(names)
	field(h, slices.Compact(names)...)
	field(h, s.Setup)
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		field(h, k, s.Env[k])
	}
	return ontology.SpecKey(hex.EncodeToString(h.Sum(nil)))
}

// field hashes one list of strings unambiguously: count, then each by length.
func field(h hash.Hash, values ...string) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(values)))
	h.Write(n[:])
	for _, v := range values {
		binary.BigEndian.PutUint64(n[:], uint64(len(v)))
		h.Write(n[:])
		h.Write([]byte(v))
	}
}

// Capabilities returns the spec's capabilities, sorted.
func (s Spec) Capabilities() []ontology.Capability {
	cs := make([]ontology.Capability, 0, len(s.Modules))
	for _, m := range s.Modules {
		cs = append(cs, m.Capability)
	}
	return ontology.SortCapabilities(cs)
}
