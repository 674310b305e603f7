package kg

import (
	"fmt"
	"strconv"
	"time"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// instant is an instant as the graph writes it; see dateTimeLayout.
func instant(at time.Time) ttl.Term {
	return ttl.NewTyped(at.UTC().Format(dateTimeLayout), ttl.XSDDateTime)
}

// decimal is a number as the graph writes it, without an exponent.
func decimal(f float64) ttl.Term {
	return ttl.NewTyped(strconv.FormatFloat(f, 'f', -1, 64), ttl.XSDDecimal)
}

// integer is a whole number as the graph writes it.
func integer(n int64) ttl.Term { return ttl.NewTyped(strconv.FormatInt(n, 10), ttl.XSDInteger) }

// quads returns a snapshot's statements, all in GraphSnapshots. A snapshot is
// also a prov:Entity, so that tools that know PROV-O can read the lineage.
func (sn Snapshot) quads() []ttl.Quad {
	s, g := iri(sn.ID.IRI()), iri(ontology.GraphSnapshots)
	qs := make([]ttl.Quad, 0, 20+len(sn.Declares)+len(sn.Provides))
	add := func(p ontology.IRI, o ttl.Term) { qs = append(qs, ttl.Quad{S: s, P: iri(p), O: o, G: g}) }
	add(ontology.RDFType, iri(ontology.ClassWarmSnapshot))
	add(ontology.RDFType, iri(ontology.ProvEntity))
	add(ontology.DCTermsIdentifier, ttl.NewString(string(sn.ID)))
	if sn.DerivedFrom != "" {
		add(ontology.PropDerivedFrom, iri(sn.DerivedFrom.IRI()))
	}
	add(ontology.PropProducedBy, iri(sn.Rung.IRI()))
	add(ontology.PropRung, iri(sn.Rung.IRI()))
	add(ontology.PropRuntime, iri(sn.Runtime.IRI()))
	add(ontology.PropSpecKey, ttl.NewString(string(sn.SpecKey)))
	add(ontology.PropState, iri(sn.State.IRI()))
	for _, c := range sn.Declares {
		add(ontology.PropDeclares, iri(c.IRI()))
	}
	for _, c := range sn.Provides {
		add(ontology.PropProvides, iri(c.IRI()))
	}
	add(ontology.PropWarmMillis, decimal(sn.WarmMillis))
	add(ontology.PropResidentBytes, integer(sn.ResidentBytes))
	add(ontology.PropCreatedAt, instant(sn.CreatedAt))
	add(ontology.ProvGeneratedAtTime, instant(sn.CreatedAt))
	if !sn.ExpiresAt.IsZero() {
		add(ontology.PropExpiresAt, instant(sn.ExpiresAt))
	}
	add(ontology.PropNode, ttl.NewString(sn.Node))
	return append(qs, sn.stateQuads()...)
}

// stateQuads are the statements that change with the state, beside the state.
func (sn Snapshot) stateQuads() (qs []ttl.Quad) {
	s, g := iri(sn.ID.IRI()), iri(ontology.GraphSnapshots)
	if !sn.StateChangedAt.IsZero() {
		qs = append(qs, ttl.Quad{S: s, P: iri(ontology.PropStateChangedAt), O: instant(sn.StateChangedAt), G: g})
	}
	if sn.StateReason != "" {
		qs = append(qs, ttl.Quad{S: s, P: iri(ontology.PropStateReason), O: ttl.NewString(sn.StateReason), G: g})
	}
	return qs
}

// absorb takes one statement about the snapshot. What is not the vocabulary's
// is left alone.
func (sn *Snapshot) absorb(p ontology.IRI, o ttl.Term) (err error) {
	ok := true
	switch p {
	case ontology.PropDerivedFrom:
		sn.DerivedFrom, ok = ontology.SnapshotOf(ontology.IRI(o.Value))
	case ontology.PropRung:
		sn.Rung, ok = ontology.RungOf(ontology.IRI(o.Value))
	case ontology.PropRuntime:
		sn.Runtime, ok = ontology.RuntimeOf(ontology.IRI(o.Value))
	case ontology.PropSpecKey:
		sn.SpecKey = ontology.SpecKey(o.Value)
	case ontology.PropState:
		var state ontology.SnapshotState
		state, err = stateOf(o)
		sn.State = max(sn.State, state) // of several, the one that allows least
	case ontology.PropDeclares:
		sn.Declares, ok = append(sn.Declares, ontology.Capability(o.Value)), o.Kind == ttl.IRI
	case ontology.PropProvides:
		sn.Provides, ok = append(sn.Provides, ontology.Capability(o.Value)), o.Kind == ttl.IRI
	case ontology.PropWarmMillis:
		sn.WarmMillis, err = millis(o)
	case ontology.PropResidentBytes:
		sn.ResidentBytes, err = strconv.ParseInt(o.Value, 10, 64)
	case ontology.PropCreatedAt:
		sn.CreatedAt, err = time.Parse(dateTimeLayout, o.Value)
	case ontology.PropExpiresAt:
		sn.ExpiresAt, err = time.Parse(dateTimeLayout, o.Value)
	case ontology.PropNode:
		sn.Node = o.Value
	case ontology.PropStateChangedAt:
		sn.StateChangedAt, err = time.Parse(dateTimeLayout, o.Value)
	case ontology.PropStateReason:
		sn.StateReason = o.Value
	}
	if !ok {
		err = fmt.Errorf("%s cannot be the value of <%s>", quote(o.Value), p)
	}
	return err
}

// stateOf reads a state's node.
func stateOf(o ttl.Term) (ontology.SnapshotState, error) {
	local := o.Value
	if len(local) > len(ontology.Base) && local[:len(ontology.Base)] == ontology.Base {
		local = local[len(ontology.Base):]
	}
	return ontology.ParseSnapshotState(local)
}

// millis reads a number of milliseconds: finite and not below zero.
func millis(o ttl.Term) (float64, error) {
	f, err := strconv.ParseFloat(o.Value, 64)
	if err != nil {
		return 0, err
	}
	if !(f >= 0 && f <= maxMillis) {
		return 0, fmt.Errorf("%s is not a number of milliseconds", quote(o.Value))
	}
	return f, nil
}

// maxMillis bounds a warm-up: ten years.
const maxMillis = 10 * 365 * 24 * 3600 * 1000

// complete reports what a snapshot read from the graph lacks.
func (sn *Snapshot) complete(stated bool) error {
	for _, f := range [...]struct {
		name string
		has  bool
	}{
		{"bn:rung", sn.Rung != ""},
		{"bn:runtime", sn.Runtime != ""},
		{"bn:specKey", sn.SpecKey != ""},
		{"bn:createdAt", !sn.CreatedAt.IsZero()},
		{"bn:state", stated},
	} {
		if !f.has {
			return fmt.Errorf("it has no %s", f.name)
		}
	}
	return nil
}
