package shacl

import (
	"strings"

	"github.com/seed-ff860830/banyan/ttl"
)

// pathKind tells the forms of a path apart.
type pathKind uint8

const (
	pathPredicate pathKind = iota
	pathInverse
	pathSequence
	pathAlternative
	pathZeroOrMore
	pathOneOrMore
	pathZeroOrOne
)

// path is a SHACL property path; one of a predicate has no parts.
type path struct {
	kind      pathKind
	predicate ttl.Term
	parts     []*path
}

// unary are the properties that wrap one path.
var unary = []struct {
	local string
	kind  pathKind
	text  string
}{
	{"inversePath", pathInverse, "^"},
	{"zeroOrMorePath", pathZeroOrMore, "*"},
	{"oneOrMorePath", pathOneOrMore, "+"},
	{"zeroOrOnePath", pathZeroOrOne, "?"},
}

// path reads a path of the shapes.
func (l *loader) path(n ttl.Term, depth int) (*path, error) {
	l.nodes++
	if depth > maxNesting || l.nodes > maxShapes {
		return nil, malformed(n, "its path is too deep, too long or circular")
	}
	if n.Kind == ttl.IRI && n.Value != ttl.RDFNil {
		return &path{kind: pathPredicate, predicate: n}, nil
	}
	if alts := l.g.objects(n, sh("alternativePath")); len(alts) == 1 {
		return l.pathList(alts[0], pathAlternative, depth)
	}
	for _, u := range unary {
		if inner := l.g.objects(n, sh(u.local)); len(inner) == 1 {
			p, err := l.path(inner[0], depth+1)
			return &path{kind: u.kind, parts: []*path{p}}, err
		}
	}
	return l.pathList(n, pathSequence, depth)
}

func (l *loader) pathList(head ttl.Term, kind pathKind, depth int) (*path, error) {
	items, ok := l.g.list(head)
	if !ok || len(items) < 2 {
		return nil, malformed(head, "it is not a path")
	}
	p := &path{kind: kind}
	for _, n := range items {
		part, err := l.path(n, depth+1)
		if err != nil {
			return nil, err
		}
		p.parts = append(p.parts, part)
	}
	return p, nil
}

// String returns the path as SPARQL writes it.
func (p *path) String() string {
	if p == nil {
		return ""
	}
	texts := make([]string, len(p.parts))
	for i, x := range p.parts {
		texts[i] = x.String()
	}
	switch p.kind {
	case pathPredicate:
		return "<" + p.predicate.Value + ">"
	case pathInverse:
		return "^" + texts[0]
	case pathSequence:
		return "(" + strings.Join(texts, "/") + ")"
	case pathAlternative:
		return "(" + strings.Join(texts, "|") + ")"
	}
	for _, u := range unary {
		if u.kind == p.kind {
			return "(" + texts[0] + ")" + u.text
		}
	}
	return ""
}

// value is a value node and the statement that leads to it, noStatement if
// none does.
type value struct {
	term ttl.Term
	at   int
}

// walk returns the nodes that a path reaches from a node, each once.
func (r *run) walk(p *path, from value, inverse bool) []value {
	switch p.kind {
	case pathPredicate:
		return r.step(p.predicate, from.term, inverse)
	case pathInverse:
		return r.walk(p.parts[0], from, !inverse)
	case pathSequence:
		return r.sequence(p, from, inverse)
	case pathAlternative:
		var all []value
		for _, part := range p.parts {
			all = append(all, r.walk(part, from, inverse)...)
		}
		return distinct(all)
	case pathZeroOrOne:
		return distinct(append([]value{from}, r.walk(p.parts[0], from, inverse)...))
	}
	return r.closure(p, from, inverse)
}

func (r *run) step(p, from ttl.Term, inverse bool) []value {
	g := &r.d.out
	if inverse {
		g = &r.d.in
	}
	rows := r.d.with(g, from, p)
	if !r.spend(1 + len(rows)) {
		return nil
	}
	out := make([]value, len(rows))
	for i, e := range rows {
		out[i] = value{r.d.terms[e.far], e.at}
	}
	return distinct(out)
}

func (r *run) sequence(p *path, from value, inverse bool) []value {
	at := []value{from}
	for i := range p.parts {
		part := p.parts[i]
		if inverse {
			part = p.parts[len(p.parts)-1-i]
		}
		var next []value
		for _, v := range at {
			next = append(next, r.walk(part, v, inverse)...)
			if r.err != nil {
				return nil
			}
		}
		at = distinct(next)
	}
	return at
}

// closure walks a path any number of times.
func (r *run) closure(p *path, from value, inverse bool) []value {
	seen := map[ttl.Term]struct{}{}
	var out, queue []value
	add := func(vs []value) {
		for _, v := range vs {
			if _, ok := seen[v.term]; !ok {
				seen[v.term] = struct{}{}
				out, queue = append(out, v), append(queue, v)
			}
		}
	}
	if p.kind == pathZeroOrMore {
		add([]value{from})
	} else {
		add(r.walk(p.parts[0], from, inverse))
	}
	for len(queue) > 0 && r.spend(1) {
		v := queue[0]
		queue = queue[1:]
		add(r.walk(p.parts[0], v, inverse))
	}
	return out
}

// distinct returns values without what comes twice, in place.
func distinct(vs []value) []value {
	if len(vs) < 2 {
		return vs
	}
	seen := make(map[ttl.Term]struct{}, len(vs))
	out := vs[:0]
	for _, v := range vs {
		if _, ok := seen[v.term]; !ok {
			seen[v.term] = struct{}{}
			out = append(out, v)
		}
	}
	return out
}
