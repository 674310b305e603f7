package oracle

import "strings"

// group draws a group graph pattern. In one under GRAPH there is no other
// GRAPH.
func (s *source) group(depth int, inGraph bool) string {
	var out strings.Builder
	out.WriteString("{ ")
	for range 1 + s.upTo(2) {
		out.WriteString(s.element(depth, inGraph))
	}
	out.WriteString("}")
	return out.String()
}

func (s *source) element(depth int, inGraph bool) string {
	if depth <= 0 {
		return s.triples()
	}
	switch s.pickOf("triples", "triples2", "path", "OPTIONAL", "UNION", "MINUS", "FILTER", "BIND", "VALUES", "subselect", "GRAPH", "group") {
	case "path":
		if s.avoid["literal as subject"] {
			return "?x " + s.pick("^:p", ":p/:q", ":p+", "(^:q)+") + " ?y . "
		}
		if s.avoid["path of a term"] {
			return s.variable() + " " + s.path(2) + " " + s.variable() + " . "
		}
		return s.end() + " " + s.path(2) + " " + s.end() + " . "
	case "OPTIONAL":
		return "OPTIONAL " + s.group(depth-1, inGraph) + " "
	case "UNION":
		return s.group(depth-1, inGraph) + " UNION " + s.group(depth-1, inGraph) + " "
	case "MINUS":
		return "MINUS " + s.group(depth-1, inGraph) + " "
	case "FILTER":
		return "FILTER(" + s.boolean(depth) + ") "
	case "BIND":
		return "BIND(" + s.any(depth) + " AS " + s.fresh() + ") "
	case "VALUES":
		return s.values()
	case "subselect":
		return "{ " + s.selection(depth-1, inGraph) + " } "
	case "GRAPH":
		if !inGraph {
			return s.named(depth)
		}
	case "group":
		return s.group(depth-1, inGraph) + " "
	}
	return s.triples()
}

// named draws a GRAPH.
func (s *source) named(depth int) string {
	name := s.pickOf(":g1", "?z", ":g2", "?g")
	if s.avoid["GRAPH without triples"] {
		return "GRAPH " + name + " { " + s.triples() + s.group(depth-1, true) + " } "
	}
	return "GRAPH " + name + " " + s.group(depth-1, true) + " "
}

func (s *source) triples() string {
	if s.avoid["literal as subject"] {
		return s.nodePattern() + s.nodePattern()
	}
	out := ""
	for range 1 + s.upTo(1) {
		p := s.predicate()
		if s.seldom() {
			p = s.pick("?y", "?p")
		}
		a, b := s.end(), s.end()
		out += a + " " + p + " " + b + " . "
	}
	return out
}

// nodePattern draws a pattern in which no variable is twice and no subject can
// be a literal: of those that data draws, only objects of :r are.
func (s *source) nodePattern() string {
	a, b := s.pick("?x", ":a"), s.pick("?y", ":b")
	if s.seldom() {
		return s.pick("?x", "?y") + " :r " + s.pick("?z", "?w", s.literal()) + " . "
	}
	if s.seldom() {
		a, b = b, a
	}
	return a + s.pick(" :p ", " :q ") + b + " . "
}

// end draws the subject or object of a pattern. A blank node in a pattern is a
// variable that nothing else sees.
func (s *source) end() string {
	if s.seldom() {
		return s.pick(":a", ":b", "[]", "?w")
	}
	return s.variable()
}

func (s *source) path(depth int) string {
	if depth <= 0 {
		return s.predicate()
	}
	a := s.path(depth - 1)
	switch s.pickOf("^", "/", "|", "+", "*", "?", "!") {
	case "^":
		return "^(" + a + ")"
	case "/":
		return "(" + a + "/" + s.path(depth-1) + ")"
	case "|":
		return "(" + a + "|" + s.path(depth-1) + ")"
	case "+":
		return "(" + a + ")+"
	case "*":
		return "(" + a + ")*"
	case "?":
		return "(" + a + ")?"
	}
	return s.pickOf("!:p", "!^:p", "!(:p|:q)", "!(:p|^:q)")
}

func (s *source) values() string {
	cell := func() string {
		if s.avoid["literal as subject"] {
			return s.pick("UNDEF", s.iri())
		}
		return s.pick("UNDEF", s.iri(), s.literal())
	}
	if s.seldom() {
		return "VALUES (?x ?y) { (" + cell() + " " + cell() + ") (" + cell() + " " + cell() + ") } "
	}
	return "VALUES " + s.variable() + " { " + cell() + " " + cell() + " } "
}

// selection draws a SELECT without prologue, order or limit.
func (s *source) selection(depth int, inGraph bool) string {
	if s.seldom() && !s.avoid["aggregate"] {
		return s.aggregation(depth, inGraph)
	}
	what := s.pick("", "DISTINCT ") + s.pick("*", "?x ?y", "?z", "?x ?y ?z")
	if !strings.HasSuffix(what, "*") && s.seldom() {
		what += " (" + s.any(2) + " AS " + s.fresh() + ")"
	}
	return "SELECT " + what + " " + s.group(depth, inGraph)
}

// aggregation draws a SELECT with a group and one or two aggregates. MIN and MAX
// are of whole numbers: between other kinds no order is fixed.
func (s *source) aggregation(depth int, inGraph bool) string {
	key := s.pickOf("?x", "?y", "")
	out := "SELECT " + key
	for range 1 + s.upTo(1) {
		out += " (" + s.aggregate(key) + " AS " + s.fresh() + ")"
	}
	out += " " + s.group(depth, inGraph)
	if key != "" {
		out += " GROUP BY " + key
	}
	if s.seldom() && !s.avoid["HAVING"] {
		out += " HAVING(COUNT(*) " + s.pick("=", ">", "<") + " " + s.pick("1", "2") + ")"
	}
	return out
}

func (s *source) aggregate(key string) string {
	distinct := s.pick("", "DISTINCT ")
	switch s.pickOf("COUNT(*)", "COUNT", "SUM", "AVG", "MIN", "GROUP_CONCAT", "SAMPLE") {
	case "COUNT(*)":
		return "COUNT(*)"
	case "COUNT":
		if s.avoid["COUNT of errors"] {
			return "COUNT(" + distinct + s.variable() + ")"
		}
		return "COUNT(" + distinct + s.any(1) + ")"
	case "SUM":
		return "SUM(" + distinct + s.number(1) + ")"
	case "AVG":
		return "AVG(" + distinct + s.number(1) + ")"
	case "MIN":
		return s.pick("MIN", "MAX") + "(STRLEN(STR(" + s.variable() + ")))"
	case "GROUP_CONCAT":
		return "GROUP_CONCAT(" + distinct + "STR(" + s.variable() + `); SEPARATOR="` + separator + `")`
	}
	if key == "" {
		return "COUNT(*)"
	}
	return "SAMPLE(" + key + ")"
}

// query draws a query; list says that its rows have an order.
func (s *source) query() (text string, list bool) {
	switch s.pickOf("SELECT", "SELECT2", "SELECT3", "ASK", "CONSTRUCT", "ORDER BY") {
	case "ASK":
		return prefixes + "ASK " + s.group(3, false), false
	case "CONSTRUCT":
		return prefixes + "CONSTRUCT { " + s.template() + "} WHERE " + s.group(3, false), false
	case "ORDER BY":
		return prefixes + s.orderedSelection(), true
	}
	return prefixes + s.selection(3, false), false
}

func (s *source) template() string {
	out := ""
	if s.avoid["blank template"] {
		return s.pick("?x", ":a") + " :p " + s.pick("?y", "1", `"a"@en`) + " . "
	}
	for range 1 + s.upTo(1) {
		out += s.pick("?x", "?y", ":a", "_:t", "[]") + " " + s.pick(":p", "?y") + " " + s.pick("?x", "?y", "?z", "_:t", "1", `"a"@en`) + " . "
	}
	return out
}

// orderedSelection draws a SELECT whose order is wholly fixed: rows that are
// alike in its keys are alike in all that is selected.
func (s *source) orderedSelection() string {
	order := s.pick("?v", "DESC(?v)", "ASC(?v)")
	out := "SELECT " + s.pick("", "DISTINCT ")
	if s.seldom() {
		out += "?v ?w { ?x :ord ?v OPTIONAL { ?y " + s.predicate() + " ?x . ?y :ord ?w } } "
		order += s.pick(" ?w", " DESC(?w)")
	} else {
		out += "?v { ?x " + s.pick(":ord", ":p/:ord", "^:p/:ord") + " ?v } "
	}
	out += "ORDER BY " + order
	return out + s.pick("", " LIMIT 1", " LIMIT 3", " LIMIT 2 OFFSET 1", " OFFSET 2", " LIMIT 0")
}
