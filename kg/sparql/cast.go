package sparql

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/seed-ff860830/banyan/ttl"
)

// castOf returns the constructor function of a datatype (section 17.5), nil if
// there is none.
func castOf(iri string) function {
	local, ok := strings.CutPrefix(iri, ttl.XSD)
	if !ok {
		return nil
	}
	var f func(ttl.Term) (ttl.Term, error)
	switch local {
	case "string":
		f = castString
	case "boolean":
		f = castBoolean
	case "dateTime", "date":
		f = func(t ttl.Term) (ttl.Term, error) { return castTime(t, iri) }
	case "double":
		f = func(t ttl.Term) (ttl.Term, error) { return castFloat(t, nDouble) }
	case "float":
		f = func(t ttl.Term) (ttl.Term, error) { return castFloat(t, nFloat) }
	case "decimal":
		f = func(t ttl.Term) (ttl.Term, error) { return castExact(t, nDecimal, iri) }
	default:
		if _, ok := integerTypes[local]; !ok {
			return nil
		}
		f = func(t ttl.Term) (ttl.Term, error) { return castExact(t, nInteger, iri) }
	}
	return func(_ *exec, a []ttl.Term) (ttl.Term, error) {
		if len(a) != 1 || a[0].Kind == ttl.Blank {
			return ttl.Term{}, errEval
		}
		return f(a[0])
	}
}

// unknownFunction is a call of a function that there is not: an error of the
// expression (section 17.6).
func unknownFunction(*exec, []ttl.Term) (ttl.Term, error) { return ttl.Term{}, errEval }

func castString(t ttl.Term) (ttl.Term, error) {
	if n, ok := numberOf(t); ok && n.kind != nInteger {
		return ttl.NewString(plainNumber(n)), nil
	}
	if v := valueOf(t); t.Kind == ttl.Literal && v.fam == famBoolean {
		return ttl.NewString(strconv.FormatBool(v.truth)), nil
	}
	return ttl.NewString(t.Value), nil
}

// plainNumber is a number's text as XPath casts it to a string: without an
// exponent between a millionth and a million.
func plainNumber(n number) string {
	if n.kind == nDecimal {
		return strings.TrimSuffix(formatDecimal(n.rat()), ".0")
	}
	bits := 64
	if n.kind == nFloat {
		bits = 32
	}
	a := math.Abs(n.f)
	if a == 0 || a >= 1e-6 && a < 1e6 {
		return strconv.FormatFloat(n.f, 'f', -1, bits)
	}
	return formatFloat(n.f, bits)
}

func castBoolean(t ttl.Term) (ttl.Term, error) {
	if t.Kind != ttl.Literal {
		return ttl.Term{}, errEval
	}
	if n, ok := numberOf(t); ok {
		return boolTerm(!n.isZero()), nil
	}
	if t.Datatype == "" || t.Datatype == ttl.XSDBoolean {
		if b, ok := parseBool(strings.TrimSpace(t.Value)); ok {
			return boolTerm(b), nil
		}
	}
	return ttl.Term{}, errEval
}

func castTime(t ttl.Term, datatype string) (ttl.Term, error) {
	if t.Kind != ttl.Literal {
		return ttl.Term{}, errEval
	}
	switch {
	case t.Datatype == ttl.XSDDateTime && datatype == xsdDate:
		if valueOf(t).fam == famBad {
			return ttl.Term{}, errEval
		}
		body, zone, _ := splitZone(strings.TrimSpace(t.Value))
		day, _, _ := strings.Cut(body, "T")
		return ttl.NewTyped(day+zone, datatype), nil
	case t.Datatype == xsdDate && datatype == ttl.XSDDateTime:
		body, zone, _ := splitZone(strings.TrimSpace(t.Value))
		t = ttl.NewString(body + "T00:00:00" + zone)
	case t.Datatype != "" && t.Datatype != datatype:
		return ttl.Term{}, errEval
	}
	out := ttl.NewTyped(strings.TrimSpace(t.Value), datatype)
	if t.Lang != "" || valueOf(out).fam == famBad {
		return ttl.Term{}, errEval
	}
	return out, nil
}

// castNumber returns the number that a literal is cast from: a number, a
// boolean, or a string that parse reads.
func castNumber(t ttl.Term, parse func(string) (number, bool)) (number, error) {
	if n, ok := numberOf(t); ok {
		return n, nil
	}
	if t.Kind == ttl.Literal && t.Datatype == ttl.XSDBoolean {
		if b, ok := parseBool(t.Value); ok {
			return intNumber(int64(boolInt(b))), nil
		}
	}
	if isPlain(t) {
		if n, ok := parse(strings.TrimSpace(t.Value)); ok {
			return n, nil
		}
	}
	return number{}, errEval
}

func castFloat(t ttl.Term, k numKind) (ttl.Term, error) {
	n, err := castNumber(t, func(s string) (number, bool) { return parseFloat(s, k) })
	if err != nil {
		return ttl.Term{}, err
	}
	f := n.float()
	if k == nFloat {
		f = float64(float32(f))
	}
	return number{kind: k, f: f}.term(), nil
}

func castExact(t ttl.Term, k numKind, datatype string) (ttl.Term, error) {
	parse := parseDecimal
	if k == nInteger {
		parse = parseInteger
	}
	n, err := castNumber(t, parse)
	if err != nil {
		return ttl.Term{}, err
	}
	if n.kind >= nFloat {
		r := new(big.Rat)
		if math.IsNaN(n.f) || math.IsInf(n.f, 0) {
			return ttl.Term{}, errEval
		}
		// The shortest decimal that reads back as the same float, not its
		// every binary digit.
		bits := 64
		if n.kind == nFloat {
			bits = 32
		}
		r.SetString(strconv.FormatFloat(n.f, 'f', -1, bits))
		n = number{kind: nDecimal, r: r}
	}
	if k == nInteger {
		n = truncated(n)
	} else {
		n = number{kind: nDecimal, r: n.rat()}
	}
	out := ttl.NewTyped(n.term().Value, datatype)
	if _, ok := numberOf(out); !ok {
		return ttl.Term{}, errEval
	}
	return out, nil
}

// truncated drops a number's fraction.
func truncated(n number) number {
	r := n.rat()
	return exact(nInteger, new(big.Rat).SetInt(new(big.Int).Quo(r.Num(), r.Denom())))
}
