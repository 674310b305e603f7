package oracle

import "strings"

// update draws an update request of one to three operations.
func (s *source) update() string {
	ops := make([]string, 1+s.upTo(2))
	for i := range ops {
		ops[i] = s.operation()
	}
	return prefixes + strings.Join(ops, " ;\n")
}

func (s *source) operation() string {
	switch s.pickOf("INSERT DATA", "DELETE DATA", "DELETE WHERE", "modify", "modify2", "CLEAR", "COPY") {
	case "INSERT DATA":
		return "INSERT DATA { " + s.ground("_:b0") + "}"
	case "DELETE DATA":
		return "DELETE DATA { " + s.ground(":d") + "}"
	case "DELETE WHERE":
		return "DELETE WHERE { " + s.quadPattern(false) + "}"
	case "CLEAR":
		return s.pick("CLEAR", "DROP") + " SILENT " + s.pick("DEFAULT", "NAMED", "ALL", "GRAPH :g1", "GRAPH :g3")
	case "COPY":
		return s.pick("COPY", "MOVE", "ADD") + " SILENT " + s.source() + " TO " + s.pick("DEFAULT", ":g1", ":g2")
	}
	out := ""
	if s.seldom() {
		out = "WITH " + s.graphName() + " "
	}
	what := s.upTo(2)
	if what != 0 {
		out += "DELETE { " + s.quadPattern(false) + "} "
	}
	if what != 1 {
		out += "INSERT { " + s.quadPattern(true) + "} "
	}
	if s.seldom() && !s.avoid["USING"] {
		out += "USING " + s.graphName() + " " + s.pick("", "USING NAMED :g2 ")
	}
	return out + "WHERE " + s.group(2, false)
}

func (s *source) ground(blank string) string {
	out := ""
	for range 1 + s.upTo(1) {
		t := s.pick(s.iri(), blank) + " :r " + s.literal() + " . "
		if s.often() {
			t = s.pick(s.iri(), blank) + s.pick(" :p ", " :q ") + s.pick(s.iri(), blank) + " . "
		}
		if s.seldom() {
			t = "GRAPH " + s.graphName() + " { " + t + "} "
		}
		out += t
	}
	return out
}

// quadPattern draws a template, or the pattern that is one too.
func (s *source) quadPattern(blanks bool) string {
	subjects, objects := []string{"?x", "?y", ":a"}, []string{"?x", "?y", "?z", "1", ":b"}
	if blanks && !s.avoid["blank template"] {
		subjects, objects = append(subjects, "_:t"), append(objects, "_:t")
	}
	predicates := []string{":p", ":q", "?y"}
	if s.avoid["literal as subject"] {
		subjects, predicates, objects = subjects[:1], predicates[:2], []string{"?y", ":b"}
	}
	out := ""
	for range 1 + s.upTo(1) {
		t := s.pick(subjects...) + " " + s.pick(predicates...) + " " + s.pick(objects...) + " . "
		if s.seldom() {
			t = "GRAPH " + strings.TrimPrefix(s.pickOf(":g1", ":g2", "INTO ?g"), "INTO ") + " { " + t + "} "
		}
		out += t
	}
	return out
}

func (s *source) source() string {
	if s.avoid["COPY of nothing"] {
		return "DEFAULT"
	}
	return s.pick("DEFAULT", ":g1", ":g3")
}
