package results

import (
	"strings"

	"github.com/seed-ff860830/banyan/ttl"
)

// tsvEncoder writes SPARQL 1.1 Query Results TSV.
type tsvEncoder struct{}

func (tsvEncoder) begin(b []byte, vars []string) []byte {
	for i, v := range vars {
		if i > 0 {
			b = append(b, '\t')
		}
		b = append(append(b, '?'), v...)
	}
	return append(b, '\n')
}

func (tsvEncoder) row(b []byte, terms []ttl.Term) ([]byte, error) {
	for i, t := range terms {
		if i > 0 {
			b = append(b, '\t')
		}
		if t.Kind == ttl.Literal && t.Datatype != "" && numberType(t.Value) == t.Datatype {
			b = append(b, t.Value...)
			continue
		}
		if t.Kind == ttl.IRI {
			b = append(append(append(b, '<'), t.Value...), '>')
			continue
		}
		b = append(b, t.String()...) // N-Triples, which escapes tabs and line ends
	}
	return append(b, '\n'), nil
}

func (tsvEncoder) end(b []byte) []byte { return b }

func (tsvEncoder) boolean(b []byte, _ bool) ([]byte, error) { return b, errNoBoolean("TSV") }

// numberType returns the datatype that a bare token has in Turtle: integer,
// decimal or double by its form, and "" if it is no number.
func numberType(s string) string {
	s = strings.TrimLeft(s[:min(1, len(s))], "+-") + s[min(1, len(s)):]
	whole := digits(s)
	rest := s[whole:]
	if rest == "" && whole > 0 {
		return ttl.XSDInteger
	}
	fraction := 0
	if point := strings.HasPrefix(rest, "."); point {
		fraction = digits(rest[1:])
		rest = rest[1+fraction:]
		if rest == "" && fraction > 0 {
			return ttl.XSDDecimal
		}
	}
	if whole+fraction == 0 || rest == "" || rest[0] != 'e' && rest[0] != 'E' {
		return ""
	}
	rest = rest[1:]
	if rest != "" && (rest[0] == '+' || rest[0] == '-') {
		rest = rest[1:]
	}
	if rest == "" || digits(rest) != len(rest) {
		return ""
	}
	return ttl.XSDDouble
}

// digits returns how many decimal digits s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
