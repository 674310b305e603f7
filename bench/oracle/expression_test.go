package oracle

import "fmt"

// any draws an expression of any type. Those below draw one of a type, mostly:
// a variable may hold anything, so that errors come up.
func (s *source) any(depth int) string {
	if depth <= 0 || s.avoid["functions"] {
		return s.leaf()
	}
	switch s.upTo(5) {
	case 0:
		return s.boolean(depth - 1)
	case 1, 2:
		return s.number(depth - 1)
	case 3:
		return s.text(depth - 1)
	case 4:
		return s.pick("IRI(STR(:a))", "DATATYPE("+s.leaf()+")", "STRDT("+s.text(0)+", xsd:integer)", s.iri())
	}
	return s.leaf()
}

func (s *source) variable() string { return s.pick("?x", "?y", "?z") }

func (s *source) leaf() string {
	if s.often() {
		return s.variable()
	}
	return s.literal()
}

func (s *source) boolean(depth int) string {
	if s.avoid["kind"] && depth <= 0 {
		return "BOUND(" + s.variable() + ")"
	}
	if depth <= 0 {
		return s.pick("true", "false", "BOUND("+s.variable()+")", s.variable(), "isIRI("+s.variable()+")")
	}
	a, b := s.any(depth-1), s.any(depth-1)
	switch s.pickOf("compare", "logic", "kind", "regex", "contains", "langMatches", "sameTerm", "IN", "EXISTS", "xsd:boolean", "not") {
	case "compare":
		return s.compare(a, b)
	case "logic":
		return "(" + s.boolean(depth-1) + s.pick(" && ", " || ") + s.boolean(depth-1) + ")"
	case "kind":
		return s.pick("isIRI", "isBLANK", "isLITERAL", "isNUMERIC") + "(" + a + ")"
	case "regex":
		return "REGEX(" + s.text(depth-1) + `, "` + s.pick("a", "^a", "b.", "A", "c$", "[ab]+") + `", "` + s.pick("", "i") + `")`
	case "contains":
		return s.pick("CONTAINS", "STRSTARTS", "STRENDS") + "(" + s.text(depth-1) + ", " + s.text(0) + ")"
	case "langMatches":
		return "LANGMATCHES(LANG(" + s.variable() + `), "` + s.pick("en", "*", "de", "en-gb") + `")`
	case "sameTerm":
		return "SAMETERM(" + s.leaf() + ", " + s.leaf() + ")"
	case "IN":
		return s.equal("("+s.leaf()+" IN ("+a+", "+b+"))", "("+s.leaf()+" NOT IN ("+a+", "+b+"))")
	case "EXISTS":
		return s.pick("EXISTS ", "NOT EXISTS ") + s.group(depth-1, false)
	case "xsd:boolean":
		return "xsd:boolean(" + a + ")"
	}
	return "(!" + s.boolean(depth-1) + ")"
}

// compare draws a comparison. An engine that orders or equates what the
// specification calls an error is asked about numbers only, or as equal says.
func (s *source) compare(a, b string) string {
	op := s.pick("=", "!=", "<", ">", "<=", ">=")
	switch {
	case s.avoid["equality of kinds"]:
		v := s.variable()
		return "(BOUND(" + v + ") && isNUMERIC(" + v + ") && " + v + " " + op + " " + s.pick("1", "2", "1.5") + ")"
	case s.avoid["order of kinds"] && (op[0] == '<' || op[0] == '>'):
		return "(isNUMERIC(" + a + ") && isNUMERIC(" + b + ") && " + a + " " + op + " " + b + ")"
	case op == "=" || op == "!=":
		return s.equal("("+a+" = "+b+")", "("+a+" != "+b+")")
	}
	return "(" + a + " " + op + " " + b + ")"
}

// equal draws one of a test and its contrary, so written that an error counts as
// unequal if the engine takes it so.
func (s *source) equal(yes, no string) string {
	if !s.avoid["unequal kinds"] {
		return s.pick(yes, no)
	}
	return s.pick("COALESCE("+yes+", false)", "COALESCE("+no+", true)")
}

func (s *source) number(depth int) string {
	if depth <= 0 {
		return s.pick("1", "2", "-3", "1.5", "2.0e0", s.variable())
	}
	a := s.number(depth - 1)
	switch s.pickOf("arithmetic", "round", "STRLEN", "date", "cast", "minus", "IF", "COALESCE") {
	case "arithmetic":
		return "(" + a + s.pick(" + ", " - ", " * ", " / ") + s.number(depth-1) + ")"
	case "round":
		return s.pick("ABS", "ROUND", "CEIL", "FLOOR") + "(" + a + ")"
	case "STRLEN":
		return "STRLEN(" + s.text(depth-1) + ")"
	case "date":
		return s.pick("YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS") + "(" + s.date() + ")"
	case "cast":
		return s.pick("xsd:integer", "xsd:decimal", "xsd:double", "xsd:float") + "(" + s.any(depth-1) + ")"
	case "IF":
		return "IF(" + s.boolean(depth-1) + ", " + a + ", " + s.any(depth-1) + ")"
	case "COALESCE":
		return "COALESCE(" + s.any(depth-1) + ", " + a + ")"
	}
	return "(-" + a + ")"
}

func (s *source) date() string {
	return s.pick(s.variable(), `"2020-01-31T10:20:30.25Z"^^xsd:dateTime`, `"2021-06-01T00:00:00"^^xsd:dateTime`, `xsd:dateTime("2019-12-31T23:59:59-05:00")`, s.leaf())
}

func (s *source) text(depth int) string {
	if depth <= 0 {
		return s.pick(`"a"`, `"abc"`, `""`, `"a"@en`, `"b"`, "STR("+s.variable()+")", s.variable())
	}
	a, b := s.text(depth-1), s.text(depth-1)
	switch s.pickOf("case", "CONCAT", "SUBSTR", "part", "REPLACE", "ENCODE_FOR_URI", "hash", "STRLANG", "STR", "LANG", "TZ", "TIMEZONE", "xsd:string", "DATATYPE") {
	case "case":
		return s.pick("UCASE", "LCASE") + "(" + a + ")"
	case "CONCAT":
		return "CONCAT(" + a + ", " + b + ")"
	case "SUBSTR":
		return fmt.Sprintf("SUBSTR(%s, %d%s)", a, 1+s.upTo(3), s.pick("", ", 1", ", 2", ", 9"))
	case "part":
		return s.pick("STRBEFORE", "STRAFTER") + "(" + a + ", " + b + ")"
	case "REPLACE":
		return "REPLACE(" + a + `, "` + s.pick("a", "b.", "[^a]", "(a)(b)") + `", "` + s.pick("", "z", "$0") + `")`
	case "ENCODE_FOR_URI":
		return "ENCODE_FOR_URI(" + a + ")"
	case "hash":
		return s.pick("MD5", "SHA1", "SHA256", "SHA384", "SHA512") + "(" + a + ")"
	case "STRLANG":
		return "STRLANG(" + a + `, "` + s.pick("en", "de") + `")`
	case "STR":
		return "STR(" + s.leaf() + ")" // of no computed number: how it is written is not fixed
	case "LANG":
		return "LANG(" + s.any(depth-1) + ")"
	case "TZ":
		return "TZ(" + s.date() + ")"
	case "TIMEZONE":
		return "STR(TIMEZONE(" + s.date() + "))"
	case "xsd:string":
		return "xsd:string(" + s.leaf() + ")"
	}
	return "STR(DATATYPE(" + s.any(depth-1) + "))"
}
