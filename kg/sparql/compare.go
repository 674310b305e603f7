package sparql

import (
	"strings"
	"time"

	"github.com/seed-ff860830/banyan/ttl"
)

// family groups the datatypes whose values are compared with one another.
type family uint8

const (
	famNumber family = iota
	famBoolean
	famTime
	famDate
	famString
	famLang
	famOther
	famBad // a known datatype, but a text that is none of its values
)

// value is what a literal stands for.
type value struct {
	fam    family
	num    number
	truth  bool
	at     time.Time
	zoneIn bool
}

// valueOf reads a literal's value.
func valueOf(t ttl.Term) value {
	switch {
	case t.Lang != "":
		return value{fam: famLang}
	case t.Datatype == "":
		return value{fam: famString}
	case isNumeric(t.Datatype):
		n, ok := numberOf(t)
		if !ok {
			return value{fam: famBad}
		}
		return value{fam: famNumber, num: n}
	case t.Datatype == ttl.XSDBoolean:
		b, ok := parseBool(t.Value)
		if !ok {
			return value{fam: famBad}
		}
		return value{fam: famBoolean, truth: b}
	case t.Datatype == ttl.XSDDateTime:
		return timeValue(famTime, t.Value, "2006-01-02T15:04:05.999999999")
	case t.Datatype == xsdDate:
		return timeValue(famDate, t.Value, "2006-01-02")
	}
	return value{fam: famOther}
}

func timeValue(fam family, text, layout string) value {
	at, zone, ok := parseTime(text, layout)
	if !ok {
		return value{fam: famBad}
	}
	return value{fam: fam, at: at, zoneIn: zone}
}

func parseBool(s string) (value, ok bool) {
	switch s {
	case "true", "1":
		return true, true
	case "false", "0":
		return false, true
	}
	return false, false
}

// equal is RDFterm-equal and the '=' of the value types: errEval where the
// values cannot be compared.
func equal(a, b ttl.Term) (bool, error) {
	if a.Kind != ttl.Literal || b.Kind != ttl.Literal {
		return a == b, nil
	}
	x, y := valueOf(a), valueOf(b)
	if x.fam == famNumber && y.fam == famNumber {
		return !x.num.isNaN() && !y.num.isNaN() && compareNumbers(x.num, y.num) == 0, nil
	}
	if a == b {
		return true, nil
	}
	if x.fam == y.fam {
		switch x.fam {
		case famBoolean:
			return x.truth == y.truth, nil
		case famString:
			return false, nil
		case famLang:
			return a.Value == b.Value && strings.EqualFold(a.Lang, b.Lang), nil
		case famTime, famDate:
			c, ok := compareTimes(x, y)
			if !ok {
				return false, errEval
			}
			return c == 0, nil
		}
	}
	if x.fam == famTime && y.fam == famDate || x.fam == famDate && y.fam == famTime {
		return false, nil // a day is no instant
	}
	if x.fam == famLang || y.fam == famLang {
		return false, nil // no other literal is a language-tagged string
	}
	return false, errEval
}

// compareTimes compares two times; one without a zone may lie anywhere within
// 14 hours (XML Schema, section 3.2.7.4).
func compareTimes(a, b value) (int, bool) {
	d := a.at.Sub(b.at)
	if a.zoneIn != b.zoneIn && d.Abs() <= 14*time.Hour {
		return 0, false
	}
	return a.at.Compare(b.at), true
}

// less compares for '<' and its kin.
func less(a, b ttl.Term) (int, error) {
	if a.Kind != ttl.Literal || b.Kind != ttl.Literal {
		return 0, errEval
	}
	x, y := valueOf(a), valueOf(b)
	if x.fam != y.fam {
		return 0, errEval
	}
	switch x.fam {
	case famNumber:
		if x.num.isNaN() || y.num.isNaN() {
			return 0, errNaN
		}
		return compareNumbers(x.num, y.num), nil
	case famBoolean:
		return cmpOrdered(boolInt(x.truth), boolInt(y.truth)), nil
	case famString:
		return cmpOrdered(a.Value, b.Value), nil
	case famTime, famDate:
		if c, ok := compareTimes(x, y); ok {
			return c, nil
		}
	}
	return 0, errEval
}

// orderTerms is the order of ORDER BY: unbound, blank nodes, IRIs, literals;
// literals by value within their kind. It is total, so that sorting is sound.
func orderTerms(a, b ttl.Term) int {
	if a.Kind != b.Kind {
		return cmpOrdered(kindRank[a.Kind], kindRank[b.Kind])
	}
	if a.Kind != ttl.Literal {
		return cmpOrdered(a.Value, b.Value)
	}
	x, y := valueOf(a), valueOf(b)
	if x.fam != y.fam {
		return cmpOrdered(int(x.fam), int(y.fam))
	}
	c := 0
	switch x.fam {
	case famNumber:
		c = compareNumbers(x.num, y.num)
	case famBoolean:
		c = cmpOrdered(boolInt(x.truth), boolInt(y.truth))
	case famTime, famDate:
		c = x.at.Compare(y.at)
	}
	for _, s := range [...][2]string{{a.Value, b.Value}, {a.Lang, b.Lang}, {a.Datatype, b.Datatype}} {
		if c != 0 {
			return c
		}
		if x.fam <= famDate {
			return c // equal values stay in the order they came
		}
		c = cmpOrdered(s[0], s[1])
	}
	return c
}

// kindRank orders the kinds of terms.
var kindRank = [...]int{ttl.None: 0, ttl.Blank: 1, ttl.IRI: 2, ttl.Literal: 3}
