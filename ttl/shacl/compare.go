package shacl

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seed-ff860830/banyan/ttl"
)

func bound(name string, ok func(n int) bool) component {
	word := strings.ToLower(name[:1]) + name[1:]
	return func(_ *loader, s *shape, values []ttl.Term) ([]constraint, error) {
		limit, err := one(s, word, values)
		if _, same := compare(limit, limit); err == nil && !same {
			err = malformed(s.node, "sh:"+word+" is not a value that has an order")
		}
		return []constraint{each(name, "it is not within the bound "+limit.Value, func(_ *run, v value) bool {
			n, can := compare(v.term, limit)
			return can && ok(n)
		})}, err
	}
}

// others returns the values of another property of the focus node.
func (r *run) others(e *eval, p ttl.Term) []value { return r.step(p, e.focus.term, false) }

// pair makes a constraint for each property that the values are held against.
func pair(name string, check func(r *run, e *eval, c constraint, p ttl.Term)) component {
	return func(_ *loader, s *shape, values []ttl.Term) ([]constraint, error) {
		var out []constraint
		for _, p := range values {
			if p.Kind != ttl.IRI {
				return nil, malformed(s.node, "a property that values are held against is an IRI")
			}
			out = append(out, constraint{name, func(r *run, e *eval, c constraint) { check(r, e, c, p) }})
		}
		return out, nil
	}
}

// set is values for quick look-up.
func set(vs []value) map[ttl.Term]bool {
	m := make(map[ttl.Term]bool, len(vs))
	for _, v := range vs {
		m[v.term] = true
	}
	return m
}

func equals(l *loader, s *shape, values []ttl.Term) ([]constraint, error) {
	return pair("Equals", func(r *run, e *eval, c constraint, p ttl.Term) {
		others := r.others(e, p)
		here, there := set(e.values), set(others)
		for _, v := range e.values {
			if !there[v.term] {
				e.fail(c, v, "it is not a value of <"+p.Value+">")
			}
		}
		for _, v := range others {
			if !here[v.term] {
				e.fail(c, v, "a value of <"+p.Value+"> is lacking")
			}
		}
	})(l, s, values)
}

func disjoint(l *loader, s *shape, values []ttl.Term) ([]constraint, error) {
	return pair("Disjoint", func(r *run, e *eval, c constraint, p ttl.Term) {
		there := set(r.others(e, p))
		for _, v := range e.values {
			if there[v.term] {
				e.fail(c, v, "it is a value of <"+p.Value+"> too")
			}
		}
	})(l, s, values)
}

func less(name string, ok func(n int) bool) component {
	return func(l *loader, s *shape, values []ttl.Term) ([]constraint, error) {
		if err := needsPath(s, name); err != nil {
			return nil, err
		}
		return pair(name, func(r *run, e *eval, c constraint, p ttl.Term) {
			others := r.others(e, p)
			for _, v := range e.values {
				for _, o := range others {
					if !r.spend(1) || e.out.full() {
						return
					}
					if n, can := compare(v.term, o.term); !can || !ok(n) {
						e.fail(c, v, "it is not less than a value of <"+p.Value+">")
					}
				}
			}
		})(l, s, values)
	}
}

// compare orders two literals as SPARQL's < does; false if they have no
// order, for instance a time with a zone and one without that lie near.
func compare(a, b ttl.Term) (int, bool) {
	if a.Kind != ttl.Literal || b.Kind != ttl.Literal || !lexical(a) || !lexical(b) {
		return 0, false
	}
	da, db := a.DatatypeIRI(), b.DatatypeIRI()
	switch {
	case isNumber(da) && isNumber(db):
		return compareNumbers(a, b)
	case da != db:
		return 0, false
	case da == ttl.XSDString:
		return cmp.Compare(a.Value, b.Value), true
	case da == ttl.XSDBoolean:
		return cmp.Compare(truth(a), truth(b)), true
	}
	layout, ok := timeLayouts[strings.TrimPrefix(da, ttl.XSD)]
	if !ok {
		return 0, false
	}
	return compareTimes(a.Value, b.Value, layout)
}

func truth(t ttl.Term) int {
	if v := trim(t.Value); v == "true" || v == "1" {
		return 1
	}
	return 0
}

func compareNumbers(a, b ttl.Term) (int, bool) {
	if !isFloat(a.Datatype) && !isFloat(b.Datatype) {
		return compareDecimals(trim(a.Value), trim(b.Value)), true
	}
	x, y := float(a), float(b)
	return cmp.Compare(x, y), !math.IsNaN(x) && !math.IsNaN(y)
}

// float reads a number whose form is checked. What is out of range is
// infinite or nothing.
func float(t ttl.Term) float64 {
	f, _ := strconv.ParseFloat(trim(t.Value), 64)
	return f
}

// compareDecimals compares numbers of any length exactly, in one pass over
// their digits.
func compareDecimals(a, b string) int {
	negA, intA, fracA := split(a)
	negB, intB, fracB := split(b)
	if negA != negB {
		if negA {
			return -1
		}
		return 1
	}
	n := cmp.Or(cmp.Compare(len(intA), len(intB)), cmp.Compare(intA, intB), cmp.Compare(fracA, fracB))
	if negA {
		return -n
	}
	return n
}

// split returns a number's sign and its digits without zeros that say nothing.
func split(s string) (negative bool, whole, fraction string) {
	negative = strings.HasPrefix(s, "-")
	whole, fraction, _ = strings.Cut(strings.TrimLeft(s, "+-"), ".")
	whole, fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	return negative && whole+fraction != "", whole, fraction
}

// timeLayouts are the datatypes of time that are compared, as Go writes them.
var timeLayouts = map[string]string{
	"dateTime": "2006-01-02T15:04:05.999999999", "dateTimeStamp": "2006-01-02T15:04:05.999999999", "date": "2006-01-02", "time": "15:04:05.999999999",
}

// compareTimes compares as XML Schema does: where one has no zone, the two
// have an order only if they lie more than 14 hours apart.
func compareTimes(a, b, layout string) (int, bool) {
	x, zoneX, okX := parseTime(trim(a), layout)
	y, zoneY, okY := parseTime(trim(b), layout)
	if !okX || !okY {
		return 0, false
	}
	if zoneX == zoneY {
		return x.Compare(y), true
	}
	apart := x.Sub(y)
	return x.Compare(y), apart > 14*time.Hour || apart < -14*time.Hour
}

func parseTime(s, layout string) (t time.Time, zone, ok bool) {
	if t, err := time.Parse(layout+"Z07:00", s); err == nil {
		return t, true, true
	}
	t, err := time.Parse(layout, s)
	return t, false, err == nil
}
