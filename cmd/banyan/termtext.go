package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// prefixes shorten IRIs in tables, the longest first.
var prefixes = func() [][2]string {
	all := [][2]string{
		{"bn", ontology.Base},
		{"py", string(ontology.PythonNS)},
		{"bundle", string(ontology.BundleNS)},
		{"rdf", ontology.RDF},
		{"rdfs", ontology.RDFS},
		{"owl", ontology.OWL},
		{"xsd", ontology.XSD},
		{"prov", ontology.PROV},
		{"dcterms", ontology.DCTerms},
		{"skos", ontology.SKOS},
		{"spdx", ontology.SPDX},
	}
	slices.SortStableFunc(all, func(x, y [2]string) int { return len(y[1]) - len(x[1]) })
	return all
}()

// termText shows a term to a person on one line: an IRI short where a prefix
// fits, a number or a truth as it is, another literal in quotes; nothing where
// there is none. Whatever the term holds, the text moves no cursor.
func termText(t ttl.Term) string {
	switch t.Kind {
	case ttl.IRI:
		return iriText(t.Value)
	case ttl.Blank:
		return "_:" + visible(t.Value)
	case ttl.Literal:
		return literalText(t)
	}
	return ""
}

func iriText(iri string) string {
	for _, p := range prefixes {
		if local, ok := strings.CutPrefix(iri, p[1]); ok && plainLocal(local) {
			return p[0] + ":" + local
		}
	}
	return "<" + visible(iri) + ">"
}

// plainLocal reports whether nobody can take the short form for anything else.
// Unlike in Turtle '@' may stand bare, as capabilities are written everywhere.
func plainLocal(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.@+", r))
	})
}

func literalText(t ttl.Term) string {
	switch t.Datatype {
	case ttl.XSDInteger, ttl.XSDDecimal, ttl.XSDDouble, ttl.XSDBoolean:
		if plainLocal(t.Value) {
			return t.Value
		}
	}
	quoted := `"` + visible(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(t.Value)) + `"`
	switch {
	case t.Lang != "":
		return quoted + "@" + visible(t.Lang)
	case t.Datatype == "" || t.Datatype == ttl.XSDString:
		return quoted
	}
	return quoted + "^^" + iriText(t.Datatype)
}

// hostile reports whether a character could move a terminal's cursor, forge
// lines or reorder text.
func hostile(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == 0x2028 || r == 0x2029
}

// visible writes each hostile character as an escape, and bytes that are not
// UTF-8 as U+FFFD.
func visible(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, hostile) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case hostile(r) && r > 0xffff:
			fmt.Fprintf(&b, `\U%08X`, r)
		case hostile(r):
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
