package sparql

import (
	"errors"
	"slices"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ttl"
)

// run hides what a subquery does not project: those variables have slots that
// no one else looks at, so there is nothing to do but pass on.
func (p *planProject) run(x *exec, row []kg.ID, emit func() error) error {
	return p.in.run(x, row, emit)
}

func (p *planDistinct) run(x *exec, row []kg.ID, emit func() error) error {
	seen := map[string]struct{}{}
	var key []byte
	held := 0
	err := p.in.run(x, row, func() error {
		key = appendKey(key[:0], row, p.slots)
		if _, ok := seen[string(key)]; ok {
			return nil
		}
		seen[string(key)] = struct{}{}
		held += 32 + len(key)
		if err := x.charge(32 + len(key)); err != nil {
			return err
		}
		return emit()
	})
	x.release(held)
	return err
}

func (p *planSlice) run(x *exec, row []kg.ID, emit func() error) error {
	if p.limit == 0 {
		return nil
	}
	stop := &stopped{}
	var n int64
	err := p.in.run(x, row, func() error {
		n++
		if n <= p.offset {
			return nil
		}
		if err := emit(); err != nil {
			return err
		}
		if p.limit > 0 && n-p.offset == p.limit {
			return stop
		}
		return nil
	})
	if errors.Is(err, stop) {
		return nil
	}
	return err
}

// sortedRow is a solution with the terms that it is ordered by.
type sortedRow struct {
	keys []ttl.Term
	vals []kg.ID
	n    int
}

// run gathers the solutions, sorts them, and emits what is kept of them. Where
// only the first ones are wanted, the rest is dropped on the way.
func (p *planOrder) run(x *exec, row []kg.ID, emit func() error) error {
	s := &sorter{p: p, x: x}
	if err := p.in.run(x, row, func() error { return s.add(row) }); err != nil {
		return err
	}
	s.cut(true)
	if s.err != nil {
		return s.err
	}
	for _, r := range s.rows {
		if err := x.tick(); err != nil {
			return err
		}
		if err := merge(row, p.keep, r.vals, emit); err != nil {
			return err
		}
	}
	x.release(s.bytes)
	return nil
}

type sorter struct {
	p     *planOrder
	x     *exec
	rows  []sortedRow
	n     int
	bytes int
	err   error // why the sort is of no more use
}

func (s *sorter) add(row []kg.ID) error {
	s.n++
	r := sortedRow{keys: make([]ttl.Term, len(s.p.keys)), vals: make([]kg.ID, len(s.p.keep)), n: s.n}
	size := 80 + 8*len(r.vals)
	for i, k := range s.p.keys {
		t, err := s.x.eval(k.expr, row)
		if err != nil && !errors.Is(err, errEval) {
			return err
		}
		r.keys[i] = t
		size += 56 + len(t.Value)
	}
	for i, slot := range s.p.keep {
		r.vals[i] = row[slot]
	}
	s.rows = append(s.rows, r)
	s.bytes += size
	if err := s.x.charge(size); err != nil {
		return err
	}
	s.cut(false)
	return s.err
}

// cut sorts the rows and drops those that are not wanted; unless now, only
// when there are many.
func (s *sorter) cut(now bool) {
	top := s.p.top
	if !now && (top < 0 || int64(len(s.rows)) < 2*top+1024) {
		return
	}
	slices.SortFunc(s.rows, s.compare)
	if s.err != nil {
		return
	}
	if top >= 0 && int64(len(s.rows)) > top {
		size := s.bytes * (len(s.rows) - int(top)) / len(s.rows)
		clear(s.rows[top:])
		s.rows = s.rows[:top]
		s.bytes -= size
		s.x.release(size)
	}
}

// compare orders two rows. Once the run has ended all are equal, so that a long
// sort ends soon.
func (s *sorter) compare(a, b sortedRow) int {
	if s.err == nil {
		s.err = s.x.tick()
	}
	if s.err != nil {
		return 0
	}
	for i, k := range s.p.keys {
		c := orderTerms(a.keys[i], b.keys[i])
		if k.desc {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return a.n - b.n
}
