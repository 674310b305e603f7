package ttl_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
	"github.com/seed-ff860830/banyan/ttl/rdfgraph"
)

func write(f ttl.Format, prefixes map[string]string, qs ...ttl.Quad) (string, error) {
	var b bytes.Buffer
	w := ttl.NewWriter(&b, ttl.WriterOptions{Format: f, Prefixes: prefixes})
	for _, q := range qs {
		if err := w.WriteQuad(q); err != nil {
			return b.String(), err
		}
	}
	err := w.Close()
	return b.String(), err
}

func quads(ts []ttl.Triple) []ttl.Quad {
	qs := make([]ttl.Quad, len(ts))
	for i, t := range ts {
		qs[i] = ttl.Quad{S: t.S, P: t.P, O: t.O}
	}
	return qs
}

var testPrefixes = map[string]string{"": "http://e/", "ns": "http://e/ns#", "sub": "http://e/ns#sub/", "u": "urn:x:", "a": "a:", "é.1": "http://e/é"}

// TestWriteThenRead is the writer's promise: whatever terms there are, reading
// gives the same graph.
func TestWriteThenRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := genGraph.Draw(t, "graph")
		format := rapid.SampledFrom([]ttl.Format{ttl.Turtle, ttl.NTriples, ttl.NQuads}).Draw(t, "format")
		doc, err := write(format, testPrefixes, quads(want)...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(strings.NewReader(doc), ttl.Options{Format: format})
		if err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		// The order is kept, so the terms can be compared one by one; blank
		// nodes come back under their writable labels.
		renamed := slices.Clone(want)
		for i := range renamed {
			for _, x := range []*ttl.Term{&renamed[i].S, &renamed[i].O} {
				if x.Kind == ttl.Blank {
					x.Value = ttl.WritableLabel(x.Value)
				}
			}
		}
		if diff := cmp.Diff(append([]ttl.Triple{}, renamed...), append([]ttl.Triple{}, got...)); diff != "" {
			t.Fatalf("%s\n%s", diff, doc)
		}
		if same, err := rdfgraph.Isomorphic(want, got); err != nil || !same {
			t.Fatalf("not the same graph (%v)\n%s", err, doc)
		}
		again, _ := write(format, testPrefixes, quads(got)...)
		if !strings.Contains(doc, "_:anon-") && again != doc {
			t.Fatalf("not the same bytes:\n%s\n%s", doc, again)
		}
	})
}

func TestQuadsWriteThenRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := quads(genGraph.Draw(t, "graph"))
		for i := range want {
			want[i].G = rapid.OneOf(rapid.Just(ttl.Term{}), rapid.Map(genIRI, ttl.NewIRI)).Draw(t, "g")
		}
		doc, err := write(ttl.NQuads, nil, want...)
		if err != nil {
			t.Fatal(err)
		}
		r := ttl.NewReader(strings.NewReader(doc), ttl.Options{Format: ttl.NQuads})
		for i, w := range want {
			got, err := r.ReadQuad()
			if err != nil || got.G != w.G || got.P != w.P || got.O.Kind == ttl.Literal && got.O != w.O {
				t.Fatalf("quad %d: %v, %v; want %v", i, got, err, w)
			}
		}
		if _, err := r.ReadQuad(); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	})
}

func TestTurtleText(t *testing.T) {
	ts := []ttl.Triple{
		{S: e("s"), P: ttl.NewIRI(ttl.RDFType), O: e("T")},
		{S: e("s"), P: e("p"), O: e("o")},
		{S: e("s"), P: e("p"), O: ttl.NewTyped("1", ttl.XSDInteger)},
		{S: e("s"), P: e("p"), O: ttl.NewTyped("1.", ttl.XSDDecimal)},
		{S: e("s"), P: e("p"), O: ttl.NewTyped("1", ttl.XSDDouble)},
		{S: e("s"), P: e("q"), O: ttl.NewTyped("1.5e0", ttl.XSDDouble)},
		{S: e("s"), P: e("q"), O: ttl.NewTyped("true", ttl.XSDBoolean)},
		{S: e("s"), P: e("q"), O: ttl.NewTyped("1", ttl.XSDBoolean)},
		{S: ttl.NewBlank("#3"), P: e("q"), O: ttl.NewBlank("x")},
		{S: e("py/numpy@1.24.2"), P: e("c++"), O: e("x.")},
		{S: ttl.NewIRI("http://e/ns#sub/a.b-c"), P: ttl.NewIRI("http://e/ns#a"), O: ttl.NewLang("a\"\\\n\r\t\x00\x7fé", "zh-Hant-TW")},
		{S: e(""), P: ttl.NewIRI("urn:y"), O: ttl.NewTyped("x", ttl.XSDString)},
	}
	const want = `@prefix : <http://e/> .
@prefix a: <a:> .
@prefix ns: <http://e/ns#> .
@prefix sub: <http://e/ns#sub/> .
@prefix u: <urn:x:> .
@prefix é.1: <http://e/é> .
:s a :T ;
    :p :o , 1 , "1."^^<http://www.w3.org/2001/XMLSchema#decimal> , "1"^^<http://www.w3.org/2001/XMLSchema#double> ;
    :q 1.5e0 , true , "1"^^<http://www.w3.org/2001/XMLSchema#boolean> .
_:anon-3 :q _:x .
<http://e/py/numpy@1.24.2> <http://e/c++> <http://e/x.> .
sub:a.b-c ns:a "a\"\\\n\r\t\u0000\u007Fé"@zh-Hant-TW .
: <urn:y> "x" .
`
	got, err := write(ttl.Turtle, testPrefixes, quads(ts)...)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	again, err := write(ttl.Turtle, maps.Clone(testPrefixes), quads(ts)...)
	if again != got || err != nil {
		t.Error("the same statements gave other bytes")
	}
	empty, err := write(ttl.Turtle, nil)
	if empty != "" || err != nil {
		t.Errorf("an empty graph is %q, %v", empty, err)
	}
}

func TestWriterRefuses(t *testing.T) {
	s, p, o := e("s"), e("p"), e("o")
	for name, q := range map[string]ttl.Quad{
		"no subject":            {P: p, O: o},
		"literal subject":       {S: ttl.NewString("x"), P: p, O: o},
		"blank predicate":       {S: s, P: ttl.NewBlank("b"), O: o},
		"no predicate":          {S: s, O: o},
		"no object":             {S: s, P: p},
		"relative IRI":          {S: s, P: p, O: ttl.NewIRI("o")},
		"space in IRI":          {S: s, P: p, O: ttl.NewIRI("http://e/a b")},
		"IRI that closes":       {S: s, P: p, O: ttl.NewIRI("http://e/> . <a:s> <a:p> <a:o")},
		"IRI not UTF-8":         {S: s, P: p, O: ttl.NewIRI("http://e/\xff")},
		"empty label":           {S: s, P: p, O: ttl.NewBlank("")},
		"text not UTF-8":        {S: s, P: p, O: ttl.NewString("\xff")},
		"bad tag":               {S: s, P: p, O: ttl.NewLang("x", "en us")},
		"tag with bad end":      {S: s, P: p, O: ttl.NewLang("x", "en-")},
		"tag of digits":         {S: s, P: p, O: ttl.NewLang("x", "1")},
		"tag and type":          {S: s, P: p, O: ttl.Term{Kind: ttl.Literal, Value: "x", Lang: "en", Datatype: "a:t"}},
		"relative type":         {S: s, P: p, O: ttl.NewTyped("x", "t")},
		"IRI with tag":          {S: s, P: p, O: ttl.Term{Kind: ttl.IRI, Value: "a:b", Lang: "en"}},
		"unknown kind":          {S: s, P: p, O: ttl.Term{Kind: 9, Value: "a:b"}},
		"literal graph":         {S: s, P: p, O: o, G: ttl.NewString("g")},
		"relative graph":        {S: s, P: p, O: o, G: ttl.NewIRI("g")},
		"number that is a text": {S: s, P: p, O: ttl.NewTyped("1\xff", ttl.XSDInteger)},
	} {
		t.Run(name, func(t *testing.T) {
			for _, f := range []ttl.Format{ttl.Turtle, ttl.NTriples, ttl.NQuads} {
				var b bytes.Buffer
				w := ttl.NewWriter(&b, ttl.WriterOptions{Format: f})
				err := w.WriteQuad(q)
				if k := errs.KindOf(err); k != errs.Invalid && (k != errs.Unsupported || q.G.Kind == ttl.None) {
					t.Errorf("%v: %v", f, err)
				}
				if again := w.Write(ttl.Triple{S: s, P: p, O: o}); !errors.Is(again, err) {
					t.Errorf("%v: then %v", f, again)
				}
				if closed := w.Close(); !errors.Is(closed, err) || b.Len() != 0 {
					t.Errorf("%v: Close gave %v and there are %d bytes", f, closed, b.Len())
				}
			}
		})
	}
}

func TestWriterOptions(t *testing.T) {
	for _, o := range []ttl.WriterOptions{
		{Format: 99},
		{Prefixes: map[string]string{"1": "a:"}},
		{Prefixes: map[string]string{"a.": "a:"}},
		{Prefixes: map[string]string{"_": "a:"}},
		{Prefixes: map[string]string{"a b": "a:"}},
		{Prefixes: map[string]string{"\xff": "a:"}},
		{Prefixes: map[string]string{"a": "rel"}},
		{Prefixes: map[string]string{"a": "http://e/> ."}},
	} {
		w := ttl.NewWriter(io.Discard, o)
		if err := w.Close(); errs.KindOf(err) == errs.Internal {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := write(ttl.Turtle, nil, ttl.Quad{S: e("s"), P: e("p"), O: e("o"), G: e("g")}); errs.KindOf(err) != errs.Unsupported || errs.HintOf(err) == "" {
		t.Errorf("a named graph in Turtle: %v", err)
	}
}

// full fails after some bytes, as a full disk does.
type full struct{ room int }

var errFull = errors.New("no space")

func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.room {
		return 0, errFull
	}
	f.room -= len(p)
	return len(p), nil
}

func TestWriterReportsTheSink(t *testing.T) {
	for _, room := range []int{0, 20_000} {
		w := ttl.NewWriter(&full{room}, ttl.WriterOptions{})
		for i := range 3000 {
			if err := w.Write(ttl.Triple{S: e(fmt.Sprint(i)), P: e("p"), O: e("o")}); err != nil && !errors.Is(err, errFull) {
				t.Fatal(err)
			}
		}
		if err := w.Close(); !errors.Is(err, errFull) {
			t.Errorf("room for %d: %v", room, err)
		}
	}
}

func TestTermString(t *testing.T) {
	for want, x := range map[string]ttl.Term{
		"": {}, "<a:b>": ttl.NewIRI("a:b"), "_:b": ttl.NewBlank("b"), `"x\n"`: ttl.NewString("x\n"), `"x"@en`: ttl.NewLang("x", "en"),
		`"1"^^<http://www.w3.org/2001/XMLSchema#integer>`: ttl.NewTyped("1", ttl.XSDInteger),
	} {
		if got := x.String(); got != want {
			t.Errorf("%#v is %q, want %q", x, got, want)
		}
	}
	if got := (ttl.Triple{S: e("s"), P: e("p"), O: ttl.NewString("o")}).String(); got != `<http://e/s> <http://e/p> "o" .` {
		t.Error(got)
	}
}
