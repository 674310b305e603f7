package sparql

import (
	"math"

	"github.com/seed-ff860830/banyan/kg"
)

// bgpOrder is an order of a pattern's steps, made for rows that have the same
// variables bound.
type bgpOrder struct {
	bound []bool
	steps []*step
	at    [][]*filter // the filters before the first step and behind each
}

// run matches the steps one inside the other, in an order chosen from counts.
func (p *planBGP) run(x *exec, row []kg.ID, emit func() error) error {
	order, err := p.orderFor(x, row)
	if err != nil {
		return err
	}
	if ok, err := x.holds(order.at[0], row); err != nil || !ok {
		return err
	}
	return order.from(x, 0, row, emit)
}

// from matches the steps from the i-th on.
func (o *bgpOrder) from(x *exec, i int, row []kg.ID, emit func() error) error {
	if i == len(o.steps) {
		return emit()
	}
	next := func() error {
		if ok, err := x.holds(o.at[i+1], row); err != nil || !ok {
			return err
		}
		return o.from(x, i+1, row, emit)
	}
	return o.steps[i].match(x, row, next)
}

// match binds a step's variables to each match in turn.
func (s *step) match(x *exec, row []kg.ID, next func() error) error {
	if s.star != nil {
		return x.matchStar(s, row, next)
	}
	if s.path != nil {
		return x.walkAll(s, row, func(from, to kg.ID) error {
			return s.bind(row, quad{s: from, o: to}, next)
		})
	}
	if t, key, err := x.hashed(s, row); err != nil {
		return err
	} else if t != nil {
		return t.each(x, s, key, row, next)
	}
	for q, err := range x.scan(s.graph, row, s.s.value(row), s.p.value(row), s.o.value(row)) {
		if err == nil {
			err = x.tick()
		}
		if err == nil {
			err = s.bind(row, q, next)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bind puts a match into the row, calls next, and takes it out again. A
// variable that stands in two places must match the same in both.
func (s *step) bind(row []kg.ID, q quad, next func() error) error {
	var set [4]int
	n := 0
	ok := true
	put := func(slot int, id kg.ID) {
		if slot < 0 || !ok || id == 0 {
			return
		}
		if row[slot] == 0 {
			row[slot] = id
			set[n] = slot
			n++
		} else if row[slot] != id {
			ok = false
		}
	}
	put(s.s.slot, q.s)
	put(s.p.slot, q.p)
	put(s.o.slot, q.o)
	if s.graph.kind == inSlot {
		put(s.graph.slot, q.g)
	}
	var err error
	if ok {
		err = next()
	}
	for _, slot := range set[:n] {
		row[slot] = 0
	}
	return err
}

// maxOrders bounds the orders that a pattern keeps; rows differ in what they
// have bound where an OPTIONAL or VALUES stands before it.
const maxOrders = 16

// orderFor returns the order for a row: it depends on which variables are
// bound.
func (p *planBGP) orderFor(x *exec, row []kg.ID) (*bgpOrder, error) {
	if p.vars == nil {
		p.vars = p.possible.list()
	}
	for _, o := range p.orders {
		if o.fits(p.vars, row) {
			return o, nil
		}
	}
	bound := make([]bool, len(p.vars))
	have := slotSet(nil)
	for i, slot := range p.vars {
		if row[slot] != 0 {
			bound[i] = true
			have = have.with(slot)
		}
	}
	o := &bgpOrder{bound: bound}
	rest := append([]*step(nil), p.steps...)
	if !x.o.bottomUp {
		rest = withStars(rest, have)
	}
	waiting := o.place(p.filters, have, len(rest) == 0)
	for len(rest) > 0 {
		best, err := x.cheapest(rest, have, len(o.steps) == 0)
		if err != nil {
			return nil, err
		}
		st := rest[best]
		rest = append(rest[:best], rest[best+1:]...)
		if st.star != nil && have.has(st.s.slot) {
			rest = append(st.star[:len(st.star):len(st.star)], rest...) // its subject is found already
			continue
		}
		o.steps = append(o.steps, st)
		have = have.with(st.slots()...)
		waiting = o.place(waiting, have, len(rest) == 0)
	}
	if len(p.orders) >= maxOrders {
		p.orders = nil
	}
	p.orders = append(p.orders, o)
	return o, nil
}

// fits reports whether a row has those variables bound that the order is for.
func (o *bgpOrder) fits(vars []int, row []kg.ID) bool {
	for i, slot := range vars {
		if o.bound[i] != (row[slot] != 0) {
			return false
		}
	}
	return true
}

// place puts the filters that can be decided behind the last step.
func (o *bgpOrder) place(fs []*filter, have slotSet, last bool) (waiting []*filter) {
	var now []*filter
	for _, f := range fs {
		if last || f.need.within(have) {
			now = append(now, f)
		} else {
			waiting = append(waiting, f)
		}
	}
	o.at = append(o.at, now)
	return waiting
}

// maxOrdered bounds the steps that are compared to choose the next; in a longer
// pattern the first ones left are.
const maxOrdered = 64

// cheapest returns the step that is reckoned to match least often.
func (x *exec) cheapest(rest []*step, have slotSet, first bool) (int, error) {
	best, least := 0, math.Inf(1)
	for i, st := range rest[:min(len(rest), maxOrdered)] {
		cost, err := x.estimate(st, have)
		if err != nil {
			return 0, err
		}
		if !first && !st.linked(have) {
			cost = cost*1000 + 1000 // a product with what is there already
		}
		if cost < least {
			best, least = i, cost
		}
	}
	return best, nil
}

// linked reports whether a step shares a variable with what is bound, or has
// none at all.
func (s *step) linked(have slotSet) bool {
	hasVar := s.graph.kind == inSlot
	if hasVar && have.has(s.graph.slot) {
		return true
	}
	for _, p := range [...]place{s.s, s.p, s.o} {
		if p.slot >= 0 {
			if have.has(p.slot) {
				return true
			}
			hasVar = true
		}
	}
	return !hasVar
}

// countLimit is how many rows are counted to estimate a pattern; one that has
// more is reckoned as many.
const countLimit = 1000

// estimate reckons how many matches a step has for one row in which have is
// bound: the rows that fit its constants are counted, and each bound variable
// is reckoned to thin them out.
func (x *exec) estimate(st *step, have slotSet) (float64, error) {
	boundS := st.s.slot < 0 || have.has(st.s.slot)
	boundO := st.o.slot < 0 || have.has(st.o.slot)
	if st.star != nil {
		return x.starCost(st, have)
	}
	if st.path != nil {
		switch {
		case boundS && boundO:
			return 20, nil
		case boundS || boundO:
			return 200, nil
		}
		return 1e9, nil
	}
	n, err := x.reckoned(st)
	if err != nil {
		return 0, err
	}
	varS, varP, varO := boundS && st.s.slot >= 0, st.p.slot >= 0 && have.has(st.p.slot), boundO && st.o.slot >= 0
	if varP {
		n = math.Min(n, n/4+1)
	}
	switch {
	case varS && varO, varS && boundO, varO && boundS:
		return math.Min(n, 1), nil
	case varS:
		return math.Min(n, math.Max(2, math.Pow(n, 0.2))), nil
	case varO:
		return math.Min(n, math.Max(2, math.Pow(n, 0.4))), nil
	}
	return n, nil
}

// reckoned returns how many rows fit a step's constants: exactly if they are
// few or the store keeps the count, else a guess.
func (x *exec) reckoned(st *step) (float64, error) {
	if st.count < 0 {
		n, err := x.constants(st)
		if err != nil {
			return 0, err
		}
		st.count = n
	}
	n := float64(st.count)
	if st.count < countLimit || st.onlyPredicate() {
		return n, nil
	}
	many := float64(x.sc.Triples()) / 10
	if p := st.p.fixed(); p != 0 {
		kept, err := x.sc.PredicateCount(p)
		if err != nil {
			return 0, err
		}
		many = math.Min(many, float64(kept)) // no more than the predicate has
	}
	n = math.Max(n, many)
	if st.s.slot >= 0 && st.p.slot >= 0 && st.o.slot >= 0 {
		n *= 10
	}
	return n, nil
}

// onlyPredicate reports whether the predicate is the step's one constant: how
// many rows it has is kept in the store.
func (s *step) onlyPredicate() bool {
	return s.p.fixed() != 0 && s.s.fixed() == 0 && s.o.fixed() == 0
}

// constants counts the rows that fit a step's constants, up to countLimit; of
// a predicate alone it asks for the count that the store keeps, over all
// graphs. A query asks the same of many steps, so counts are kept.
func (x *exec) constants(st *step) (int, error) {
	at := st.graph
	if at.kind == inSlot {
		at = graphRef{kind: inDefault} // any graph will do for an estimate
	}
	key := countKey{at, quad{s: st.s.fixed(), p: st.p.fixed(), o: st.o.fixed()}}
	if n, ok := x.counts[key]; ok {
		return n, nil
	}
	if st.onlyPredicate() {
		kept, err := x.sc.PredicateCount(key.p)
		return int(kept), err
	}
	n := 0
	for _, err := range x.scan(at, nil, key.s, key.p, key.o) {
		if err != nil {
			return 0, err
		}
		if n++; n >= countLimit {
			break
		}
	}
	if x.counts == nil {
		x.counts = map[countKey]int{}
	}
	x.counts[key] = n
	return n, x.spend(1 + n/4)
}

// countKey is what a count is of; the quad's zeros are wildcards.
type countKey struct {
	at graphRef
	quad
}
