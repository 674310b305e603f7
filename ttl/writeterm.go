package ttl

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// abbreviator finds the prefixed name of an IRI.
type abbreviator struct {
	byIRI   map[string]string // namespace IRI → prefix name
	lengths []int             // of the namespaces, longest first, each once
}

func (a *abbreviator) add(name, iri string) {
	if a.byIRI == nil {
		a.byIRI = map[string]string{}
	}
	if _, ok := a.byIRI[iri]; ok {
		return // two names for one namespace: the first in order is used
	}
	a.byIRI[iri] = name
	if i, found := slices.BinarySearchFunc(a.lengths, len(iri), func(have, want int) int { return want - have }); !found {
		a.lengths = slices.Insert(a.lengths, i, len(iri))
	}
}

// find returns the prefix and the local name of an IRI. The longest namespace
// behind which a plain name remains wins.
func (a *abbreviator) find(iri string) (prefix, local string, ok bool) {
	for _, n := range a.lengths {
		if n > len(iri) {
			continue
		}
		if name, ok := a.byIRI[iri[:n]]; ok && plainLocal(iri[n:]) {
			return name, iri[n:], true
		}
	}
	return "", "", false
}

// plainLocal reports whether s may stand behind a prefix just as it is. Names
// such as "py/numpy@1.24.2" or "c++" could be written with backslashes, but
// not every reader of Turtle knows those, and all know the full IRI.
func plainLocal(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case is(c, classAlpha|classDigit) || c == '_':
		case (c == '-' || c == '.') && i > 0:
		default:
			return false
		}
	}
	return s == "" || s[len(s)-1] != '.'
}

// validPrefix reports whether name is a PN_PREFIX or empty.
func validPrefix(name string) bool {
	for i, c := range name {
		if i == 0 && !isNameStart(c) || i > 0 && !isNameChar(c) && c != '.' {
			return false
		}
	}
	return !strings.HasSuffix(name, ".") && utf8.ValidString(name)
}

// appendTerm appends a valid term: as Turtle with names, as N-Triples without.
func appendTerm(b []byte, t Term, names *abbreviator) []byte {
	switch t.Kind {
	case IRI:
		return appendIRI(b, t.Value, names)
	case Blank:
		return append(append(b, "_:"...), WritableLabel(t.Value)...)
	}
	if names != nil && bareLiteral(t) {
		return append(b, t.Value...)
	}
	b = appendQuoted(b, t.Value)
	switch {
	case t.Lang != "":
		return append(append(b, '@'), t.Lang...)
	case t.Datatype != "" && t.Datatype != XSDString:
		return appendIRI(append(b, "^^"...), t.Datatype, names)
	}
	return b
}

// bareLiteral reports whether Turtle reads the lexical form alone as t.
func bareLiteral(t Term) bool {
	switch t.Datatype {
	case XSDBoolean:
		return t.Value == "true" || t.Value == "false"
	case XSDInteger, XSDDecimal, XSDDouble:
		return bareNumber(t.Value, t.Datatype)
	}
	return false
}

func appendIRI(b []byte, iri string, names *abbreviator) []byte {
	if names != nil {
		if prefix, local, ok := names.find(iri); ok {
			return append(append(append(b, prefix...), ':'), local...)
		}
	}
	return append(append(append(b, '<'), iri...), '>')
}

// appendQuoted appends a string in double quotes. Controls are escaped too:
// they need not be, but a document then survives terminals and editors.
func appendQuoted(b []byte, s string) []byte {
	const digits = "0123456789ABCDEF"
	b = append(b, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c != 0x7F {
			continue
		}
		b = append(b, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
	}
	return append(append(b, s[start:]...), '"')
}

// String returns the term as N-Triples writes it, for messages and tests; ""
// for no term. A term that is not valid gives text that is not N-Triples.
func (t Term) String() string {
	if t.Kind == None {
		return ""
	}
	return string(appendTerm(nil, t, nil))
}

// String returns the statement as a line of N-Triples without its line end.
func (t Triple) String() string {
	return t.S.String() + " " + t.P.String() + " " + t.O.String() + " ."
}
