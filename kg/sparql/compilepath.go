package sparql

import (
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ttl"
)

// path takes a path apart as far as patterns can say it (section 18.2.2.4).
func (s *scope) path(p *planBGP, sub place, pa *path, obj place, at graphRef) error {
	switch pa.op {
	case pathLink:
		id, err := s.c.x.terms.id(pa.link)
		p.steps = append(p.steps, &step{s: sub, p: place{slot: -1, id: id}, o: obj, graph: at, count: -1})
		return err
	case pathInverse:
		return s.path(p, obj, pa.args[0], sub, at)
	case pathSeq:
		for i, arg := range pa.args {
			to := obj
			if i < len(pa.args)-1 {
				var err error
				if to, err = s.freshPlace(); err != nil {
					return err
				}
			}
			if err := s.path(p, sub, arg, to, at); err != nil {
				return err
			}
			sub = to
		}
		return nil
	}
	w, err := s.walk(pa)
	p.steps = append(p.steps, &step{s: sub, p: place{slot: -1}, o: obj, graph: at, path: w, count: -1})
	return err
}

// walk resolves the links of a path.
func (s *scope) walk(pa *path) (w *walk, err error) {
	w = &walk{op: pa.op, hasFwd: pa.hasFwd, hasInv: pa.hasInv}
	if pa.op == pathLink {
		w.link, err = s.c.x.terms.id(pa.link)
		return w, err
	}
	if w.fwd, err = s.idSet(pa.fwd); err != nil {
		return nil, err
	}
	if w.inv, err = s.idSet(pa.inv); err != nil {
		return nil, err
	}
	for _, a := range pa.args {
		arg, err := s.walk(a)
		if err != nil {
			return nil, err
		}
		w.args = append(w.args, arg)
	}
	return w.flat(), nil
}

// flat makes one closure of two: each of ?, * and + of any of them is one of
// them again, as they reach sets of nodes. Without it, nested ones would take
// time with the power of their depth.
func (p *walk) flat() *walk {
	closure := func(op pathOp) bool { return op == pathZeroOrMore || op == pathOneOrMore || op == pathZeroOrOne }
	if !closure(p.op) || !closure(p.args[0].op) {
		return p
	}
	inner := p.args[0]
	op := pathZeroOrMore
	if p.op == inner.op {
		op = p.op
	}
	return &walk{op: op, args: inner.args}
}

func (s *scope) idSet(terms []ttl.Term) (map[kg.ID]bool, error) {
	set := map[kg.ID]bool{}
	for _, t := range terms {
		id, err := s.c.x.terms.id(t)
		if err != nil {
			return nil, err
		}
		set[id] = true
	}
	return set, nil
}
