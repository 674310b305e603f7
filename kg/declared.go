package kg

import (
	"slices"

	"github.com/seed-ff860830/banyan/ontology"
)

// declared is what the graphs declare: runtimes and capabilities. It is
// immutable once loaded.
type declared struct {
	runtimes map[ontology.RuntimeID]Runtime
	aliases  map[ontology.RuntimeID]ontology.RuntimeID // other names of runtimes
	caps     map[ontology.Capability]Capability        // Implies holds the direct edges only
}

// implies returns what a capability implies in one step. A module at a version
// implies the module.
func (d *declared) implies(c ontology.Capability) []ontology.Capability {
	direct := d.caps[c].Implies
	if u := c.Unversioned(); u != c {
		direct = append(slices.Clip(direct), u)
	}
	return direct
}

// closure returns capabilities with all that they imply, each once, in no
// order. Cycles are harmless.
func (d *declared) closure(cs []ontology.Capability) []ontology.Capability {
	seen := make(map[ontology.Capability]struct{}, len(cs))
	out := make([]ontology.Capability, 0, len(cs))
	push := func(cs []ontology.Capability) {
		for _, c := range cs {
			if _, ok := seen[c]; !ok {
				seen[c] = struct{}{}
				out = append(out, c)
			}
		}
	}
	push(cs)
	for i := 0; i < len(out); i++ {
		push(d.implies(out[i]))
	}
	return out
}

// capability returns a capability with its closure.
func (d *declared) capability(c ontology.Capability) (Capability, bool) {
	known, ok := d.caps[c]
	if !ok {
		if known, ok = d.caps[c.Unversioned()]; !ok {
			return Capability{}, false
		}
	}
	known.ID = c
	known.Implies = d.closure([]ontology.Capability{c})[1:]
	slices.Sort(known.Implies)
	return known, true
}
