package sparql

import (
	"slices"

	"github.com/seed-ff860830/banyan/kg"
)

// forAll is a condition of the form "for every c of a list, ?s p c", which
// SPARQL can only say by a double negation:
//
//	FILTER NOT EXISTS { VALUES ?c { c1 c2 } FILTER NOT EXISTS { ?s :p ?c } }
//
// Where ?s is bound in every solution of the pattern that is filtered, it is
// the same as joining with { ?s :p c1 , c2 }:
//
//   - ?c stands nowhere else in the whole text, so no solution from outside
//     binds it, and VALUES yields each of its terms;
//   - for one ?s, the inner NOT EXISTS fails for every term if and only if
//     every triple is there;
//   - a triple without variables but ?s matches at most once, so that the join
//     neither repeats a solution nor binds anything.
//
// As a join it takes part in the order of the pattern and in its stars.
type forAll struct {
	slot  int // of ?s
	steps []*step
}

// maxForAll bounds the list; a longer one stays a filter, which stops at the
// first term that is missing.
const maxForAll = 256

// forAllOf recognises the form; nil if it is not one.
func (s *scope) forAllOf(e *expr) (*forAll, error) {
	if e.op != exNotExists || s.c.x.o.bottomUp {
		return nil, nil
	}
	list, inner := doubleNegation(e.plan)
	if inner == nil {
		return nil, nil
	}
	one, hub, ok := sameTriples(inner)
	if !ok || !s.onlyHere(one, 1+len(inner)) {
		return nil, nil
	}
	ids, ok, err := s.listed(list, one)
	if err != nil || !ok {
		return nil, err
	}
	s.c.x.o.seen.forAll()
	all := &forAll{slot: hub}
	for _, id := range ids {
		for _, st := range inner {
			all.steps = append(all.steps, &step{s: st.s, p: st.p, o: place{slot: -1, id: id}, graph: st.graph, count: -1})
		}
	}
	return all, nil
}

// doubleNegation returns the list of a double NOT EXISTS and the triples that
// are asked of each of its terms.
func doubleNegation(p plan) (list plan, inner []*step) {
	var fs []*filter
	switch p := p.(type) {
	case *planFilter:
		list, fs = p.in, p.filters
	case *planBGP:
		list, fs = &planBGP{varFacts: p.varFacts, steps: p.steps}, p.filters
	}
	if len(fs) != 1 || fs[0].expr.op != exNotExists {
		return nil, nil
	}
	bgp, ok := fs[0].expr.plan.(*planBGP)
	if !ok || len(bgp.filters) > 0 {
		return nil, nil
	}
	return list, bgp.steps
}

// sameTriples reports whether all patterns are "?s constant ?c" in one graph,
// and returns the slots of ?c and ?s.
func sameTriples(steps []*step) (one, hub int, ok bool) {
	for i, st := range steps {
		if st.path != nil || st.s.slot < 0 || st.p.slot >= 0 || st.o.slot < 0 || st.s.slot == st.o.slot {
			return 0, 0, false
		}
		if i > 0 && (st.s.slot != hub || st.o.slot != one || st.graph != steps[0].graph) {
			return 0, 0, false
		}
		one, hub = st.o.slot, st.s.slot
	}
	return one, hub, len(steps) > 0
}

// onlyHere reports whether a slot's variable is written in the whole text as
// often as in what was recognised, and so nowhere else.
func (s *scope) onlyHere(slot, times int) bool {
	for name, n := range s.slots {
		if n == slot {
			return s.c.uses[name] == times
		}
	}
	return false
}

// listed returns the terms that the list binds its one variable to: those of
// VALUES, or the objects of one triple pattern that has nothing else to match.
func (s *scope) listed(list plan, slot int) (ids []kg.ID, ok bool, err error) {
	switch p := list.(type) {
	case *planValues:
		if len(p.slots) != 1 || p.slots[0] != slot || len(p.rows) > maxForAll {
			return nil, false, nil
		}
		for _, row := range p.rows {
			if row[0] == 0 {
				return nil, false, nil // UNDEF: any term at all
			}
			ids = append(ids, row[0])
		}
	case *planBGP:
		if len(p.steps) != 1 {
			return nil, false, nil
		}
		st := p.steps[0]
		if st.path != nil || st.s.slot >= 0 || st.p.slot >= 0 || st.o.slot != slot || st.graph.kind == inSlot {
			return nil, false, nil
		}
		for q, err := range s.c.x.scan(st.graph, nil, st.s.id, st.p.id, 0) {
			if err != nil {
				return nil, false, err
			}
			if ids = append(ids, q.o); len(ids) > maxForAll {
				return nil, false, nil
			}
		}
	default:
		return nil, false, nil
	}
	slices.Sort(ids)
	return slices.Compact(ids), true, nil
}

// joinAll joins a pattern with triples about a variable that it always binds.
// They go next to the patterns that bind it, so that they are ordered with
// them.
func joinAll(p plan, all *forAll) plan {
	with := sealBGP(&planBGP{steps: all.steps})
	switch p := p.(type) {
	case *planJoin:
		for i, part := range p.parts {
			if bgp, ok := part.(*planBGP); ok && bgp.certain.has(all.slot) {
				parts := slices.Clone(p.parts)
				parts[i] = newJoin(part, with)
				facts := bothFacts(p, with)
				return &planJoin{varFacts: facts, parts: parts, filters: p.filters}
			}
		}
	case *planLeft:
		if p.left.facts().certain.has(all.slot) {
			return newLeft(joinAll(p.left, all), p.right, p.cond)
		}
	case *planMinus:
		return newMinus(joinAll(p.left, all), p.right, p.hidden)
	case *planExtend:
		if p.in.facts().certain.has(all.slot) {
			return newExtend(joinAll(p.in, all), p.slot, p.expr)
		}
	}
	return newJoin(p, with)
}
