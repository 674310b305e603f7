package sparql

import (
	"math"
	"math/big"

	"github.com/seed-ff860830/banyan/ttl"
)

// arith computes a + b, a - b, a * b or a / b, in the wider type of the two;
// the quotient of integers is a decimal (section 17.3).
func arith(op string, a, b number) (number, error) {
	k := max(a.kind, b.kind)
	if k >= nFloat {
		return floatArith(op, k, a.float(), b.float()), nil
	}
	if k == nInteger && a.r == nil && b.r == nil {
		if n, ok := intArith(op, a.i, b.i); ok {
			return n, nil
		}
	}
	x, y, r := a.rat(), b.rat(), new(big.Rat)
	switch op {
	case "+":
		r.Add(x, y)
	case "-":
		r.Sub(x, y)
	case "*":
		r.Mul(x, y)
	default:
		if y.Sign() == 0 {
			return number{}, errEval
		}
		k = nDecimal
		r.Quo(x, y)
		if _, ends := r.FloatPrec(); !ends {
			r.SetString(r.FloatString(fractionDigits))
		}
	}
	if max(r.Num().BitLen(), r.Denom().BitLen()) > maxDigits*4 {
		return number{}, errEval
	}
	return exact(k, r), nil
}

// intArith computes with integers that fit; false if the result does not.
func intArith(op string, a, b int64) (number, bool) {
	switch op {
	case "+":
		s := a + b
		return intNumber(s), (s > a) == (b > 0)
	case "-":
		s := a - b
		return intNumber(s), (s < a) == (b > 0)
	case "*":
		const half = 1 << 31
		return intNumber(a * b), a > -half && a < half && b > -half && b < half
	}
	return number{}, false
}

func floatArith(op string, k numKind, a, b float64) number {
	var f float64
	switch op {
	case "+":
		f = a + b
	case "-":
		f = a - b
	case "*":
		f = a * b
	default:
		f = a / b
	}
	if k == nFloat {
		f = float64(float32(f))
	}
	return number{kind: k, f: f}
}

// compareNumbers returns -1, 0 or 1; NaN is less than every other number, so
// that an order stays an order. Operators look for NaN before.
func compareNumbers(a, b number) int {
	if a.kind <= nDecimal && b.kind <= nDecimal {
		if a.r == nil && b.r == nil {
			return cmpOrdered(a.i, b.i)
		}
		return a.rat().Cmp(b.rat())
	}
	x, y := a.float(), b.float()
	if math.IsNaN(x) || math.IsNaN(y) {
		return cmpOrdered(boolInt(!math.IsNaN(x)), boolInt(!math.IsNaN(y)))
	}
	return cmpOrdered(x, y)
}

func cmpOrdered[T int | int64 | float64 | string](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (n number) isNaN() bool { return n.kind >= nFloat && math.IsNaN(n.f) }

// isZero reports a number without effective boolean value true.
func (n number) isZero() bool {
	if n.kind >= nFloat {
		return n.f == 0 || math.IsNaN(n.f)
	}
	return n.rat().Sign() == 0
}

// rounded applies ABS, CEIL, FLOOR or ROUND, which keep the type.
func rounded(name string, n number) number {
	if n.kind >= nFloat {
		switch name {
		case "ABS":
			n.f = math.Abs(n.f)
		case "CEIL":
			n.f = math.Ceil(n.f)
		case "FLOOR":
			n.f = math.Floor(n.f)
		default:
			n.f = math.Floor(n.f + 0.5)
		}
		return n
	}
	r := n.rat()
	switch name {
	case "ABS":
		return exact(n.kind, new(big.Rat).Abs(r))
	case "CEIL":
		f := floorRat(new(big.Rat).Neg(r))
		return exact(n.kind, f.Neg(f))
	case "FLOOR":
		return exact(n.kind, floorRat(r))
	}
	return exact(n.kind, floorRat(new(big.Rat).Add(r, big.NewRat(1, 2))))
}

func floorRat(r *big.Rat) *big.Rat {
	q, m := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	_ = m // DivMod is Euclidean, and the denominator positive: q is the floor
	return new(big.Rat).SetInt(q)
}

func boolTerm(b bool) ttl.Term {
	if b {
		return ttl.NewTyped("true", ttl.XSDBoolean)
	}
	return ttl.NewTyped("false", ttl.XSDBoolean)
}
