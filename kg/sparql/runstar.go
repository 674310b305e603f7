package sparql

import (
	"slices"

	"github.com/seed-ff860830/banyan/kg"
)

// maxCursors bounds the cursors of one star; the patterns beyond are looked up
// for each candidate.
const maxCursors = 24

// withStars puts patterns that ask constants of one unbound subject, such as
// "?s :p 1 ; :q 2", together as one step: their subjects are in order in the
// store, so that all of them can be intersected by leaping.
func withStars(steps []*step, have slotSet) []*step {
	type hub struct {
		slot  int
		graph graphRef
	}
	rays := map[hub][]*step{}
	for _, st := range steps {
		if st.isRay(have) {
			h := hub{st.s.slot, st.graph}
			rays[h] = append(rays[h], st)
		}
	}
	var out []*step
	for _, st := range steps {
		h := hub{st.s.slot, st.graph}
		all := rays[h]
		switch {
		case !st.isRay(have) || len(all) < 2:
			out = append(out, st)
		case all[0] == st:
			none := place{slot: -1}
			out = append(out, &step{s: st.s, p: none, o: none, graph: st.graph, star: all, count: -1})
		}
	}
	return out
}

// isRay reports whether a step can be part of a star: a subject that is looked
// for, constants else, in a graph that is known.
func (s *step) isRay(have slotSet) bool {
	return s.path == nil && s.star == nil && s.s.slot >= 0 && !have.has(s.s.slot) && s.p.slot < 0 && s.o.slot < 0 &&
		(s.graph.kind != inSlot || have.has(s.graph.slot))
}

// starCost reckons a star's matches: somewhat fewer than its rarest pattern's.
func (x *exec) starCost(st *step, have slotSet) (float64, error) {
	least := -1.0
	for _, ray := range st.star {
		n, err := x.estimate(ray, have)
		if err != nil {
			return 0, err
		}
		if least < 0 || n < least {
			least = n
		}
	}
	slices.SortStableFunc(st.star, func(a, b *step) int { return a.count - b.count })
	return least / 2, nil
}

// graphFilter says which rows of the store are in a pattern's graph: number 0
// is any graph, keep (if not nil) says which. none says that there is no such
// graph.
func (x *exec) graphFilter(at graphRef, row []kg.ID) (num kg.ID, keep func(kg.ID) bool, none bool) {
	name := at.name
	switch at.kind {
	case inDefault:
		switch {
		case x.ds.all:
			return 0, nil, false
		case x.ds.one != 0:
			return x.ds.one, nil, false
		}
		return 0, func(g kg.ID) bool { return x.ds.deflt[g] }, len(x.ds.deflt) == 0
	case inSlot:
		name = row[at.slot]
	}
	num, ok := x.ds.named[name]
	return num, nil, !ok
}

// matchStar yields the subjects that match every pattern of a star.
func (x *exec) matchStar(st *step, row []kg.ID, next func() error) error {
	num, keep, none := x.graphFilter(st.graph, row)
	if none {
		return nil
	}
	for _, ray := range st.star {
		if ray.p.id >= kg.LocalID || ray.o.id >= kg.LocalID {
			return nil // a term that the store does not know
		}
	}
	run := &starRun{x: x, st: st, row: row, next: next}
	defer run.close()
	found, rays, err := x.indexed(st.star, num)
	if err != nil {
		return err
	}
	for i, ray := range rays {
		if i == maxCursors {
			run.rest = rays[i:]
			break
		}
		cur, ok := x.sc.Cursor(ray.p.id, ray.o.id, num, keep)
		if !ok {
			return run.scanned()
		}
		run.cursors = append(run.cursors, cur)
	}
	x.o.seen.star()
	if found != nil {
		return run.sift(found)
	}
	return run.leap()
}

// starRun is one intersection.
type starRun struct {
	x       *exec
	st      *step
	row     []kg.ID
	next    func() error
	cursors []*kg.Cursor
	rest    []*step // looked up for each candidate
}

func (r *starRun) close() {
	for _, c := range r.cursors {
		c.Close()
	}
}

// emit binds the subject if it matches what no cursor looked at.
func (r *starRun) emit(s kg.ID) error {
	return r.st.bind(r.row, quad{s: s}, func() error { return matchAll(r.x, r.rest, r.row, r.next) })
}

// leap is the leapfrog join of Veldhuizen (ICDT 2014) for one variable: each
// cursor in turn seeks the greatest subject seen; once all stand on one
// subject, it is a match.
func (r *starRun) leap() error {
	least, agree := kg.ID(1), 0
	for i := 0; ; i = (i + 1) % len(r.cursors) {
		if err := r.x.tick(); err != nil {
			return err
		}
		s, ok, err := r.cursors[i].Seek(least)
		if err != nil || !ok {
			return err
		}
		if s != least {
			least, agree = s, 0
		}
		if agree++; agree < len(r.cursors) {
			continue
		}
		if err := r.emit(s); err != nil {
			return err
		}
		least, agree = s+1, 0
	}
}

// scanned reads the rarest pattern and looks the others up: what is done where
// there can be no cursors.
func (r *starRun) scanned() error {
	return matchAll(r.x, r.st.star, r.row, r.next)
}

// matchAll matches steps one inside the other.
func matchAll(x *exec, steps []*step, row []kg.ID, next func() error) error {
	if len(steps) == 0 {
		return next()
	}
	return steps[0].match(x, row, func() error { return matchAll(x, steps[1:], row, next) })
}

// coverage counts how often the operators that are more than loops ran, for
// the tests that hold them to the plain ones. A nil one counts nothing.
type coverage struct{ stars, forAlls, hashes, indexed int }

func (c *coverage) star() {
	if c != nil {
		c.stars++
	}
}

func (c *coverage) forAll() {
	if c != nil {
		c.forAlls++
	}
}

func (c *coverage) hash() {
	if c != nil {
		c.hashes++
	}
}

func (c *coverage) index() {
	if c != nil {
		c.indexed++
	}
}
