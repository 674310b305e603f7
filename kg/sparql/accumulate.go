package sparql

import (
	"errors"
	"strings"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ttl"
)

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
	if errors.Is(err, errEval) {
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
