package ttl_test

import (
	"pgregory.net/rapid"

	"github.com/seed-ff860830/banyan/ttl"
)

// The generators lean on what is hard to write: names that need escapes, all
// controls, quotes, and numbers that look bare but are not.

var genIRI = rapid.Custom(func(t *rapid.T) string {
	ns := rapid.SampledFrom([]string{"http://e/", "http://e/ns#", "http://e/ns#sub/", "urn:x:", "a:", "http://e/a/../b/./"}).Draw(t, "ns")
	local := rapid.OneOf(
		rapid.SampledFrom([]string{
			"", "a", "py/numpy@1.24.2", "c++", "a(b)", "a;b", "x.", ".x", "-x", "x-", "a..b", "?q=1", "#f", "%41", "%", "~", "1", "a:b", "_", "true", "a", "é", "\u00b7x", "\uFFFD",
		}),
		rapid.StringMatching(`[!#-;=?-Z_a-z~\x{a0}-\x{2ff}\x{10000}-\x{1ffff}\[\]]{0,12}`),
	).Draw(t, "local")
	return ns + local
})

var genText = rapid.OneOf(
	rapid.String(),
	rapid.SampledFrom([]string{"", "\"", "'", "\"\"\"", "'''", "\\", "\\\\", "\\u0041", "a\nb", "a\r\nb", "\r", "\t\b\f", "x . <a:s> <a:p> <a:o>", "\u2028", "\uFEFF", "\uFFFD", "\uFFFF", "\x7f"}),
	rapid.Map(rapid.SliceOfN(rapid.IntRange(0, 0x9F), 0, 8), func(cs []int) string {
		s := ""
		for _, c := range cs {
			s += string(rune(c))
		}
		return s
	}),
)

var genNumber = rapid.OneOf(
	rapid.SampledFrom([]string{"1", "+1", "-01", "1.", ".1", "-.1", "1.0", "1e1", "1.e1", ".1E-1", "1e", "+", "", ".", "e1", "INF", "NaN", "+Inf", "1 ", " 1", "1 . <a:s> <a:p> <a:o>", "true", "false", "True", "0"}),
	rapid.StringMatching(`[+-]?[0-9]{0,3}\.?[0-9]{0,3}([eE][+-]?[0-9]{0,2})?`),
)

var genLiteral = rapid.Custom(func(t *rapid.T) ttl.Term {
	switch rapid.IntRange(0, 3).Draw(t, "literal") {
	case 0:
		return ttl.NewString(genText.Draw(t, "text"))
	case 1:
		return ttl.NewLang(genText.Draw(t, "text"), rapid.StringMatching(`[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8}){0,3}`).Draw(t, "tag"))
	case 2:
		types := []string{ttl.XSDInteger, ttl.XSDDecimal, ttl.XSDDouble, ttl.XSDBoolean}
		return ttl.NewTyped(genNumber.Draw(t, "number"), rapid.SampledFrom(types).Draw(t, "type"))
	}
	return ttl.NewTyped(genText.Draw(t, "text"), genIRI.Draw(t, "type"))
})

var genBlank = rapid.Map(rapid.OneOf(
	rapid.SampledFrom([]string{"b0", "genid1", "#1", "#2", "anon-1", "anon-x31", "1", "a.b", "a.", "-", "a b", "é", "#", "#1a", "\xff", ""}),
	rapid.StringN(1, 6, -1),
), func(s string) ttl.Term {
	if s == "" {
		s = "b"
	}
	return ttl.NewBlank(s)
})

var genTriple = rapid.Custom(func(t *rapid.T) ttl.Triple {
	iri := rapid.Map(genIRI, ttl.NewIRI)
	return ttl.Triple{
		S: rapid.OneOf(iri, genBlank).Draw(t, "s"),
		P: rapid.OneOf(iri, rapid.Just(ttl.NewIRI(ttl.RDFType))).Draw(t, "p"),
		O: rapid.OneOf(iri, genBlank, genLiteral).Draw(t, "o"),
	}
})

// genGraph makes statements with neighbours that share a subject, or a subject
// and a predicate.
var genGraph = rapid.Custom(func(t *rapid.T) []ttl.Triple {
	ts := rapid.SliceOfN(genTriple, 0, 12).Draw(t, "triples")
	for i := 1; i < len(ts); i++ {
		if share := rapid.IntRange(0, 2).Draw(t, "share"); share > 0 {
			if ts[i].S = ts[i-1].S; share > 1 {
				ts[i].P = ts[i-1].P
			}
		}
	}
	return ts
})
