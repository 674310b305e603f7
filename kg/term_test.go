package kg

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// someTerm draws terms of every kind, near the edges of the inline forms.
func someTerm() *rapid.Generator[ttl.Term] {
	return rapid.OneOf(
		rapid.Map(rapid.StringMatching(`[a-z0-9/#@é%]{0,12}`), func(s string) ttl.Term { return ttl.NewIRI("http://e/" + s) }),
		rapid.Map(rapid.StringMatching(`[a-zA-Z0-9_]{1,8}`), ttl.NewBlank),
		rapid.Map(rapid.String(), ttl.NewString),
		rapid.Map(rapid.String(), func(s string) ttl.Term { return ttl.NewLang(s, "zh-Hant-TW") }),
		rapid.Map(rapid.String(), func(s string) ttl.Term { return ttl.NewTyped(s, "http://e/type") }),
		rapid.Map(rapid.StringMatching(`[+-]?0{0,2}[0-9]{1,20}`), func(s string) ttl.Term { return ttl.NewTyped(s, ttl.XSDInteger) }),
		rapid.Map(rapid.SampledFrom([]string{"true", "false", "1", "0", "TRUE", ""}), func(s string) ttl.Term { return ttl.NewTyped(s, ttl.XSDBoolean) }),
		rapid.Map(rapid.SampledFrom([]string{
			"2026-11-30T21:25:16.123Z", "2026-11-30T21:25:16Z", "2026-11-30T21:25:16.1230Z", "2026-11-30T21:25:16.123+00:00",
			"0000-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z", "2026-02-30T00:00:00.000Z", "2026-11-30T24:00:00.000Z",
		}), func(s string) ttl.Term { return ttl.NewTyped(s, ttl.XSDDateTime) }),
	)
}

func TestTermsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		term := someTerm().Draw(t, "term")
		if id, ok := inlineID(term); ok {
			if back, ok := inlineTerm(id); !ok || back != term {
				t.Fatalf("%+v is inline as %x and reads back as %+v", term, id, back)
			}
		}
		back, err := decodeTerm(encodeTerm(term))
		if err != nil || back != term {
			t.Fatalf("%+v reads back as %+v, %v", term, back, err)
		}
	})
}

func TestInlineIdsSortAsTheirValues(t *testing.T) {
	var last ID
	for _, s := range []string{"-576460752303423488", "-2", "-1", "0", "1", "2", "576460752303423487"} {
		id, ok := inlineID(ttl.NewTyped(s, ttl.XSDInteger))
		if !ok || id <= last {
			t.Errorf("%s has the id %x, which does not follow %x", s, id, last)
		}
		last = id
	}
	for _, s := range []string{"01", "+1", "-0", "576460752303423488", "1.0", " 1", ""} {
		if id, ok := inlineID(ttl.NewTyped(s, ttl.XSDInteger)); ok {
			t.Errorf("%q is inline as %x, so its text would be lost", s, id)
		}
	}
}

func FuzzDecodeTerm(f *testing.F) {
	for _, t := range []ttl.Term{ttl.NewIRI("http://e/"), ttl.NewBlank("b"), ttl.NewString(""), ttl.NewLang("x", "en"), ttl.NewTyped("1", "http://e/t")} {
		f.Add(encodeTerm(t))
	}
	f.Add([]byte{termLang, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, b []byte) {
		term, err := decodeTerm(b)
		if err != nil {
			if errs.KindOf(err) != errs.Corrupt {
				t.Fatalf("%x: %v is not Corrupt", b, err)
			}
			return
		}
		if back, err := decodeTerm(encodeTerm(term)); err != nil || back != term {
			t.Fatalf("%x reads as %+v and then as %+v, %v", b, term, back, err)
		}
	})
}

// B43: a name never becomes syntax. What could end an IRI or a literal is
// refused, or kept apart, before it reaches the store.
func TestB43_TextNeverBecomesSyntax(t *testing.T) {
	s := memory(t)
	before := s.Triples()
	for _, name := range []string{"http://e/x> } ; DROP ALL #", `x" } UNION { ?s ?p ?o } #`, `a\`, "http://e/a\nb", "http://e/a b", `http://e/\u003E`, "?s", "", "http://e/\xff"} {
		for _, q := range []ttl.Quad{
			{S: ttl.NewIRI(name), P: ex("p"), O: ex("o")},
			{S: ex("s"), P: ttl.NewIRI(name), O: ex("o")},
			{S: ex("s"), P: ex("p"), O: ttl.NewIRI(name)},
			{S: ex("s"), P: ex("p"), O: ttl.Term{Kind: ttl.Literal, Value: "x", Datatype: name + " "}},
			{S: ttl.NewBlank(name + " ."), P: ex("p"), O: ex("o")},
		} {
			err := s.Update(t.Context(), func(tx *Tx) error { return tx.Add(q) })
			wantKind(t, err, errs.Invalid)
		}
		if name != "" {
			for q := range s.Match(t.Context(), ttl.Quad{S: ttl.NewIRI(name)}) {
				t.Errorf("%q matches %v", name, q)
			}
		}
		_, err := s.ImportTurtle(t.Context(), strings.NewReader(""), ImportOptions{Graph: "http://e/ " + ontologyIRI(name)})
		wantKind(t, err, errs.Invalid)
	}
	if s.Triples() != before {
		t.Errorf("the store has %d triples, want %d", s.Triples(), before)
	}
	legal := ttl.Quad{S: ttl.NewIRI("http://e/%3E-größe-数"), P: ex("p"), O: ttl.NewString("x\" } UNION { ?s ?p ?o } #\n\\")}
	add(t, s, legal)
	if got := all(t, s, ttl.Quad{S: legal.S}); len(got) != 1 || got[0] != legal {
		t.Errorf("a legal IRI and a literal come back as %v", got)
	}
}
