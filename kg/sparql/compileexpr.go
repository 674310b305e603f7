package sparql

import (
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ttl"
)

// filter translates a condition.
func (s *scope) filter(e *expr, at graphRef) (*filter, error) {
	c, err := s.expr(e, at)
	if err != nil {
		return nil, err
	}
	all, err := s.forAllOf(c)
	m := c.mentions()
	return &filter{expr: c, slots: m, need: m, all: all}, err
}

// expr returns the expression with slots for its variables and a plan for each
// EXISTS.
func (s *scope) expr(e *expr, at graphRef) (*expr, error) {
	out := *e
	var err error
	switch e.op {
	case exVar:
		out.slot, err = s.slot(e.name)
		return &out, err
	case exExists, exNotExists:
		out.plan, err = s.group(e.group, at)
		return &out, err
	case exAggregate:
		return nil, errs.New(errs.Invalid, "an aggregate stands where there are no groups")
	case exCall:
		out.fn = builtins[e.name].fn
	case exCast:
		if out.fn = castOf(e.name); out.fn == nil {
			out.fn = unknownFunction
		}
	}
	out.args = make([]*expr, len(e.args))
	for i, a := range e.args {
		if out.args[i], err = s.expr(a, at); err != nil {
			return nil, err
		}
	}
	if e.op == exIn || e.op == exNotIn {
		out.ids, err = s.idsOf(out.args)
	}
	return &out, err
}

// idsOf returns the ids that IN compares a variable with, nil if its list
// holds more than IRIs: an IRI equals nothing but itself, and comparing with
// it never fails.
func (s *scope) idsOf(args []*expr) (map[kg.ID]bool, error) {
	if args[0].op != exVar {
		return nil, nil
	}
	ids := make(map[kg.ID]bool, len(args)-1)
	for _, a := range args[1:] {
		if a.op != exConst || a.term.Kind != ttl.IRI {
			return nil, nil
		}
		id, err := s.c.x.terms.id(a.term)
		if err != nil {
			return nil, err
		}
		ids[id] = true
	}
	return ids, nil
}

// mentions returns the slots that an expression looks at.
func (e *expr) mentions() slotSet {
	switch e.op {
	case exVar:
		return slotsOf(e.slot)
	case exExists, exNotExists:
		return e.plan.facts().mentions
	}
	var all slotSet
	for _, a := range e.args {
		all = all.union(a.mentions())
	}
	return all
}
