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
		return &planBGP{varFacts: bothFacts(a, b), steps: joined(x.steps, y.steps), filters: joined(x.filters, y.filters)}
	}
	j := &planJoin{varFacts: bothFacts(a, b)}
	for _, p := range [...]plan{a, b} {
		if inner, ok := p.(*planJoin); ok && len(inner.filters) == 0 {
			j.parts = append(j.parts, inner.parts...)
		} else {
			j.parts = append(j.parts, p)
		}
	}
	return j.valuesFirst()
}

// joined appends to a list that another plan may hold as well.
func joined[T any](a, b []T) []T { return append(a[:len(a):len(a)], b...) }

// bothFacts are what is known of the variables of two plans joined. They are
// made from the plans' own, not from their parts: a long group is joined part
// by part.
func bothFacts(a, b plan) *varFacts {
	x, y := a.facts(), b.facts()
	return &varFacts{
		certain: x.certain.union(y.certain), possible: x.possible.union(y.possible),
		mentions: x.mentions.union(y.mentions), pipes: x.pipes && y.pipes,
	}
}

// mentioning are a plan's facts when a filter stands over it as well.
func mentioning(p plan, f *filter) *varFacts {
	facts := *p.facts()
	facts.mentions = facts.mentions.union(f.slots)
	return &facts
}

func isUnit(p plan) bool {
	b, ok := p.(*planBGP)
	return ok && len(b.steps) == 0 && len(b.filters) == 0
}

// valuesFirst puts inline data first: it is small and binds what others look
// for.
func (p *planJoin) valuesFirst() *planJoin {
	var parts, rest []plan
	for _, part := range p.parts {
		if _, ok := part.(*planValues); ok {
			parts = append(parts, part)
		} else {
			rest = append(rest, part)
		}
	}
	p.parts = append(parts, rest...)
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
		// Nor may the right side: a variable that only the row binds would be
		// one that it shares with every left solution.
		seen := p.right.facts().mentions.common(left)
		return canPipe(p.left, left) && (seen.empty() ||
			seen.within(p.left.facts().certain) && !slotsOf(p.on...).without(p.hidden).empty() && canPipe(p.right, left))
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
	var inside, over, rest []*filter
	for _, f := range fs {
		f = &filter{expr: f.expr, slots: f.slots, need: f.slots.common(p.facts().possible), all: f.all}
		if sinks(p, f) {
			inside = append(inside, f)
		} else {
			over = append(over, f)
		}
	}
	p = sink(p, inside)
	for _, f := range over {
		if f.all != nil && p.facts().certain.has(f.all.slot) {
			p = joinAll(p, f.all)
		} else if !push(&p, f) {
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

// sinks reports whether a filter goes into an operator's left or only side: it
// does if every variable that it looks at is bound there in every solution, so
// that its answer is the same there.
func sinks(p plan, f *filter) bool {
	switch p := p.(type) {
	case *planLeft:
		return f.need.within(p.left.facts().certain)
	case *planMinus:
		return f.need.within(p.left.facts().certain)
	case *planExtend:
		return f.need.within(p.in.facts().certain) && !f.slots.has(p.slot)
	}
	return false
}

// sink puts filters into an operator's left or only side, all at once.
func sink(p plan, fs []*filter) plan {
	if len(fs) == 0 {
		return p
	}
	switch p := p.(type) {
	case *planLeft:
		return newLeft(filtered(p.left, fs), p.right, p.cond)
	case *planMinus:
		return newMinus(filtered(p.left, fs), p.right, p.hidden)
	case *planExtend:
		return newExtend(filtered(p.in, fs), p.slot, p.expr)
	}
	return p
}

// push puts a filter among those of a pattern, under the condition of sinks.
func push(to *plan, f *filter) bool {
	if !f.need.within((*to).facts().certain) {
		return false
	}
	switch p := (*to).(type) {
	case *planBGP:
		*to = &planBGP{varFacts: mentioning(p, f), steps: p.steps, filters: joined(p.filters, []*filter{f})}
	case *planJoin:
		*to = &planJoin{varFacts: mentioning(p, f), parts: p.parts, filters: joined(p.filters, []*filter{f})}
	default:
		return false
	}
	return true
}
