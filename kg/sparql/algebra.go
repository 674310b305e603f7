package sparql

// newJoin joins two patterns. Basic graph patterns become one, so that all
// their steps are put in order together, unless a filter of the one must not
// see a variable that only the other binds; joins become flat.
func newJoin(a, b plan) plan {
	if isUnit(a) {
		return b
	}
	if isUnit(b) {
		return a
	}
	x, ok := a.(*planBGP)
	y, also := b.(*planBGP)
	if ok && also && filtersAgree(x.filters, x.certain, y.possible) && filtersAgree(y.filters, y.certain, x.possible) {
		return sealBGP(&planBGP{steps: append(x.steps[:len(x.steps):len(x.steps)], y.steps...), filters: append(x.filters[:len(x.filters):len(x.filters)], y.filters...)})
	}
	j := &planJoin{}
	for _, p := range [...]plan{a, b} {
		if inner, ok := p.(*planJoin); ok && len(inner.filters) == 0 {
			j.parts = append(j.parts, inner.parts...)
		} else {
			j.parts = append(j.parts, p)
		}
	}
	return j.seal()
}

func isUnit(p plan) bool {
	b, ok := p.(*planBGP)
	return ok && len(b.steps) == 0 && len(b.filters) == 0
}

// seal notes the join's variables. Inline data goes first: it is small and
// binds what others look for.
func (p *planJoin) seal() *planJoin {
	var parts, rest []plan
	for _, part := range p.parts {
		if _, ok := part.(*planValues); ok {
			parts = append(parts, part)
		} else {
			rest = append(rest, part)
		}
	}
	p.parts = append(parts, rest...)
	f := &varFacts{pipes: true}
	for _, part := range p.parts {
		pf := part.facts()
		f.certain = f.certain.union(pf.certain)
		f.possible = f.possible.union(pf.possible)
		f.mentions = f.mentions.union(pf.mentions)
		f.pipes = f.pipes && pf.pipes
	}
	for _, c := range p.filters {
		f.mentions = f.mentions.union(c.slots)
	}
	p.varFacts = f
	return p
}

// ready chooses how each part is joined and where each filter applies. It is
// called once, before the join runs.
func (p *planJoin) ready() {
	if p.modes != nil {
		return
	}
	var certain, possible slotSet
	waiting := p.filters
	for i, part := range p.parts {
		f := part.facts()
		shared := f.mentions.common(possible)
		pipe := i == 0 || canPipe(part, possible) && (!shared.empty() || possible.empty())
		p.modes = append(p.modes, joinMode{pipe: pipe, on: f.certain.common(certain).list()})
		certain = certain.union(f.certain)
		possible = possible.union(f.possible)
		var now, later []*filter
		for _, c := range waiting {
			if c.need.within(certain) || i == len(p.parts)-1 {
				now = append(now, c)
			} else {
				later = append(later, c)
			}
		}
		p.at, waiting = append(p.at, now), later
	}
}

func newUnion(parts []plan) plan {
	if len(parts) == 1 {
		return parts[0]
	}
	f := &varFacts{pipes: true, certain: parts[0].facts().certain}
	for _, p := range parts {
		pf := p.facts()
		f.certain = f.certain.common(pf.certain)
		f.possible = f.possible.union(pf.possible)
		f.mentions = f.mentions.union(pf.mentions)
		f.pipes = f.pipes && pf.pipes
	}
	return &planUnion{varFacts: f, parts: parts}
}

func newLeft(left, right plan, cond []*filter) plan {
	l, r := left.facts(), right.facts()
	f := &varFacts{certain: l.certain, possible: l.possible.union(r.possible), mentions: l.mentions.union(r.mentions)}
	for _, c := range cond {
		f.mentions = f.mentions.union(c.slots)
	}
	return &planLeft{
		varFacts: f, left: left, right: right, cond: cond,
		pipe: canPipe(right, l.possible), on: l.certain.common(r.certain).list(),
	}
}

// newMinus takes right from left. hidden are the slots that hold the active
// graph's name, which are no variables and so nothing that two solutions share.
func newMinus(left, right plan, hidden slotSet) plan {
	l, r := left.facts(), right.facts()
	f := &varFacts{certain: l.certain, possible: l.possible, mentions: l.mentions.union(r.mentions)}
	on := l.certain.common(r.certain)
	shared := l.possible.common(r.possible).without(hidden)
	if shared.empty() {
		return left // nothing in common: nothing is taken away
	}
	return &planMinus{
		varFacts: f, left: left, right: right, hidden: hidden,
		pipe: !on.without(hidden).empty() && canPipe(right, l.possible), on: on.list(), shared: shared.list(),
	}
}

func newExtend(in plan, slot int, e *expr) plan {
	f := in.facts()
	return &planExtend{
		varFacts: &varFacts{
			certain: f.certain, possible: f.possible.with(slot),
			mentions: f.mentions.union(e.mentions()).with(slot),
		},
		in: in, slot: slot, expr: e,
	}
}

func newGraph(in plan, active, slot int) plan {
	f := in.facts()
	bgp, direct := in.(*planBGP)
	if direct {
		// Each step binds the graph's name, so that the steps alone find it.
		direct = len(bgp.steps) > 0
		at := graphRef{kind: inSlot, slot: active}
		for _, st := range bgp.steps {
			direct = direct && st.path == nil && st.graph == at
		}
	}
	return &planGraph{
		varFacts: &varFacts{
			certain: f.certain.with(slot), possible: f.possible.with(slot),
			mentions: f.mentions.with(slot), pipes: f.pipes,
		},
		in: in, active: active, slot: slot, direct: direct,
	}
}

// canPipe reports whether running p with a row, whose bound variables are all
// in left, gives what joining p's own solutions with the row gives. What is
// evaluated on its own by the specification (a subquery, the left side of an
// OPTIONAL inside) must not see a variable that only the row binds.
func canPipe(p plan, left slotSet) bool {
	f := p.facts()
	if f.mentions.common(left).empty() {
		return f.pipes
	}
	switch p := p.(type) {
	case *planBGP:
		return filtersAgree(p.filters, f.certain, left)
	case *planValues, *planNone:
		return true
	case *planJoin:
		return allPipe(p.parts, left) && filtersAgree(p.filters, f.certain, left)
	case *planUnion:
		return allPipe(p.parts, left)
	case *planGraph:
		return canPipe(p.in, left)
	case *planFilter:
		return canPipe(p.in, left) && filtersAgree(p.filters, p.in.facts().certain, left)
	case *planExtend:
		inner := p.in.facts().certain
		return canPipe(p.in, left) && !left.has(p.slot) && p.expr.mentions().common(left).within(inner)
	case *planLeft:
		inner := p.left.facts().certain
		return canPipe(p.left, left) && canPipe(p.right, left) && p.right.facts().mentions.common(left).within(inner) &&
			filtersAgree(p.cond, inner, left)
	case *planMinus:
		return canPipe(p.left, left) && p.right.facts().mentions.common(left).within(p.left.facts().certain)
	}
	return false
}

func allPipe(parts []plan, left slotSet) bool {
	for _, p := range parts {
		if !canPipe(p, left) {
			return false
		}
	}
	return true
}

// filtersAgree reports whether filters see the same in a row as in the
// operator's own solutions.
func filtersAgree(fs []*filter, certain, left slotSet) bool {
	for _, f := range fs {
		if !f.slots.common(left).within(certain) {
			return false
		}
	}
	return true
}

// filtered puts filters over a pattern, as deep as their variables let them.
func filtered(p plan, fs []*filter) plan {
	var rest []*filter
	for _, f := range fs {
		f = &filter{expr: f.expr, slots: f.slots, need: f.slots.common(p.facts().possible), all: f.all}
		if f.all != nil && p.facts().certain.has(f.all.slot) {
			p = joinAll(p, f.all)
			continue
		}
		if q, ok := push(p, f); ok {
			p = q
		} else {
			rest = append(rest, f)
		}
	}
	if len(rest) == 0 {
		return p
	}
	f := *p.facts()
	for _, r := range rest {
		f.mentions = f.mentions.union(r.slots)
	}
	f.pipes = false
	return &planFilter{varFacts: &f, in: p, filters: rest}
}

// push moves a filter into an operator if every variable that it looks at is
// bound there in every solution, so that its answer is the same there.
func push(p plan, f *filter) (plan, bool) {
	if !f.need.within(p.facts().certain) {
		return p, false
	}
	switch p := p.(type) {
	case *planBGP:
		return sealBGP(&planBGP{steps: p.steps, filters: append(p.filters[:len(p.filters):len(p.filters)], f)}), true
	case *planJoin:
		return (&planJoin{parts: p.parts, filters: append(p.filters[:len(p.filters):len(p.filters)], f)}).seal(), true
	case *planLeft:
		return newLeft(filtered(p.left, []*filter{f}), p.right, p.cond), true
	case *planMinus:
		return newMinus(filtered(p.left, []*filter{f}), p.right, p.hidden), true
	case *planExtend:
		if !f.slots.has(p.slot) {
			return newExtend(filtered(p.in, []*filter{f}), p.slot, p.expr), true
		}
	}
	return p, false
}
