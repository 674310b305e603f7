package oracle

import (
	"bytes"
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/seed-ff860830/banyan/ttl"
)

// literals are what data and queries draw from, in SPARQL. Those of a datatype
// whose lexical space they are not in are illTyped.
var (
	literals = []string{
		`1`, `2`, `-3`, `"01"^^xsd:integer`, `"+5"^^xsd:integer`, `1.0`, `1.5`, `".5"^^xsd:decimal`, `1.0e0`, `2.5e1`, `"NaN"^^xsd:double`,
		`"INF"^^xsd:double`, `"-0.0E0"^^xsd:double`, `"1.5"^^xsd:float`, `true`, `false`, `"1"^^xsd:boolean`, `""`, `"a"`, `"abc"`, `"1"`, `"true"`,
		`"Ünï😀"`, `"a b"`, `"a"@en`, `"abc"@en`, `"a"@de`, `"abc"@en-gb`, `"7"^^xsd:int`, `"7"^^xsd:byte`, `"z"^^<http://e/dt>`, `"z"^^<http://e/dt2>`,
		`"2020-01-31T10:20:30Z"^^xsd:dateTime`, `"2020-01-31T12:20:30+02:00"^^xsd:dateTime`, `"2021-06-01T00:00:00"^^xsd:dateTime`,
		`"2019-12-31T23:59:59.5-05:00"^^xsd:dateTime`, `"1"^^xsd:decimal`, `"25"^^xsd:double`, `"1"^^xsd:double`,
	}
	illTyped = []string{
		`"x"^^xsd:integer`, `"1.5"^^xsd:integer`, `"abc"^^xsd:double`, `"maybe"^^xsd:boolean`, `"2020-13-01T00:00:00Z"^^xsd:dateTime`, `"300"^^xsd:byte`,
	}
)

const prefixes = "PREFIX : <http://e/>\nPREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"

// source draws from rapid, with names that are new in one case, and keeps away
// from what the engine beside us is known to get wrong.
type source struct {
	t     *rapid.T
	avoid map[string]bool
	names int
}

func (s *source) pick(xs ...string) string { return rapid.SampledFrom(xs).Draw(s.t, "pick") }
func (s *source) upTo(n int) int           { return rapid.IntRange(0, n).Draw(s.t, "n") }
func (s *source) often() bool              { return rapid.IntRange(0, 3).Draw(s.t, "often") != 0 }
func (s *source) seldom() bool             { return rapid.IntRange(0, 3).Draw(s.t, "seldom") == 3 }

// fresh returns a variable's name that nothing else has; it is a computed one.
func (s *source) fresh() string {
	s.names++
	return fmt.Sprintf("?n%d", s.names)
}

// pickOf draws from choices that are not avoided: "feature" or the choice
// itself names what it is.
func (s *source) pickOf(choices ...string) string {
	var ok []string
	for _, c := range choices {
		if !s.avoid[c] {
			ok = append(ok, c)
		}
	}
	return s.pick(ok...)
}

func (s *source) literal() string {
	all := literals
	if !s.avoid["ill-typed"] {
		all = append(all[:len(all):len(all)], illTyped...)
	}
	var ok []string
	for _, l := range all {
		if !s.avoid[l] {
			ok = append(ok, l)
		}
	}
	l := s.pick(ok...)
	if s.avoid["prefixed datatype"] {
		l = strings.Replace(l, "^^xsd:", "^^<"+ttl.XSD, 1)
		if strings.Contains(l, ttl.XSD) {
			l += ">"
		}
	}
	return l
}

func (s *source) iri() string       { return s.pick(":a", ":b", ":c", ":d") }
func (s *source) predicate() string { return s.pick(":p", ":q", ":r") }
func (s *source) graphName() string { return s.pick(":g1", ":g2") }

// data draws a dataset of a few statements. The objects of :ord have an order
// that the specification fixes: IRIs, and either strings or whole numbers.
func (s *source) data() string {
	words := []string{`"a"`, `"b"`, `"aa"`, `"B"`, `""`, ":a", ":b"}
	if s.seldom() {
		words = []string{"1", "2", "10", "-1", ":a", ":b"}
	}
	out := ""
	for range s.upTo(12) {
		subject, predicate, object := s.node(), s.predicate(), s.node()
		if s.often() && (predicate == ":r" || !s.avoid["literal as subject"]) {
			object = s.literal()
		}
		if s.seldom() {
			out += s.in(s.node() + " :ord " + s.pick(words...))
		}
		out += s.in(subject + " " + predicate + " " + object)
	}
	return out
}

func (s *source) node() string {
	if s.seldom() {
		return s.pick("_:b0", "_:b1", "_:b2")
	}
	return s.iri()
}

func (s *source) in(statement string) string {
	if s.seldom() {
		return "GRAPH " + s.graphName() + " { " + statement + " }\n"
	}
	return statement + " .\n"
}

// nquads writes a dataset down for the other engines.
func nquads(quads []ttl.Quad) (string, error) {
	var out bytes.Buffer
	w := ttl.NewWriter(&out, ttl.WriterOptions{Format: ttl.NQuads})
	for _, q := range quads {
		if err := w.WriteQuad(q); err != nil {
			return "", err
		}
	}
	err := w.Close()
	return out.String(), err
}
