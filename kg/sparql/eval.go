package sparql

import (
	"errors"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ttl"
)

// errEval is the error of an expression: a type error, an unbound variable, a
// function that has no answer. It ends a filter or leaves a variable unbound,
// never the query.
var errEval = errors.New("the expression has no value")

// errNaN is errEval for a comparison with NaN, which is false and no error.
var errNaN = errors.New("not a number")

// eval returns an expression's value in a row. An error other than errEval
// ends the query.
func (x *exec) eval(e *expr, row []kg.ID) (ttl.Term, error) {
	switch e.op {
	case exVar:
		if row[e.slot] == 0 {
			return ttl.Term{}, errEval
		}
		return x.terms.term(row[e.slot])
	case exConst:
		return e.term, nil
	case exArith, exNegate, exPlus:
		return x.evalArith(e, row)
	case exCall:
		if f := special(e.name); f != nil {
			return f(x, e, row)
		}
		return x.apply(e, row)
	case exCast:
		return x.apply(e, row)
	}
	b, err := x.truth(e, row)
	if err != nil {
		return ttl.Term{}, err
	}
	return boolTerm(b), nil
}

// apply evaluates a call's arguments and calls its function.
func (x *exec) apply(e *expr, row []kg.ID) (ttl.Term, error) {
	if err := x.tick(); err != nil {
		return ttl.Term{}, err
	}
	var few [4]ttl.Term
	args := few[:0]
	held := 0
	defer func() { x.release(held) }()
	for _, a := range e.args {
		t, err := x.eval(a, row)
		if err == nil {
			err = x.hold(t, &held)
		}
		if err != nil {
			return ttl.Term{}, err
		}
		args = append(args, t)
	}
	t, err := e.fn(x, args)
	if err == nil && len(t.Value) > maxText {
		err = errText()
	}
	return t, err
}

// longText is from what length on a text counts for the time that is spent on
// it and, while an expression holds it, for the memory.
const longText = 4096

// hold counts a text that an expression holds while it evaluates another. The
// caller releases what held has come to.
func (x *exec) hold(t ttl.Term, held *int) error {
	n := len(t.Value)
	if n < longText {
		return nil
	}
	*held += n
	if err := x.charge(n); err != nil {
		return err
	}
	return x.spend(n / 1024)
}

// truth returns an expression's effective boolean value (section 17.2.2).
func (x *exec) truth(e *expr, row []kg.ID) (bool, error) {
	switch e.op {
	case exOr:
		return x.connect(e, row, true)
	case exAnd:
		return x.connect(e, row, false)
	case exNot:
		b, err := x.truth(e.args[0], row)
		return !b, err
	case exCompare:
		return x.evalCompare(e, row)
	case exIn, exNotIn:
		b, err := x.evalIn(e, row)
		return b == (e.op == exIn), err
	case exExists, exNotExists:
		b, err := x.exists(e.plan, row)
		return b == (e.op == exExists), err
	}
	t, err := x.eval(e, row)
	if err != nil {
		return false, err
	}
	return effectiveBool(t)
}

func effectiveBool(t ttl.Term) (bool, error) {
	if t.Kind != ttl.Literal {
		return false, errEval
	}
	switch v := valueOf(t); v.fam {
	case famString, famLang:
		// A string with a language tag counts by its text, as most engines do;
		// the specification names plain literals, which it once was.
		return t.Value != "", nil
	case famBoolean:
		return v.truth, nil
	case famNumber:
		return !v.num.isZero(), nil
	case famBad:
		if t.Datatype == ttl.XSDBoolean || isNumeric(t.Datatype) {
			return false, nil
		}
	}
	return false, errEval
}

// connect is || (decides true) or && (decides false): one operand that decides
// rescues the errors of the others (section 17.2).
func (x *exec) connect(e *expr, row []kg.ID, decides bool) (bool, error) {
	failed := false
	for _, a := range e.args {
		b, err := x.truth(a, row)
		if errors.Is(err, errEval) {
			failed = true
			continue
		}
		if err != nil {
			return false, err
		}
		if b == decides {
			return decides, nil
		}
	}
	if failed {
		return false, errEval
	}
	return !decides, nil
}

func (x *exec) evalCompare(e *expr, row []kg.ID) (bool, error) {
	if err := x.tick(); err != nil {
		return false, err
	}
	a, err := x.eval(e.args[0], row)
	if err != nil {
		return false, err
	}
	held := 0
	defer func() { x.release(held) }()
	if err := x.hold(a, &held); err != nil {
		return false, err
	}
	b, err := x.eval(e.args[1], row)
	if err != nil {
		return false, err
	}
	switch e.name {
	case "=":
		return equal(a, b)
	case "!=":
		same, err := equal(a, b)
		return !same, err
	}
	c, err := less(a, b)
	if errors.Is(err, errNaN) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	switch e.name {
	case "<":
		return c < 0, nil
	case "<=":
		return c <= 0, nil
	case ">":
		return c > 0, nil
	}
	return c >= 0, nil
}

// evalIn is IN: true if any is equal, an error if none is and one failed.
func (x *exec) evalIn(e *expr, row []kg.ID) (bool, error) {
	if e.ids != nil {
		id := row[e.args[0].slot]
		if id == 0 {
			return false, errEval
		}
		return e.ids[id], nil
	}
	a, err := x.eval(e.args[0], row)
	if err != nil {
		return false, err
	}
	held := 0
	defer func() { x.release(held) }()
	if err := x.hold(a, &held); err != nil {
		return false, err
	}
	var failed error
	for _, arg := range e.args[1:] {
		b, err := x.eval(arg, row)
		same := false
		if err == nil {
			same, err = equal(a, b)
		}
		switch {
		case errors.Is(err, errEval):
			failed = errEval
		case err != nil:
			return false, err
		case same:
			return true, nil
		}
	}
	return false, failed
}

func (x *exec) evalArith(e *expr, row []kg.ID) (ttl.Term, error) {
	if err := x.spend(4); err != nil {
		return ttl.Term{}, err
	}
	var n [2]number
	for i, a := range e.args {
		t, err := x.eval(a, row)
		if err != nil {
			return ttl.Term{}, err
		}
		v, ok := numberOf(t)
		if !ok {
			return ttl.Term{}, errEval
		}
		n[i] = v
	}
	if e.op == exPlus {
		return n[0].term(), nil
	}
	op := e.name
	if e.op == exNegate {
		if n[0].kind >= nFloat {
			n[0].f = -n[0].f
			return n[0].term(), nil
		}
		op, n[0], n[1] = "-", intNumber(0), n[0]
	}
	r, err := arith(op, n[0], n[1])
	if err != nil {
		return ttl.Term{}, err
	}
	return r.term(), nil
}
