package shacl

import (
	"slices"
	"strconv"

	"github.com/seed-ff860830/banyan/ttl"
)

// constraint is one constraint of a shape. Its component is the local name
// without "ConstraintComponent".
type constraint struct {
	component string
	check     func(r *run, e *eval, c constraint)
}

// component reads the constraints that the values of one parameter state.
type component func(l *loader, s *shape, values []ttl.Term) ([]constraint, error)

// components are the parameters of SHACL Core that make a constraint; it is
// filled in init, since shapes contain shapes.
var (
	components     map[string]component
	componentNames []string
)

func init() {
	components = map[string]component{
		"class":               classes,
		"datatype":            datatypes,
		"nodeKind":            nodeKinds,
		"minCount":            minCount,
		"maxCount":            maxCount,
		"minInclusive":        bound("MinInclusive", func(n int) bool { return n >= 0 }),
		"minExclusive":        bound("MinExclusive", func(n int) bool { return n > 0 }),
		"maxInclusive":        bound("MaxInclusive", func(n int) bool { return n <= 0 }),
		"maxExclusive":        bound("MaxExclusive", func(n int) bool { return n < 0 }),
		"minLength":           length("MinLength", func(n, bound int) bool { return n >= bound }),
		"maxLength":           length("MaxLength", func(n, bound int) bool { return n <= bound }),
		"pattern":             pattern,
		"languageIn":          languageIn,
		"uniqueLang":          uniqueLang,
		"equals":              equals,
		"disjoint":            disjoint,
		"lessThan":            less("LessThan", func(n int) bool { return n < 0 }),
		"lessThanOrEquals":    less("LessThanOrEquals", func(n int) bool { return n <= 0 }),
		"not":                 logicNot,
		"and":                 logic("And", func(hits, all int) bool { return hits == all }),
		"or":                  logic("Or", func(hits, _ int) bool { return hits > 0 }),
		"xone":                logic("Xone", func(hits, _ int) bool { return hits == 1 }),
		"node":                nodes,
		"property":            properties,
		"qualifiedValueShape": qualified,
		"closed":              closed,
		"hasValue":            hasValue,
		"in":                  in,
	}
	for name := range components {
		componentNames = append(componentNames, name)
	}
	slices.Sort(componentNames) // so that the same data gives the same report
}

// each is a constraint that holds of a value by itself.
func each(name, text string, ok func(r *run, v value) bool) constraint {
	return constraint{name, func(r *run, e *eval, c constraint) {
		for _, v := range e.values {
			if !r.spend(1) || e.out.full() {
				return
			}
			if !ok(r, v) {
				e.fail(c, v, text)
			}
		}
	}}
}

// one returns the only value of a parameter.
func one(s *shape, name string, values []ttl.Term) (ttl.Term, error) {
	if len(values) != 1 {
		return ttl.Term{}, malformed(s.node, "sh:"+name+" has more than one value")
	}
	return values[0], nil
}

// number reads a parameter that counts something.
func number(s *shape, name string, values []ttl.Term) (int, error) {
	t, err := one(s, name, values)
	if err != nil {
		return 0, err
	}
	n, convErr := strconv.Atoi(t.Value)
	if convErr != nil || n < 0 || t.Datatype != ttl.XSDInteger {
		return 0, malformed(s.node, "sh:"+name+" is a whole number, not below zero")
	}
	return n, nil
}

func classes(_ *loader, s *shape, values []ttl.Term) ([]constraint, error) {
	var out []constraint
	for _, class := range values {
		if class.Kind != ttl.IRI {
			return nil, malformed(s.node, "sh:class is an IRI")
		}
		out = append(out, each("Class", "it is not of class <"+class.Value+">", func(r *run, v value) bool {
			return v.term.Kind != ttl.Literal && r.isA(v.term, class)
		}))
	}
	return out, nil
}

func datatypes(_ *loader, s *shape, values []ttl.Term) ([]constraint, error) {
	t, err := one(s, "datatype", values)
	if err != nil || t.Kind != ttl.IRI {
		return nil, malformed(s.node, "sh:datatype is one IRI")
	}
	return []constraint{each("Datatype", "it is not a literal of <"+t.Value+">", func(_ *run, v value) bool {
		return v.term.DatatypeIRI() == t.Value && lexical(v.term)
	})}, nil
}

// kindNames are the kinds of nodes by their names in SHACL.
var kindNames = map[string][]ttl.Kind{
	"IRI": {ttl.IRI}, "BlankNode": {ttl.Blank}, "Literal": {ttl.Literal},
	"BlankNodeOrIRI": {ttl.Blank, ttl.IRI}, "BlankNodeOrLiteral": {ttl.Blank, ttl.Literal}, "IRIOrLiteral": {ttl.IRI, ttl.Literal},
}

func nodeKinds(_ *loader, s *shape, values []ttl.Term) ([]constraint, error) {
	t, err := one(s, "nodeKind", values)
	if err != nil {
		return nil, err
	}
	for name, kinds := range kindNames {
		if t == sh(name) {
			return []constraint{each("NodeKind", "its kind is not "+name, func(_ *run, v value) bool {
				return slices.Contains(kinds, v.term.Kind)
			})}, nil
		}
	}
	return nil, malformed(s.node, "sh:nodeKind is not one of SHACL's kinds")
}

// needsPath refuses what only a property shape can state.
func needsPath(s *shape, name string) error {
	if s.path == nil {
		return malformed(s.node, "sh:"+name+" needs a property shape")
	}
	return nil
}

func minCount(_ *loader, s *shape, values []ttl.Term) ([]constraint, error) {
	n, err := number(s, "minCount", values)
	if err == nil {
		err = needsPath(s, "minCount")
	}
	return []constraint{{"MinCount", func(_ *run, e *eval, c constraint) {
		if len(e.values) < n {
			e.fail(c, value{at: noStatement}, "it has fewer than "+strconv.Itoa(n)+" values")
		}
	}}}, err
}

func maxCount(_ *loader, s *shape, values []ttl.Term) ([]constraint, error) {
	n, err := number(s, "maxCount", values)
	if err == nil {
		err = needsPath(s, "maxCount")
	}
	return []constraint{{"MaxCount", func(_ *run, e *eval, c constraint) {
		if len(e.values) > n {
			// No one value is at fault, but the first too many shows where.
			e.fail(c, value{at: e.values[n].at}, "it has more than "+strconv.Itoa(n)+" values")
		}
	}}}, err
}

func hasValue(_ *loader, _ *shape, values []ttl.Term) ([]constraint, error) {
	var out []constraint
	for _, want := range values {
		out = append(out, constraint{"HasValue", func(_ *run, e *eval, c constraint) {
			if !slices.ContainsFunc(e.values, func(v value) bool { return v.term == want }) {
				e.fail(c, value{at: noStatement}, "it lacks a value")
			}
		}})
	}
	return out, nil
}

func in(l *loader, s *shape, values []ttl.Term) ([]constraint, error) {
	t, err := one(s, "in", values)
	if err != nil {
		return nil, err
	}
	items, ok := l.g.list(t)
	if !ok {
		return nil, malformed(s.node, "sh:in is a list")
	}
	set := make(map[ttl.Term]bool, len(items))
	for _, x := range items {
		set[x] = true
	}
	return []constraint{each("In", "it is not one of the values allowed", func(_ *run, v value) bool { return set[v.term] })}, nil
}
