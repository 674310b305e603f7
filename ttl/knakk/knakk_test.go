package knakk_test

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/knakk/rdf"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
	"github.com/seed-ff860830/banyan/ttl/knakk"
)

func iri(t *testing.T, s string) rdf.IRI {
	t.Helper()
	i, err := rdf.NewIRI(s)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func blank(t *testing.T, s string) rdf.Blank {
	t.Helper()
	b, err := rdf.NewBlank(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func literal(t *testing.T, v any) rdf.Literal {
	t.Helper()
	l, err := rdf.NewLiteral(v)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestFromTerm(t *testing.T) {
	en, err := rdf.NewLangLiteral("x", "en-GB")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		in   rdf.Term
		want ttl.Term
	}{
		"iri":       {iri(t, "http://e/é"), ttl.NewIRI("http://e/é")},
		"blank":     {blank(t, "b0"), ttl.NewBlank("b0")},
		"string":    {literal(t, "x\n"), ttl.NewString("x\n")},
		"int":       {literal(t, 7), ttl.NewTyped("7", ttl.XSDInteger)},
		"bool":      {literal(t, true), ttl.NewTyped("true", ttl.XSDBoolean)},
		"float":     {literal(t, 1e21), ttl.NewTyped("1e+21", ttl.XSDDouble)},
		"+Inf":      {literal(t, math.Inf(1)), ttl.NewTyped("INF", ttl.XSDDouble)},
		"-Inf":      {literal(t, math.Inf(-1)), ttl.NewTyped("-INF", ttl.XSDDouble)},
		"NaN":       {literal(t, math.NaN()), ttl.NewTyped("NaN", ttl.XSDDouble)},
		"not a num": {rdf.NewTypedLiteral("+Inf", iri(t, "http://e/t")), ttl.NewTyped("+Inf", "http://e/t")},
		"time":      {literal(t, time.Date(2026, 11, 30, 1, 2, 3, 0, time.UTC)), ttl.NewTyped("2026-11-30T01:02:03Z", ttl.XSDDateTime)},
		"tagged":    {en, ttl.NewLang("x", "en-GB")},
		"typed":     {rdf.NewTypedLiteral("x", iri(t, "http://e/t")), ttl.NewTyped("x", "http://e/t")},
	} {
		if got, err := knakk.FromTerm(c.in); got != c.want || err != nil {
			t.Errorf("%s: %#v, %v", name, got, err)
		}
	}
}

func TestFromTermRefuses(t *testing.T) {
	tagged, err := rdf.NewLangLiteral("x", "en")
	if err != nil {
		t.Fatal(err)
	}
	tagged.DataType = iri(t, "http://e/t")
	failed, err := rdf.NewLangLiteral("x", "zh-Hant-TW")
	if err == nil {
		t.Fatal("knakk now takes two hyphens: ToTerm and its comment can follow")
	}
	for name, in := range map[string]rdf.Term{
		"nil":                     nil,
		"zero iri":                rdf.IRI{},
		"zero blank":              rdf.Blank{},
		"zero literal":            rdf.Literal{},
		"failed literal":          failed,
		"relative iri":            iri(t, "x"),
		"iri not UTF-8":           iri(t, "http://e/\xff"),
		"label that is a text":    blank(t, "b <a:p> <a:o> .\n_:c"),
		"label with a bad end":    blank(t, "b."),
		"label not UTF-8":         blank(t, "b\xff"),
		"label of a generated":    blank(t, "#1"),
		"literal not UTF-8":       literal(t, "\xff"),
		"bytes":                   literal(t, []byte{0xff}),
		"tag and type":            tagged,
		"langString, no tag":      rdf.NewTypedLiteral("x", iri(t, ttl.RDFLangString)),
		"a type that is relative": rdf.NewTypedLiteral("x", iri(t, "t")),
		"foreign":                 foreign{},
		"pointer":                 &rdf.IRI{},
	} {
		got, err := knakk.FromTerm(in)
		if k := errs.KindOf(err); k != errs.Invalid && k != errs.Unsupported || got != (ttl.Term{}) {
			t.Errorf("%s: %#v, %v", name, got, err)
		}
	}
}

// foreign is somebody else's rdf.Term.
type foreign struct{}

func (foreign) Serialize(rdf.Format) string { return "" }
func (foreign) String() string              { return "" }
func (foreign) Type() rdf.TermType          { return rdf.TermIRI }

func TestToTermRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		in   ttl.Term
		kind errs.Kind
	}{
		"none":         {ttl.Term{}, errs.Invalid},
		"two hyphens":  {ttl.NewLang("x", "zh-Hant-TW"), errs.Unsupported},
		"bad tag":      {ttl.NewLang("x", "-"), errs.Invalid},
		"relative":     {ttl.NewIRI("x"), errs.Invalid},
		"not UTF-8":    {ttl.NewString("\xff"), errs.Invalid},
		"no tag":       {ttl.NewTyped("x", ttl.RDFLangString), errs.Invalid},
		"no label":     {ttl.NewBlank(""), errs.Invalid},
		"tag and type": {ttl.Term{Kind: ttl.Literal, Lang: "en", Datatype: "a:t"}, errs.Invalid},
	} {
		if got, err := knakk.ToTerm(c.in); got != nil || errs.KindOf(err) != c.kind {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestThereAndBack converts a document's statements to knakk's and back, and
// through knakk's N-Triples encoder.
func TestThereAndBack(t *testing.T) {
	const doc = `@prefix : <http://e/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
		:s a :T ; :p "a\"\\\n\r\té\u0001", "x"@en-GB, 1, 1.5, 1e3, true, "1 . :x :y :z"^^xsd:integer, "INF"^^xsd:double, _:b0, [ :q (1 2) ], <http://e/py/numpy@1.24.2> .`
	var want []ttl.Triple
	var encoded bytes.Buffer
	enc := rdf.NewTripleEncoder(&encoded, rdf.NTriples)
	for s, err := range ttl.NewReader(strings.NewReader(doc), ttl.Options{}).All() {
		if err != nil {
			t.Fatal(err)
		}
		k, err := knakk.ToTriple(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := enc.Encode(k); err != nil {
			t.Fatal(err)
		}
		back, err := knakk.FromTriple(k)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []*ttl.Term{&s.S, &s.O} {
			if x.Kind == ttl.Blank {
				x.Value = ttl.WritableLabel(x.Value)
			}
		}
		if back != s {
			t.Errorf("%v came back as %v", s, back)
		}
		want = append(want, s)
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	var got []ttl.Triple
	for s, err := range ttl.NewReader(&encoded, ttl.Options{Format: ttl.NTriples}).All() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, s)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTriplesRefused(t *testing.T) {
	s, p := iri(t, "http://e/s"), iri(t, "http://e/p")
	for name, in := range map[string]rdf.Triple{
		"empty": {}, "no object": {Subj: s, Pred: p}, "no subject": {Pred: p, Obj: s}, "no predicate": {Subj: s, Obj: s},
		"bad label": {Subj: blank(t, "a b"), Pred: p, Obj: s},
	} {
		if got, err := knakk.FromTriple(in); errs.KindOf(err) != errs.Invalid || got != (ttl.Triple{}) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	i, l := ttl.NewIRI("http://e/x"), ttl.NewString("x")
	for name, in := range map[string]ttl.Triple{
		"empty": {}, "literal subject": {S: l, P: i, O: i}, "literal predicate": {S: i, P: l, O: i}, "blank predicate": {S: i, P: ttl.NewBlank("b"), O: i},
		"no object": {S: i, P: i},
	} {
		if _, err := knakk.ToTriple(in); errs.KindOf(err) != errs.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
