package sparql

import "github.com/seed-ff860830/banyan/internal/errs"

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
	return &out, nil
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
