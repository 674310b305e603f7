package sparql

import (
	"slices"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
)

// walker follows paths in one graph. A zero end is a variable that is not
// bound.
type walker struct {
	x   *exec
	at  graphRef
	row []kg.ID
}

// walkAll yields the pairs of nodes that a path step joins.
func (x *exec) walkAll(s *step, row []kg.ID, emit func(from, to kg.ID) error) error {
	w := walker{x: x, at: s.graph, row: row}
	if s.path.nullable() {
		for _, e := range [...][2]place{{s.s, s.o}, {s.o, s.s}} {
			if ok, err := w.admits(e[0], e[1]); err != nil || !ok {
				return err
			}
		}
	}
	return w.follow(s.path, s.s.value(row), s.o.value(row), emit)
}

// admits reports whether a variable's value may be an end of a path that can be
// empty: an open end stands for the graph's nodes, and for the term at the
// other end, but for no other term (section 18.4).
func (w walker) admits(end, other place) (bool, error) {
	id := end.value(w.row)
	if end.slot < 0 || id == 0 || other.slot < 0 && other.id == id {
		return true, nil
	}
	for _, at := range [...][2]kg.ID{{id, 0}, {0, id}} {
		for _, err := range w.x.scan(w.at, w.row, at[0], 0, at[1]) {
			return err == nil, err
		}
	}
	return false, nil
}

// nullable reports whether a path matches without an edge.
func (p *walk) nullable() bool {
	switch p.op {
	case pathZeroOrMore, pathZeroOrOne:
		return true
	case pathOneOrMore, pathInverse:
		return p.args[0].nullable()
	case pathSeq:
		return !slices.ContainsFunc(p.args, func(a *walk) bool { return !a.nullable() })
	case pathAlt:
		return slices.ContainsFunc(p.args, (*walk).nullable)
	}
	return false
}

// step counts one node that a path visits.
func (w walker) step() error {
	if w.x.pathSteps++; w.x.pathSteps > w.x.o.MaxPathSteps {
		return errs.New(errs.TooLarge, "the property paths take more than the limit of %d steps", w.x.o.MaxPathSteps)
	}
	return w.x.tick()
}

// follow yields the pairs that a path joins, with duplicates where the
// specification keeps them (section 18.4).
func (w walker) follow(p *walk, from, to kg.ID, emit func(from, to kg.ID) error) error {
	switch p.op {
	case pathLink:
		return w.edges(from, p.link, to, emit)
	case pathInverse:
		return w.follow(p.args[0], to, from, func(a, b kg.ID) error { return emit(b, a) })
	case pathSeq:
		return w.sequence(p.args, from, to, emit)
	case pathAlt:
		for _, a := range p.args {
			if err := w.follow(a, from, to, emit); err != nil {
				return err
			}
		}
		return nil
	case pathNegated:
		return w.negated(p, from, to, emit)
	}
	return w.closure(p, from, to, emit)
}

func (w walker) edges(s, p, o kg.ID, emit func(from, to kg.ID) error) error {
	for q, err := range w.x.scan(w.at, w.row, s, p, o) {
		if err == nil {
			err = w.step()
		}
		if err == nil {
			err = emit(q.s, q.o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sequence follows paths one after the other, from the end that is bound.
func (w walker) sequence(ps []*walk, from, to kg.ID, emit func(from, to kg.ID) error) error {
	if len(ps) == 1 {
		return w.follow(ps[0], from, to, emit)
	}
	if from == 0 && to != 0 {
		last := len(ps) - 1
		return w.follow(ps[last], 0, to, func(mid, _ kg.ID) error {
			return w.sequence(ps[:last], 0, mid, func(a, _ kg.ID) error { return emit(a, to) })
		})
	}
	return w.follow(ps[0], from, 0, func(a, mid kg.ID) error {
		return w.sequence(ps[1:], mid, to, func(_, b kg.ID) error { return emit(a, b) })
	})
}

// negated yields the edges whose predicate is not excluded.
func (w walker) negated(p *walk, from, to kg.ID, emit func(from, to kg.ID) error) error {
	one := func(s, o kg.ID, not map[kg.ID]bool, emit func(a, b kg.ID) error) error {
		for q, err := range w.x.scan(w.at, w.row, s, 0, o) {
			if err == nil {
				err = w.step()
			}
			if err == nil && !not[q.p] {
				err = emit(q.s, q.o)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if p.hasFwd {
		if err := one(from, to, p.fwd, emit); err != nil {
			return err
		}
	}
	if p.hasInv {
		return one(to, from, p.inv, func(a, b kg.ID) error { return emit(b, a) })
	}
	return nil
}

// closure yields the pairs of ?, * and +, each once.
func (w walker) closure(p *walk, from, to kg.ID, emit func(from, to kg.ID) error) error {
	switch {
	case from != 0:
		return w.reach(p, from, false, func(n kg.ID) error {
			if to != 0 && n != to {
				return nil
			}
			return emit(from, n)
		})
	case to != 0:
		return w.reach(p, to, true, func(n kg.ID) error { return emit(n, to) })
	}
	starts, err := w.starts(p)
	if err != nil {
		return err
	}
	for _, n := range starts {
		if err := w.reach(p, n, false, func(m kg.ID) error { return emit(n, m) }); err != nil {
			return err
		}
	}
	w.x.release(idBytes * len(starts))
	return nil
}

// idBytes is what an id costs in a visited set, about.
const idBytes = 48

// starts returns the nodes that a closure with two open ends begins at: every
// node of the graph, or for + those that the path leaves from.
func (w walker) starts(p *walk) ([]kg.ID, error) {
	seen := map[kg.ID]bool{}
	var out []kg.ID
	add := func(n kg.ID) error {
		if seen[n] {
			return nil
		}
		seen[n] = true
		out = append(out, n)
		return w.x.charge(idBytes)
	}
	if p.op == pathOneOrMore {
		return out, w.follow(p.args[0], 0, 0, func(a, _ kg.ID) error { return add(a) })
	}
	return out, w.edges(0, 0, 0, func(a, b kg.ID) error {
		if err := add(a); err != nil {
			return err
		}
		return add(b)
	})
}

// reach yields the nodes that a closure reaches from one, each once, by
// breadth first search; backward says that the path is followed against its
// direction. It needs no recursion, so no length of chain is too much.
func (w walker) reach(p *walk, start kg.ID, backward bool, emit func(kg.ID) error) error {
	seen := map[kg.ID]bool{}
	var queue []kg.ID
	visit := func(n kg.ID) error {
		if seen[n] {
			return nil
		}
		seen[n] = true
		if p.op != pathZeroOrOne || n == start {
			queue = append(queue, n)
		}
		if err := w.x.charge(idBytes); err != nil {
			return err
		}
		return emit(n)
	}
	defer func() { w.x.release(idBytes * len(seen)) }()
	expand := func(n kg.ID) error {
		if err := w.step(); err != nil {
			return err
		}
		if backward {
			return w.follow(p.args[0], 0, n, func(a, _ kg.ID) error { return visit(a) })
		}
		return w.follow(p.args[0], n, 0, func(_, b kg.ID) error { return visit(b) })
	}
	if p.op == pathOneOrMore {
		if err := expand(start); err != nil {
			return err
		}
	} else if err := visit(start); err != nil {
		return err
	}
	once := p.op == pathZeroOrOne
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if err := expand(n); err != nil {
			return err
		}
		if once {
			return nil
		}
	}
	return nil
}
