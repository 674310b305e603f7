package kg

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// fact is one statement about a subject whose text is yet to be read.
type fact struct {
	p ontology.IRI
	o ID
}

// aboutOne is what a range has read of the subject that it is at.
type aboutOne struct {
	id       ID
	sn       Snapshot
	declares []uint32
	provides []uint32
	facts    []fact
	fault    error
}

func (x *aboutOne) reset(id ID) {
	*x = aboutOne{id: id, declares: x.declares[:0], provides: x.provides[:0], facts: x.facts[:0]}
}

// errNotACapability is what makes a snapshot unreadable that holds a literal.
var errNotACapability = errors.New("what it declares or provides is not an IRI")

// take notes a statement. What the id tells needs no text.
func (l *loading) take(p ontology.IRI, o ID) {
	x := &l.at
	switch {
	case p == ontology.PropDeclares && o.kind() == kindIRI:
		x.declares = append(x.declares, l.numberOf(o))
	case p == ontology.PropProvides && o.kind() == kindIRI:
		x.provides = append(x.provides, l.numberOf(o))
	case p == ontology.PropProvides:
		l.whole = false
		x.fault = errNotACapability
	case p == ontology.PropDeclares:
		x.fault = errNotACapability
	case p == ontology.PropResidentBytes && o.kind() == kindInteger:
		x.sn.ResidentBytes = int64(o&idMask) - inlineBias
	case p == ontology.PropCreatedAt && o.kind() == kindDateTime:
		x.sn.CreatedAt = time.UnixMilli(int64(o&idMask) - inlineBias).UTC()
	default:
		x.facts = append(x.facts, fact{p, o})
	}
}

// numberOf returns a capability's number.
func (l *loading) numberOf(id ID) uint32 {
	num, ok := l.nums[id]
	if !ok {
		num = l.loader.nums.number(id)
		l.nums[id] = num
	}
	return num
}

// flush makes a node of the subject, if it is a snapshot. One that cannot be
// read, because somebody wrote into the graph by hand, is left out and logged.
func (l *loading) flush() error {
	x := &l.at
	if x.id == 0 {
		return nil
	}
	t, err := l.terms.term(x.id)
	if err != nil {
		return err
	}
	ok := false
	if t.Kind == ttl.IRI {
		x.sn.ID, ok = ontology.SnapshotOf(ontology.IRI(t.Value))
	}
	if ok && x.fault == nil {
		if err := l.absorbAll(); err != nil {
			return err
		}
	}
	if !ok || x.fault != nil {
		l.whole = l.whole && len(x.provides) == 0
		if x.fault != nil {
			l.r.s.log.Warn("a snapshot in the graph cannot be read and is left out", "snapshot", t.Value, "err", x.fault)
		}
		return nil
	}
	l.nodes = append(l.nodes, l.node())
	return nil
}

// absorbAll reads the texts of the subject's statements, in the order that the
// dictionary has them.
func (l *loading) absorbAll() error {
	x := &l.at
	stated := false
	slices.SortFunc(x.facts, func(a, b fact) int { return cmp.Compare(a.o, b.o) })
	for _, f := range x.facts {
		t, err := l.terms.term(f.o)
		if err != nil {
			return err
		}
		stated = stated || f.p == ontology.PropState
		if x.fault = x.sn.absorb(f.p, t); x.fault != nil {
			return nil
		}
	}
	x.fault = x.sn.complete(stated)
	return nil
}

// node makes the node, in two allocations.
func (l *loading) node() *node {
	x := &l.at
	held := append(append(make([]uint32, 0, len(x.declares)+len(x.provides)), x.declares...), x.provides...)
	key := shardKey{x.sn.Runtime, x.sn.Rung}
	kind, ok := l.kinds[key]
	if !ok {
		kind = &key
		l.kinds[key] = kind
	}
	x.sn.ID = ontology.SnapshotID(strings.Clone(string(x.sn.ID))) // and not all of the IRI
	n := newNode(&x.sn, x.id, held[:len(x.declares):len(x.declares)], held[len(x.declares):])
	n.shard = kind
	return n
}
