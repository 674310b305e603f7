package sparql

import (
	"errors"

	"github.com/seed-ff860830/banyan/kg"
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
		if err != nil && !errors.Is(err, errEval) {
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
		if errors.Is(err, errEval) {
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
