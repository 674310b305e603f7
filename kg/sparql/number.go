package sparql

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/seed-ff860830/banyan/ttl"
)

// The numeric types, in the order of promotion (section 17.3).
type numKind uint8

const (
	nInteger numKind = iota
	nDecimal
	nFloat
	nDouble
)

// number is a numeric value. Integers that fit stand in i; greater ones and
// decimals in r, exactly; floats and doubles in f.
type number struct {
	kind numKind
	i    int64
	r    *big.Rat
	f    float64
}

// maxDigits bounds the digits of an exact number, so that no chain of products
// takes more than its share of time and memory.
const maxDigits = 2000

const xsdFloat = ttl.XSD + "float"

// integerTypes are the types derived from xsd:integer, with their ranges as
// far as they have one.
var integerTypes = map[string][2]string{
	"integer": {}, "nonPositiveInteger": {"", "0"}, "negativeInteger": {"", "-1"}, "nonNegativeInteger": {"0", ""}, "positiveInteger": {"1", ""},
	"long": {"-9223372036854775808", "9223372036854775807"}, "int": {"-2147483648", "2147483647"}, "short": {"-32768", "32767"}, "byte": {"-128", "127"},
	"unsignedLong": {"0", "18446744073709551615"}, "unsignedInt": {"0", "4294967295"}, "unsignedShort": {"0", "65535"}, "unsignedByte": {"0", "255"},
}

func intNumber(i int64) number     { return number{i: i} }
func floatNumber(f float64) number { return number{kind: nDouble, f: f} }
func exact(k numKind, r *big.Rat) number {
	if k == nInteger && r.IsInt() && r.Num().IsInt64() {
		return number{i: r.Num().Int64()}
	}
	return number{kind: k, r: r}
}

// isNumeric reports whether a datatype is one of the numeric ones.
func isNumeric(datatype string) bool {
	local, ok := strings.CutPrefix(datatype, ttl.XSD)
	if !ok {
		return false
	}
	if _, ok := integerTypes[local]; ok {
		return true
	}
	return local == "decimal" || local == "float" || local == "double"
}

// numberOf returns a literal's numeric value; false if it has none.
func numberOf(t ttl.Term) (number, bool) {
	local, ok := strings.CutPrefix(t.Datatype, ttl.XSD)
	if t.Kind != ttl.Literal || !ok {
		return number{}, false
	}
	text := strings.Trim(t.Value, " \t\r\n")
	switch local {
	case "decimal":
		return parseDecimal(text)
	case "double":
		return parseFloat(text, nDouble)
	case "float":
		return parseFloat(text, nFloat)
	}
	bounds, ok := integerTypes[local]
	if !ok {
		return number{}, false
	}
	n, ok := parseInteger(text)
	if !ok || local != "integer" && !inBounds(n, bounds) {
		return number{}, false
	}
	return n, true
}

func inBounds(n number, bounds [2]string) bool {
	low, lowOK := parseInteger(bounds[0])
	high, highOK := parseInteger(bounds[1])
	return !(lowOK && compareNumbers(n, low) < 0) && !(highOK && compareNumbers(n, high) > 0)
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

func parseInteger(s string) (number, bool) {
	digits := strings.TrimLeft(s, "+-")
	if digits == "" || len(s)-len(digits) > 1 || !allDigits(digits) || len(digits) > maxDigits {
		return number{}, false
	}
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return number{i: i}, true
	}
	r, ok := new(big.Rat).SetString(s)
	return number{r: r}, ok
}

func parseDecimal(s string) (number, bool) {
	body := strings.TrimLeft(s, "+-")
	whole, frac, _ := strings.Cut(body, ".")
	if whole+frac == "" || len(s)-len(body) > 1 || !allDigits(whole+frac) || len(body) > maxDigits {
		return number{}, false
	}
	if whole == "" {
		whole = "0"
	}
	sign := s[:len(s)-len(body)]
	r, ok := new(big.Rat).SetString(sign + whole + "." + frac + "0")
	return number{kind: nDecimal, r: r}, ok
}

func parseFloat(s string, k numKind) (number, bool) {
	switch s {
	case "INF", "+INF":
		return number{kind: k, f: math.Inf(1)}, true
	case "-INF":
		return number{kind: k, f: math.Inf(-1)}, true
	case "NaN":
		return number{kind: k, f: math.NaN()}, true
	}
	if s == "" || strings.Trim(s, "0123456789+-.eE") != "" {
		return number{}, false
	}
	bits := 64
	if k == nFloat {
		bits = 32
	}
	f, err := strconv.ParseFloat(s, bits)
	if err != nil && !math.IsInf(f, 0) {
		return number{}, false
	}
	return number{kind: k, f: f}, true
}

// rat returns an exact number as a fraction.
func (n number) rat() *big.Rat {
	if n.r != nil {
		return n.r
	}
	return new(big.Rat).SetInt64(n.i)
}

// float returns any number as a double.
func (n number) float() float64 {
	switch {
	case n.kind >= nFloat:
		return n.f
	case n.r != nil:
		f, _ := n.r.Float64()
		return f
	}
	return float64(n.i)
}

// term returns the literal of a number.
func (n number) term() ttl.Term {
	switch n.kind {
	case nInteger:
		if n.r != nil {
			return ttl.NewTyped(n.r.Num().String(), ttl.XSDInteger)
		}
		return ttl.NewTyped(strconv.FormatInt(n.i, 10), ttl.XSDInteger)
	case nDecimal:
		return ttl.NewTyped(formatDecimal(n.rat()), ttl.XSDDecimal)
	case nFloat:
		return ttl.NewTyped(formatFloat(n.f, 32), xsdFloat)
	}
	return ttl.NewTyped(formatFloat(n.f, 64), ttl.XSDDouble)
}

// fractionDigits is how many digits a quotient that does not end is rounded to.
const fractionDigits = 24

// formatDecimal writes a decimal with at least one digit behind the point.
func formatDecimal(r *big.Rat) string {
	prec, ends := r.FloatPrec()
	if !ends {
		prec = fractionDigits
	}
	s := r.FloatString(max(prec, 1))
	if s = strings.TrimRight(s, "0"); strings.HasSuffix(s, ".") {
		s += "0"
	}
	return s
}

// formatFloat writes the canonical form of XML Schema 1.0: 1.5E0.
func formatFloat(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "INF"
	case math.IsInf(f, -1):
		return "-INF"
	}
	s := strconv.FormatFloat(f, 'E', -1, bits)
	mantissa, exp, _ := strings.Cut(s, "E")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	e, _ := strconv.Atoi(exp)
	return mantissa + "E" + strconv.Itoa(e)
}
