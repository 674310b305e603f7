package sparql

import (
	"errors"

	"github.com/seed-ff860830/banyan/kg"
)

// run joins the parts one after the other. A part is run with each row so far,
// or, where it must be evaluated on its own, gathered once in a table that is
// looked into.
func (p *planJoin) run(x *exec, row []kg.ID, emit func() error) error {
	p.ready()
	var base []kg.ID
	for i, m := range p.modes {
		if i > 0 && (!m.pipe || x.o.bottomUp) {
			base = append(base, row...)
			break
		}
	}
	return p.from(x, 0, base, row, emit)
}

func (p *planJoin) from(x *exec, i int, base, row []kg.ID, emit func() error) error {
	if i == len(p.parts) {
		return emit()
	}
	next := func() error {
		if ok, err := x.holds(p.at[i], row); err != nil || !ok {
			return err
		}
		return p.from(x, i+1, base, row, emit)
	}
	if i == 0 || p.modes[i].pipe && !x.o.bottomUp {
		return p.parts[i].run(x, row, next)
	}
	t, err := x.table(p.parts[i], p.modes[i].on, base)
	if err != nil {
		return err
	}
	return t.join(x, row, next)
}

// run emits each left row with what the right adds to it, or alone if that is
// nothing.
func (p *planLeft) run(x *exec, row []kg.ID, emit func() error) error {
	var base []kg.ID
	pipe := p.pipe && !x.o.bottomUp
	if !pipe {
		base = append(base, row...)
	}
	return p.left.run(x, row, func() error {
		matched := false
		each := func() error {
			if ok, err := x.holds(p.cond, row); err != nil || !ok {
				return err
			}
			matched = true
			return emit()
		}
		var err error
		if pipe {
			err = p.right.run(x, row, each)
		} else {
			var t *table
			if t, err = x.table(p.right, p.on, base); err == nil {
				err = t.join(x, row, each)
			}
		}
		if err != nil || matched {
			return err
		}
		return emit()
	})
}

// run emits the left rows that agree with no right row with which they share a
// variable.
func (p *planMinus) run(x *exec, row []kg.ID, emit func() error) error {
	base := append([]kg.ID(nil), row...)
	return p.left.run(x, row, func() error {
		var gone bool
		var err error
		if p.pipe && !x.o.bottomUp {
			gone, err = x.exists(p.right, row)
		} else {
			var t *table
			if t, err = x.table(p.right, p.on, base); err == nil {
				gone, err = t.takesAway(x, row, p.shared)
			}
		}
		if err != nil || gone {
			return err
		}
		return emit()
	})
}

func (p *planUnion) run(x *exec, row []kg.ID, emit func() error) error {
	for _, part := range p.parts {
		if err := part.run(x, row, emit); err != nil {
			return err
		}
	}
	return nil
}

func (p *planFilter) run(x *exec, row []kg.ID, emit func() error) error {
	return p.in.run(x, row, func() error {
		if ok, err := x.holds(p.filters, row); err != nil || !ok {
			return err
		}
		return emit()
	})
}

// run binds the variable; an expression that fails leaves it unbound.
func (p *planExtend) run(x *exec, row []kg.ID, emit func() error) error {
	return p.in.run(x, row, func() error {
		t, err := x.eval(p.expr, row)
		if errors.Is(err, errEval) {
			return emit()
		}
		if err != nil {
			return err
		}
		id, err := x.terms.id(t)
		if err != nil {
			return err
		}
		if old := row[p.slot]; old != 0 {
			if old != id {
				return nil
			}
			return emit()
		}
		row[p.slot] = id
		err = emit()
		row[p.slot] = 0
		return err
	})
}

func (p *planValues) run(x *exec, row []kg.ID, emit func() error) error {
	for _, v := range p.rows {
		if err := x.tick(); err != nil {
			return err
		}
		if err := merge(row, p.slots, v, emit); err != nil {
			return err
		}
	}
	return nil
}

func (p *planNone) run(*exec, []kg.ID, func() error) error { return nil }

// merge calls next with a row that holds the values too, if they agree.
func merge(row []kg.ID, slots []int, vals []kg.ID, next func() error) error {
	for i, slot := range slots {
		if vals[i] != 0 && row[slot] != 0 && row[slot] != vals[i] {
			return nil
		}
	}
	var few [16]int
	set := few[:0]
	for i, slot := range slots {
		if vals[i] == 0 || row[slot] == vals[i] {
			continue
		}
		if row[slot] != 0 { // one variable twice, with two values
			clearSlots(row, set)
			return nil
		}
		row[slot] = vals[i]
		set = append(set, slot)
	}
	err := next()
	clearSlots(row, set)
	return err
}

func clearSlots(row []kg.ID, slots []int) {
	for _, s := range slots {
		row[s] = 0
	}
}

// run looks into the graph that the variable names, or into each in turn.
func (p *planGraph) run(x *exec, row []kg.ID, emit func() error) error {
	if id := row[p.slot]; id != 0 {
		return p.in1(x, id, row, emit)
	}
	if p.direct {
		return p.in.run(x, row, func() error { return p.name(row, emit) })
	}
	for name := range x.ds.named {
		if err := x.tick(); err != nil {
			return err
		}
		if err := p.in1(x, name, row, emit); err != nil {
			return err
		}
	}
	return nil
}

// in1 runs the pattern in one graph.
func (p *planGraph) in1(x *exec, name kg.ID, row []kg.ID, emit func() error) error {
	if !x.ds.isNamed(name) {
		return nil
	}
	row[p.active] = name
	err := p.in.run(x, row, func() error { return p.name(row, emit) })
	row[p.active] = 0
	return err
}

// name binds the variable to the graph that was looked into.
func (p *planGraph) name(row []kg.ID, emit func() error) error {
	return merge(row, []int{p.slot}, []kg.ID{row[p.active]}, emit)
}
