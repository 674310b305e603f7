package sparql

import (
	"context"
	"errors"
	"iter"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ttl"
)

// graphWriter hands out the triples of a result, each once.
type graphWriter struct {
	x     *exec
	seen  map[ttl.Triple]struct{}
	yield func(ttl.Triple) error
}

func (g *graphWriter) add(t ttl.Triple) error {
	if _, ok := g.seen[t]; ok {
		return nil
	}
	if len(g.seen) >= g.x.o.MaxRows {
		return errRows("triples", g.x.o.MaxRows)
	}
	g.seen[t] = struct{}{}
	if err := g.x.charge(256 + len(t.S.Value) + len(t.P.Value) + len(t.O.Value)); err != nil {
		return err
	}
	return g.yield(t)
}

// triples evaluates a CONSTRUCT or a DESCRIBE.
func (q *Query) triples(ctx context.Context, store *kg.Store, o Options, write func(*exec, *Query, plan, []kg.ID, *graphWriter) error) iter.Seq2[ttl.Triple, error] {
	return func(yield func(ttl.Triple, error) bool) {
		stop := &stopped{}
		err := q.solutions(ctx, store, o, func(x *exec, p plan, row []kg.ID, _ []int) error {
			return write(x, q, p, row, &graphWriter{x: x, seen: map[ttl.Triple]struct{}{}, yield: func(t ttl.Triple) error {
				if !yield(t, nil) {
					return stop
				}
				return nil
			}})
		})
		if err != nil && !errors.Is(err, stop) {
			yield(ttl.Triple{}, err)
		}
	}
}

// construct fills the template in with each solution. A triple that an unbound
// variable or a term in the wrong place spoils is left out (section 16.2).
func (x *exec) construct(q *Query, p plan, row []kg.ID, out *graphWriter) error {
	f := &filler{x: x, row: row}
	return p.run(x, row, func() error {
		f.next()
		for _, t := range q.body.template {
			q, ok, err := f.quad(quadPat{triplePat: t})
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			if err := out.add(ttl.Triple{S: q.S, P: q.P, O: q.O}); err != nil {
				return err
			}
		}
		return nil
	})
}

// filler fills templates in. A blank node of a template is another one for
// each solution.
type filler struct {
	x      *exec
	row    []kg.ID
	blanks map[string]ttl.Term
}

func (f *filler) next() { clear(f.blanks) }

func (f *filler) term(n node) (ttl.Term, error) {
	switch {
	case n.isBlank():
		if t, ok := f.blanks[n.name]; ok {
			return t, nil
		}
		if f.blanks == nil {
			f.blanks = map[string]ttl.Term{}
		}
		t := f.x.terms.blank()
		f.blanks[n.name] = t
		return t, nil
	case n.isVar():
		slot, ok := f.x.scope.slots[n.name]
		if !ok || slot >= len(f.row) {
			return ttl.Term{}, nil
		}
		return f.x.terms.term(f.row[slot])
	}
	return n.term, nil
}

// quad fills a template in; ok is false if the outcome is no quad.
func (f *filler) quad(t quadPat) (q ttl.Quad, ok bool, err error) {
	for _, e := range [...]struct {
		n  node
		to *ttl.Term
	}{{t.s, &q.S}, {t.p, &q.P}, {t.o, &q.O}, {t.g, &q.G}} {
		if *e.to, err = f.term(e.n); err != nil {
			return q, false, err
		}
	}
	ok = (q.S.Kind == ttl.IRI || q.S.Kind == ttl.Blank) && q.P.Kind == ttl.IRI && !q.O.IsZero() && (!t.named || q.G.Kind == ttl.IRI)
	return q, ok, nil
}

// describe hands out the concise bounded description of each resource: its
// triples, and those of the blank nodes that they lead to.
func (x *exec) describe(q *Query, p plan, row []kg.ID, out *graphWriter) error {
	d := &describer{x: x, out: out, done: map[kg.ID]bool{}}
	if err := d.collect(q, p, row); err != nil {
		return err
	}
	for len(d.queue) > 0 {
		id := d.queue[0]
		d.queue = d.queue[1:]
		if err := d.one(id); err != nil {
			return err
		}
	}
	return nil
}

type describer struct {
	x     *exec
	out   *graphWriter
	done  map[kg.ID]bool
	queue []kg.ID
}

func (d *describer) want(id kg.ID) error {
	if id == 0 || d.done[id] {
		return nil
	}
	d.done[id] = true
	d.queue = append(d.queue, id)
	return d.x.charge(idBytes)
}

// collect finds the resources: the IRIs that are named and the values of the
// variables.
func (d *describer) collect(q *Query, p plan, row []kg.ID) error {
	var slots []int
	nodes := q.body.describe
	if q.body.star {
		for _, name := range q.body.where.vars {
			nodes = append(nodes, variable(name))
		}
	}
	for _, n := range nodes {
		if n.isVar() {
			if slot, ok := d.x.scope.slots[n.name]; ok {
				slots = append(slots, slot)
			}
			continue
		}
		id, err := d.x.terms.id(n.term)
		if err == nil {
			err = d.want(id)
		}
		if err != nil {
			return err
		}
	}
	if len(slots) == 0 {
		return nil
	}
	return p.run(d.x, row, func() error {
		for _, s := range slots {
			if err := d.want(row[s]); err != nil {
				return err
			}
		}
		return nil
	})
}

// one hands out a resource's triples, from the default graph.
func (d *describer) one(id kg.ID) error {
	for q, err := range d.x.scan(graphRef{}, nil, id, 0, 0) {
		if err == nil {
			err = d.x.tick()
		}
		if err != nil {
			return err
		}
		var t ttl.Triple
		for _, e := range [...]struct {
			id kg.ID
			to *ttl.Term
		}{{q.s, &t.S}, {q.p, &t.P}, {q.o, &t.O}} {
			if *e.to, err = d.x.terms.term(e.id); err != nil {
				return err
			}
		}
		if err := d.out.add(t); err != nil {
			return err
		}
		if t.O.Kind == ttl.Blank {
			if err := d.want(q.o); err != nil {
				return err
			}
		}
	}
	return nil
}
