package shacl

import (
	"slices"
	"strings"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// Shapes are a set of shapes that data can be held against. They are
// immutable, and safe for use by many goroutines.
type Shapes struct {
	targets []target
}

// shape is one node shape (path nil) or property shape.
type shape struct {
	node        ttl.Term
	path        *path
	pathText    string
	deactivated bool
	message     string
	severity    string
	constraints []constraint
}

// targetKind says how a target names its nodes.
type targetKind uint8

const (
	targetNode targetKind = iota
	targetClass
	targetSubjectsOf
	targetObjectsOf
)

// target is what nodes a shape is for.
type target struct {
	kind  targetKind
	term  ttl.Term
	shape *shape
}

// targetWords are the properties that state targets.
var targetWords = []struct {
	local string
	kind  targetKind
}{
	{"targetNode", targetNode},
	{"targetClass", targetClass},
	{"targetSubjectsOf", targetSubjectsOf},
	{"targetObjectsOf", targetObjectsOf},
}

// silent are the words of SHACL that a shape may use and that constrain
// nothing by themselves.
var silent = []string{
	"path", "targetNode", "targetClass", "targetSubjectsOf", "targetObjectsOf", "deactivated", "message", "severity",
	"name", "description", "order", "group", "defaultValue", "flags", "ignoredProperties",
	"qualifiedMinCount", "qualifiedMaxCount", "qualifiedValueShapesDisjoint",
}

// aside are the words that stand on nodes that are no shapes.
var aside = []string{
	"inversePath", "alternativePath", "zeroOrMorePath", "oneOrMorePath", "zeroOrOnePath",
	"shapesGraph", "suggestedShapesGraph", "entailment",
}

// loader reads shapes.
type loader struct {
	g      *Data
	shapes map[ttl.Term]*shape // nil while it is being read
	depth  int
	nodes  int // nodes of paths so far
}

// malformed is the error of shapes that are not SHACL Core.
func malformed(n ttl.Term, text string) error {
	name := "a blank node"
	if n.Kind == ttl.IRI {
		name = "<" + n.Value + ">"
	}
	return errs.New(errs.Invalid, "the shapes cannot be used: %s: %s", name, text)
}

// Load reads shapes from the statements of a shapes graph. It returns Invalid
// for shapes that are not well formed or refer to themselves, and Unsupported
// for what SHACL Core does not have, such as constraints in SPARQL.
func Load(ts []ttl.Triple) (*Shapes, error) {
	l := &loader{g: NewData(ts), shapes: map[ttl.Term]*shape{}}
	if err := l.words(ts); err != nil {
		return nil, err
	}
	out := &Shapes{}
	seen := map[ttl.Term]bool{}
	for _, t := range ts {
		if seen[t.S] || !l.isShape(t.S) {
			continue
		}
		seen[t.S] = true
		s, err := l.shape(t.S)
		if err != nil {
			return nil, err
		}
		out.targets = append(out.targets, l.targets(s)...)
	}
	return out, nil
}

// words refuses what SHACL Core does not have. A constraint that is skipped
// would let everything through.
func (l *loader) words(ts []ttl.Triple) error {
	for _, t := range ts {
		for _, n := range [...]ttl.Term{t.P, t.O} {
			local, ours := strings.CutPrefix(n.Value, NS)
			if !ours || n.Kind != ttl.IRI {
				continue
			}
			if strings.HasPrefix(local, "SPARQL") || strings.HasPrefix(local, "JS") || local == "ConstraintComponent" ||
				slices.Contains([]string{"sparql", "select", "ask", "js", "target", "rule", "expression", "parameter", "validator"}, local) {
				return errs.New(errs.Unsupported, "the shapes use sh:%s; only SHACL Core is supported, without SPARQL", local)
			}
		}
		if local, ours := strings.CutPrefix(t.P.Value, NS); ours && !known(local) {
			return malformed(t.S, "SHACL Core has no property sh:"+local)
		}
	}
	return nil
}

// known reports whether SHACL Core has a property.
func known(local string) bool {
	_, ok := components[local]
	return ok || slices.Contains(silent, local) || slices.Contains(aside, local)
}

// isShape reports whether a node is a shape by its class, its targets or its
// constraints.
func (l *loader) isShape(n ttl.Term) bool {
	for _, e := range l.g.all(&l.g.out, n) {
		p, o := l.g.terms[e.p].Value, l.g.terms[e.far]
		if p == ttl.RDFType && (o == sh("NodeShape") || o == sh("PropertyShape")) {
			return true
		}
		local, ours := strings.CutPrefix(p, NS)
		if _, ok := components[local]; ours && (ok || strings.HasPrefix(local, "target")) {
			return true
		}
	}
	return false
}

// targets returns the targets of a shape, with that of a shape that is a
// class too.
func (l *loader) targets(s *shape) []target {
	var out []target
	for _, w := range targetWords {
		for _, o := range l.g.objects(s.node, sh(w.local)) {
			out = append(out, target{w.kind, o, s})
		}
	}
	typ := ttl.NewIRI(ttl.RDFType)
	if s.node.Kind == ttl.IRI && (l.g.has(s.node, typ, ttl.NewIRI(rdfsClass)) || l.g.has(s.node, typ, ttl.NewIRI(owlClass))) {
		out = append(out, target{targetClass, s.node, s})
	}
	return out
}

// shape reads one shape and what it refers to.
func (l *loader) shape(n ttl.Term) (*shape, error) {
	if s, ok := l.shapes[n]; ok {
		if s == nil {
			return nil, malformed(n, "the shape refers to itself")
		}
		return s, nil
	}
	if n.Kind == ttl.Literal {
		return nil, malformed(n, "a literal is no shape")
	}
	if l.depth == maxNesting || len(l.shapes) == maxShapes {
		return nil, malformed(n, "the shapes are too many or nest too deep")
	}
	l.shapes[n] = nil
	l.depth++
	defer func() { l.depth-- }()
	s, err := l.header(n)
	if err != nil {
		return nil, err
	}
	for _, name := range componentNames {
		values := l.g.objects(n, sh(name))
		if len(values) == 0 {
			continue
		}
		cs, err := components[name](l, s, values)
		if err != nil {
			return nil, err
		}
		s.constraints = append(s.constraints, cs...)
	}
	l.shapes[n] = s
	return s, nil
}

// header reads what a shape is apart from its constraints.
func (l *loader) header(n ttl.Term) (*shape, error) {
	s := &shape{node: n, severity: NS + "Violation"}
	paths := l.g.objects(n, sh("path"))
	if len(paths) > 1 || len(paths) == 0 && l.g.has(n, ttl.NewIRI(ttl.RDFType), sh("PropertyShape")) {
		return nil, malformed(n, "a property shape has one sh:path")
	}
	if len(paths) == 1 {
		p, err := l.path(paths[0], 0)
		if err != nil {
			return nil, err
		}
		s.path, s.pathText = p, p.String()
	}
	if o := l.g.objects(n, sh("severity")); len(o) > 0 {
		if len(o) > 1 || o[0].Kind != ttl.IRI {
			return nil, malformed(n, "sh:severity is one IRI")
		}
		s.severity = o[0].Value
	}
	var err error
	if s.deactivated, err = l.flag(n, "deactivated"); err != nil {
		return nil, err
	}
	// Of several messages one without a language is taken, or one in English.
	for _, m := range l.g.objects(n, sh("message")) {
		if m.Kind != ttl.Literal {
			return nil, malformed(n, "sh:message is a string")
		}
		if s.message == "" || m.Lang == "" || strings.HasPrefix(strings.ToLower(m.Lang), "en") {
			s.message = m.Value
		}
	}
	return s, nil
}

// flag reads a property that is true or false, and false if it is not there.
func (l *loader) flag(n ttl.Term, local string) (bool, error) {
	o := l.g.objects(n, sh(local))
	if len(o) == 0 {
		return false, nil
	}
	if len(o) > 1 || o[0].Datatype != ttl.XSDBoolean || !lexical(o[0]) {
		return false, malformed(n, "sh:"+local+" is true or false")
	}
	return o[0].Value == "true" || o[0].Value == "1", nil
}
