package shacl

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed-ff860830/banyan/ttl"
)

func nodes(l *loader, _ *shape, values []ttl.Term) ([]constraint, error) {
	return perShape(l, values, func(inner *shape) constraint {
		return each("Node", "it does not fit a shape", func(r *run, v value) bool { return r.conforms(inner, v) })
	})
}

func logicNot(l *loader, _ *shape, values []ttl.Term) ([]constraint, error) {
	return perShape(l, values, func(inner *shape) constraint {
		return each("Not", "it fits a shape that it must not fit", func(r *run, v value) bool { return !r.conforms(inner, v) })
	})
}

// properties reports what the property shapes report.
func properties(l *loader, s *shape, values []ttl.Term) ([]constraint, error) {
	for _, n := range values {
		if len(l.g.objects(n, sh("path"))) == 0 {
			return nil, malformed(s.node, "sh:property names a shape without sh:path")
		}
	}
	return perShape(l, values, func(inner *shape) constraint {
		return constraint{"Property", func(r *run, e *eval, _ constraint) {
			for _, v := range e.values {
				if e.out.full() || r.err != nil {
					return
				}
				r.shape(inner, v, e.out)
			}
		}}
	})
}

func perShape(l *loader, values []ttl.Term, make func(*shape) constraint) ([]constraint, error) {
	var out []constraint
	for _, n := range values {
		inner, err := l.shape(n)
		if err != nil {
			return nil, err
		}
		out = append(out, make(inner))
	}
	return out, nil
}

// logic makes a constraint of how many shapes of a list a value fits.
func logic(name string, ok func(hits, all int) bool) component {
	return func(l *loader, s *shape, values []ttl.Term) ([]constraint, error) {
		var out []constraint
		for _, head := range values {
			items, good := l.g.list(head)
			if !good {
				return nil, malformed(s.node, "sh:"+strings.ToLower(name)+" is a list of shapes")
			}
			inner := make([]*shape, len(items))
			for i, n := range items {
				var err error
				if inner[i], err = l.shape(n); err != nil {
					return nil, err
				}
			}
			out = append(out, each(name, "it fits the wrong number of shapes for sh:"+strings.ToLower(name), func(r *run, v value) bool {
				hits := 0
				for _, x := range inner {
					if r.conforms(x, v) {
						hits++
					}
				}
				return ok(hits, len(inner))
			}))
		}
		return out, nil
	}
}

// qualified counts the values that fit a shape.
func qualified(l *loader, s *shape, values []ttl.Term) ([]constraint, error) {
	n, err := one(s, "qualifiedValueShape", values)
	if err == nil {
		err = needsPath(s, "qualifiedValueShape")
	}
	if err != nil {
		return nil, err
	}
	inner, err := l.shape(n)
	if err != nil {
		return nil, err
	}
	siblings, err := l.siblings(s.node, n)
	if err != nil {
		return nil, err
	}
	var out []constraint
	add := func(name string, ok func(hits, bound int) bool) error {
		o := l.g.objects(s.node, sh("qualified"+name))
		if len(o) == 0 {
			return nil
		}
		bound, err := number(s, "qualified"+name, o)
		out = append(out, constraint{"Qualified" + name, func(r *run, e *eval, c constraint) {
			hits := 0
			for _, v := range e.values {
				if r.conforms(inner, v) && !slices.ContainsFunc(siblings, func(x *shape) bool { return r.conforms(x, v) }) {
					hits++
				}
			}
			if r.err == nil && !ok(hits, bound) {
				e.fail(c, value{at: noStatement}, strconv.Itoa(hits)+" values fit the qualified shape")
			}
		}})
		return err
	}
	if err := add("MinCount", func(hits, bound int) bool { return hits >= bound }); err != nil {
		return nil, err
	}
	return out, add("MaxCount", func(hits, bound int) bool { return hits <= bound })
}

// siblings returns the qualified shapes of the property shapes that share a
// parent with one, if they are to be disjoint.
func (l *loader) siblings(n, own ttl.Term) ([]*shape, error) {
	if on, err := l.flag(n, "qualifiedValueShapesDisjoint"); err != nil || !on {
		return nil, err
	}
	var out []*shape
	for _, e := range l.g.with(&l.g.in, n, sh("property")) {
		for _, sibling := range l.g.objects(l.g.terms[e.far], sh("property")) {
			for _, q := range l.g.objects(sibling, sh("qualifiedValueShape")) {
				if q == own {
					continue
				}
				s, err := l.shape(q)
				if err != nil {
					return nil, err
				}
				out = append(out, s)
			}
		}
	}
	return out, nil
}

// closed allows a node the properties that its shape names and no others.
func closed(l *loader, s *shape, _ []ttl.Term) ([]constraint, error) {
	on, err := l.flag(s.node, "closed")
	if err != nil || !on {
		return nil, err
	}
	allowed := map[ttl.Term]bool{}
	for _, p := range l.g.objects(s.node, sh("property")) {
		for _, path := range l.g.objects(p, sh("path")) {
			if path.Kind == ttl.IRI {
				allowed[path] = true
			}
		}
	}
	for _, head := range l.g.objects(s.node, sh("ignoredProperties")) {
		items, ok := l.g.list(head)
		if !ok {
			return nil, malformed(s.node, "sh:ignoredProperties is a list")
		}
		for _, p := range items {
			allowed[p] = true
		}
	}
	return []constraint{{"Closed", func(r *run, e *eval, c constraint) {
		for _, v := range e.values {
			for _, x := range r.d.all(&r.d.out, v.term) {
				if p := r.d.terms[x.p]; r.spend(1) && !allowed[p] {
					e.failAt(c, value{r.d.terms[x.far], x.at}, "<"+p.Value+">", "it has a property that its shape does not allow")
				}
			}
		}
	}}}, nil
}
