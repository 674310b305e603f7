package sparql

import (
	"strconv"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
)

// maxSlots bounds the variables of one query, those of blank nodes and paths
// included: a row has a place for each.
const maxSlots = 2000

// scope maps the names of variables to slots. A subquery has a scope of its
// own, which shares the slots of the variables that it projects.
type scope struct {
	c     *compiler
	slots map[string]int
}

// compiler turns the syntax tree into operators, as section 18.2 of the
// specification says.
type compiler struct {
	x      *exec
	names  int
	hidden slotSet        // slots of active graphs
	uses   map[string]int // how often the text writes each variable
}

func (c *compiler) scope() *scope { return &scope{c: c, slots: map[string]int{}} }

// fresh takes a new slot.
func (c *compiler) fresh() (int, error) {
	if c.x.width >= maxSlots {
		return 0, errs.New(errs.TooLarge, "the query has more than the limit of %d variables", maxSlots)
	}
	c.x.width++
	return c.x.width - 1, nil
}

// slot returns the slot of a variable.
func (s *scope) slot(name string) (int, error) {
	if n, ok := s.slots[name]; ok {
		return n, nil
	}
	n, err := s.c.fresh()
	if err != nil {
		return 0, err
	}
	s.slots[name] = n
	return n, nil
}

// place resolves a term of a pattern.
func (s *scope) place(n node) (place, error) {
	if n.isVar() {
		slot, err := s.slot(n.name)
		return place{slot: slot}, err
	}
	id, err := s.c.x.terms.id(n.term)
	return place{slot: -1, id: id}, err
}

// freshPlace is a variable that no one can name.
func (s *scope) freshPlace() (place, error) {
	s.c.names++
	slot, err := s.slot(blankMark + "/" + strconv.Itoa(s.c.names))
	return place{slot: slot}, err
}

// unit is the pattern without a condition: one empty solution.
func unit() plan { return &planBGP{varFacts: &varFacts{pipes: true}} }

// group translates a group graph pattern: its elements in order, its filters
// last (section 18.2.2).
func (s *scope) group(g *group, at graphRef) (plan, error) {
	p := unit()
	var conds []*filter
	for i := range g.elems {
		if err := ended(s.c.x.ctx); err != nil {
			return nil, err
		}
		e := &g.elems[i]
		if e.kind == elemFilter {
			f, err := s.filter(e.expr, at)
			if err != nil {
				return nil, err
			}
			conds = append(conds, f)
			continue
		}
		next, err := s.element(p, e, at)
		if err != nil {
			return nil, err
		}
		p = next
	}
	return filtered(p, conds), nil
}

// element joins one element of a group to what stands before it.
func (s *scope) element(p plan, e *elem, at graphRef) (plan, error) {
	switch e.kind {
	case elemOptional:
		return s.optional(p, e.groups[0], at)
	case elemMinus:
		right, err := s.group(e.groups[0], at)
		if err != nil {
			return nil, err
		}
		return newMinus(p, right, s.c.hidden), nil
	case elemBind:
		slot, err := s.slot(e.name)
		if err != nil {
			return nil, err
		}
		ex, err := s.expr(e.expr, at)
		if err != nil {
			return nil, err
		}
		return newExtend(p, slot, ex), nil
	}
	right, err := s.operand(e, at)
	if err != nil {
		return nil, err
	}
	return newJoin(p, right), nil
}

// operand translates an element that is joined as it stands.
func (s *scope) operand(e *elem, at graphRef) (plan, error) {
	switch e.kind {
	case elemTriples:
		return s.bgp(e.triples, at)
	case elemUnion:
		var parts []plan
		for _, g := range e.groups {
			p, err := s.group(g, at)
			if err != nil {
				return nil, err
			}
			parts = append(parts, p)
		}
		return newUnion(parts), nil
	case elemGraph:
		return s.graph(e)
	case elemValues:
		return s.values(e.values)
	case elemSelect:
		return s.subselect(e.sub, at)
	case elemService:
		return nil, errService()
	}
	return nil, errs.New(errs.Internal, "an element of a group has no translation")
}

// optional translates OPTIONAL: a filter of the group itself is the condition
// of the left join.
func (s *scope) optional(left plan, g *group, at graphRef) (plan, error) {
	rest := &group{}
	var conds []*filter
	for _, e := range g.elems {
		if e.kind != elemFilter {
			rest.elems = append(rest.elems, e)
			continue
		}
		f, err := s.filter(e.expr, at)
		if err != nil {
			return nil, err
		}
		conds = append(conds, f)
	}
	right, err := s.group(rest, at)
	if err != nil {
		return nil, err
	}
	return newLeft(left, right, conds), nil
}

// graph translates GRAPH.
func (s *scope) graph(e *elem) (plan, error) {
	if !e.graph.isVar() {
		id, err := s.c.x.terms.id(e.graph.term)
		if err != nil {
			return nil, err
		}
		if !s.c.x.ds.isNamed(id) {
			if _, err := s.group(e.groups[0], graphRef{kind: inNamed, name: id}); err != nil {
				return nil, err
			}
			return &planNone{varFacts: &varFacts{pipes: true}}, nil
		}
		return s.group(e.groups[0], graphRef{kind: inNamed, name: id})
	}
	slot, err := s.slot(e.graph.name)
	if err != nil {
		return nil, err
	}
	active, err := s.c.fresh()
	if err != nil {
		return nil, err
	}
	s.c.hidden = s.c.hidden.with(active)
	in, err := s.group(e.groups[0], graphRef{kind: inSlot, slot: active})
	if err != nil {
		return nil, err
	}
	return newGraph(in, active, slot), nil
}

// values translates inline data.
func (s *scope) values(v *values) (plan, error) {
	p := &planValues{}
	var all slotSet
	for _, name := range v.vars {
		slot, err := s.slot(name)
		if err != nil {
			return nil, err
		}
		p.slots = append(p.slots, slot)
		all = all.with(slot)
	}
	certain := all
	for _, terms := range v.rows {
		if err := s.c.x.tick(); err != nil {
			return nil, err
		}
		row := make([]kg.ID, len(terms))
		var bound slotSet
		for i, t := range terms {
			if t.IsZero() {
				continue
			}
			id, err := s.c.x.terms.id(t)
			if err != nil {
				return nil, err
			}
			row[i] = id
			bound = bound.with(p.slots[i])
		}
		certain = certain.common(bound)
		p.rows = append(p.rows, row)
	}
	p.varFacts = &varFacts{certain: certain, possible: all, mentions: all, pipes: true}
	return p, s.c.x.charge(len(p.rows) * (24 + 8*len(p.slots)))
}

// bgp translates triple patterns and paths.
func (s *scope) bgp(pats []triplePat, at graphRef) (plan, error) {
	p := &planBGP{}
	for _, t := range pats {
		sub, err := s.place(t.s)
		if err != nil {
			return nil, err
		}
		obj, err := s.place(t.o)
		if err != nil {
			return nil, err
		}
		if t.path != nil {
			if err := s.path(p, sub, t.path, obj, at); err != nil {
				return nil, err
			}
			continue
		}
		pred, err := s.place(t.p)
		if err != nil {
			return nil, err
		}
		p.steps = append(p.steps, &step{s: sub, p: pred, o: obj, graph: at, count: -1})
	}
	return sealBGP(p), nil
}

// sealBGP notes the variables of a basic graph pattern.
func sealBGP(p *planBGP) *planBGP {
	var all slotSet
	for _, st := range p.steps {
		all = all.with(st.slots()...)
	}
	mentions := all
	for _, f := range p.filters {
		mentions = mentions.union(f.slots)
	}
	p.varFacts = &varFacts{certain: all, possible: all, mentions: mentions, pipes: true}
	return p
}
