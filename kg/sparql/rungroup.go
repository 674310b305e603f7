package sparql

import (
	"strings"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ttl"
)

// solutionGroup is one group: its key's values and its aggregates so far.
type solutionGroup struct {
	key  []kg.ID
	accs []accumulator
}

// grouping gathers the groups of one run.
type grouping struct {
	p     *planGroup
	x     *exec
	by    map[string]*solutionGroup
	order []*solutionGroup
	held  int
	vals  []kg.ID // the key of the solution in hand
	slots []int   // 0, 1, …: where its values stand
	text  []byte
}

// run gathers the groups, then emits one row for each. Without GROUP BY there
// is one group, even of no solution.
func (p *planGroup) run(x *exec, row []kg.ID, emit func() error) error {
	g := &grouping{p: p, x: x, by: map[string]*solutionGroup{}, vals: make([]kg.ID, len(p.keys))}
	for i := range p.keys {
		g.slots = append(g.slots, i)
	}
	if len(p.keys) == 0 {
		if _, err := g.group(); err != nil {
			return err
		}
	}
	if err := p.in.run(x, row, func() error { return g.add(row) }); err != nil {
		return err
	}
	for _, one := range g.order {
		if err := p.emitGroup(x, one, row, emit); err != nil {
			return err
		}
	}
	x.release(g.held)
	return nil
}

// add puts a solution into its group.
func (g *grouping) add(row []kg.ID) error {
	if err := g.p.keyOf(g.x, row, g.vals); err != nil {
		return err
	}
	one, err := g.group()
	if err != nil {
		return err
	}
	for _, acc := range one.accs {
		if err := acc.add(g.x, row); err != nil {
			return err
		}
	}
	return nil
}

// group returns the group of the key in hand, a new one if there is none.
func (g *grouping) group() (*solutionGroup, error) {
	g.text = appendKey(g.text[:0], g.vals, g.slots)
	if one, ok := g.by[string(g.text)]; ok {
		return one, nil
	}
	one := &solutionGroup{key: append([]kg.ID(nil), g.vals...)}
	for _, a := range g.p.aggs {
		one.accs = append(one.accs, newAccumulator(a.expr))
	}
	g.by[string(g.text)] = one
	g.order = append(g.order, one)
	n := 128 + 8*len(one.key) + 128*len(g.p.aggs)
	g.held += n
	return one, g.x.charge(n)
}

// keyOf evaluates the keys; one that fails is unbound.
func (p *planGroup) keyOf(x *exec, row, vals []kg.ID) error {
	for i, k := range p.keys {
		if k.expr == nil {
			vals[i] = row[k.slot]
			continue
		}
		vals[i] = 0
		t, err := x.eval(k.expr, row)
		if err == nil {
			vals[i], err = x.terms.id(t)
		}
		if err != nil && err != errEval {
			return err
		}
	}
	return nil
}

// emitGroup emits a group's row; an aggregate that fails is unbound.
func (p *planGroup) emitGroup(x *exec, g *solutionGroup, row []kg.ID, emit func() error) error {
	if err := x.tick(); err != nil {
		return err
	}
	var slots []int
	for _, k := range p.keys {
		slots = append(slots, k.slot)
	}
	vals := append([]kg.ID(nil), g.key...)
	for i, a := range p.aggs {
		t, err := g.accs[i].result()
		if err == errEval {
			continue
		}
		if err != nil {
			return err
		}
		id, err := x.terms.id(t)
		if err != nil {
			return err
		}
		slots, vals = append(slots, a.slot), append(vals, id)
	}
	return merge(row, slots, vals, emit)
}

// accumulator takes in a group's solutions for one aggregate.
type accumulator interface {
	add(x *exec, row []kg.ID) error
	result() (ttl.Term, error)
}

// newAccumulator makes the accumulator of an aggregate (section 18.5.1).
func newAccumulator(e *expr) accumulator {
	if e.star {
		c := &countRows{}
		if e.distinct {
			c.seen = map[string]struct{}{}
		}
		return c
	}
	v := &valueSet{e: e}
	if e.distinct {
		v.seen = map[ttl.Term]struct{}{}
	}
	switch e.name {
	case "COUNT":
		v.fold = &countFold{}
	case "SUM":
		v.fold, v.strict = &sumFold{sum: intNumber(0)}, true
	case "AVG":
		v.fold, v.strict = &avgFold{sumFold: sumFold{sum: intNumber(0)}}, true
	case "MIN":
		v.fold, v.strict = &extremeFold{sign: -1}, true
	case "MAX":
		v.fold, v.strict = &extremeFold{sign: 1}, true
	case "SAMPLE":
		v.fold = &extremeFold{}
	default:
		v.fold, v.strict = &concatFold{sep: e.sep}, true
	}
	return v
}

// countRows is COUNT(*).
type countRows struct {
	n    int64
	seen map[string]struct{}
}

func (c *countRows) add(x *exec, row []kg.ID) error {
	if c.seen != nil {
		key := make([]int, len(row))
		for i := range key {
			key[i] = i
		}
		text := string(appendKey(nil, row, key))
		if _, ok := c.seen[text]; ok {
			return nil
		}
		c.seen[text] = struct{}{}
		if err := x.charge(len(text) + 32); err != nil {
			return err
		}
	}
	c.n++
	return nil
}

func (c *countRows) result() (ttl.Term, error) { return intNumber(c.n).term(), nil }

// fold is what an aggregate does with one value after another.
type fold interface {
	add(x *exec, t ttl.Term) error
	result() (ttl.Term, error)
}

// valueSet evaluates the argument, and leaves out what was there before if the
// aggregate is DISTINCT. In a strict one an error of the argument is an error
// of the whole; the others pass it over.
type valueSet struct {
	e      *expr
	fold   fold
	strict bool
	failed bool
	seen   map[ttl.Term]struct{}
}

func (v *valueSet) add(x *exec, row []kg.ID) error {
	if v.failed {
		return nil
	}
	t, err := x.eval(v.e.args[0], row)
	if err == nil && v.seen != nil {
		if _, ok := v.seen[t]; ok {
			return nil
		}
		v.seen[t] = struct{}{}
		err = x.charge(96 + len(t.Value))
	}
	if err == nil {
		err = v.fold.add(x, t)
	}
	if err == errEval {
		v.failed = v.strict
		return nil
	}
	return err
}

func (v *valueSet) result() (ttl.Term, error) {
	if v.failed {
		return ttl.Term{}, errEval
	}
	return v.fold.result()
}

type countFold struct{ n int64 }

func (c *countFold) add(*exec, ttl.Term) error { c.n++; return nil }
func (c *countFold) result() (ttl.Term, error) { return intNumber(c.n).term(), nil }

type sumFold struct{ sum number }

func (s *sumFold) add(_ *exec, t ttl.Term) error {
	n, ok := numberOf(t)
	if !ok {
		return errEval
	}
	sum, err := arith("+", s.sum, n)
	s.sum = sum
	return err
}

func (s *sumFold) result() (ttl.Term, error) { return s.sum.term(), nil }

type avgFold struct {
	sumFold
	n int64
}

func (a *avgFold) add(x *exec, t ttl.Term) error { a.n++; return a.sumFold.add(x, t) }

func (a *avgFold) result() (ttl.Term, error) {
	if a.n == 0 {
		return intNumber(0).term(), nil
	}
	q, err := arith("/", a.sum, intNumber(a.n))
	return q.term(), err
}

// extremeFold keeps the least, the greatest, or with sign 0 the first value.
type extremeFold struct {
	sign int
	best ttl.Term
}

func (f *extremeFold) add(_ *exec, t ttl.Term) error {
	if f.best.IsZero() || f.sign != 0 && orderTerms(t, f.best)*f.sign > 0 {
		f.best = t
	}
	return nil
}

func (f *extremeFold) result() (ttl.Term, error) {
	if f.best.IsZero() {
		return ttl.Term{}, errEval
	}
	return f.best, nil
}

type concatFold struct {
	sep  string
	n    int
	text strings.Builder
}

func (c *concatFold) add(x *exec, t ttl.Term) error {
	s, err := strOf(t)
	if err != nil {
		return err
	}
	if c.n++; c.n > 1 {
		c.text.WriteString(c.sep)
	}
	c.text.WriteString(s)
	return x.charge(len(s) + len(c.sep))
}

func (c *concatFold) result() (ttl.Term, error) { return ttl.NewString(c.text.String()), nil }
