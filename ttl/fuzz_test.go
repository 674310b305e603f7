package ttl_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed-ff860830/banyan/ttl"
	"github.com/seed-ff860830/banyan/ttl/rdfgraph"
)

// fuzzLimits are small, so that the fuzzer meets them.
var fuzzLimits = ttl.Limits{Bytes: 1 << 16, Triples: 300, Depth: 20, LiteralBytes: 2000, IRIBytes: 400, Prefixes: 20, TermBytes: 100_000}

// fuzzRead reads a document, whole and in small pieces, checks that both give
// the same and that the limits hold, and returns what it says.
func fuzzRead(t *testing.T, doc []byte, o ttl.Options) ([]ttl.Triple, error) {
	ts, err := readAll(bytes.NewReader(doc), o)
	slow, slowErr := readAll(iotest.OneByteReader(bytes.NewReader(doc)), o)
	if (err == nil) != (slowErr == nil) || len(ts) != len(slow) {
		t.Fatalf("%q: %d triples, %v; byte by byte %d, %v", doc, len(ts), err, len(slow), slowErr)
	}
	var syntax *ttl.SyntaxError
	var limit *ttl.LimitError
	switch {
	case errors.As(err, &syntax):
		if syntax.Line < 1 || syntax.Column < 1 || syntax.Line > 1+len(doc) || syntax.Column > 1+len(doc) {
			t.Fatalf("%q: no such place: %v", doc, err)
		}
	case errors.As(err, &limit):
	case err != nil:
		t.Fatalf("%q: an error of another sort: %v", doc, err)
	}
	if len(ts) > int(fuzzLimits.Triples) {
		t.Fatalf("%d triples", len(ts))
	}
	size := 0
	for _, s := range ts {
		for _, x := range []ttl.Term{s.S, s.P, s.O} {
			if err := x.Validate(); err != nil {
				t.Fatalf("%q gave the term %#v: %v", doc, x, err)
			}
			if x.Kind != ttl.Literal && len(x.Value) > fuzzLimits.IRIBytes || len(x.Value) > fuzzLimits.LiteralBytes {
				t.Fatalf("%q gave a term of %d bytes", doc, len(x.Value))
			}
			size += len(x.Value) + len(x.Lang) + len(x.Datatype)
		}
	}
	if size > int(fuzzLimits.TermBytes) {
		t.Fatalf("%d bytes of terms", size)
	}
	return ts, err
}

// fuzzRoundTrip writes what was read and reads that: it must be the same graph.
func fuzzRoundTrip(t *testing.T, doc []byte, ts []ttl.Triple, prefixes map[string]string) {
	for _, f := range []ttl.Format{ttl.Turtle, ttl.NTriples} {
		out, err := write(f, prefixes, quads(ts)...)
		if err != nil {
			t.Fatalf("%q: writing %v: %v", doc, f, err)
		}
		back, err := readAll(strings.NewReader(out), ttl.Options{Format: f})
		if err != nil {
			t.Fatalf("%q was written as %q: %v", doc, out, err)
		}
		if same, err := rdfgraph.Isomorphic(ts, back); err == nil && !same {
			t.Fatalf("%q was written as %q: another graph", doc, out)
		}
	}
}

func FuzzTurtle(f *testing.F) {
	for _, c := range goodCases {
		f.Add([]byte(grammarHead + c.in))
	}
	for _, c := range badCases {
		f.Add([]byte(grammarHead + c.in))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		ts, err := fuzzRead(t, doc, ttl.Options{Base: grammarBase, Limits: fuzzLimits})
		if err == nil {
			fuzzRoundTrip(t, doc, ts, testPrefixes)
		}
	})
}

func FuzzNTriples(f *testing.F) {
	for _, c := range goodCases {
		f.Add([]byte(expandWant(c.want)))
	}
	for _, s := range []string{
		"<a:s> <a:p> \"x\"@en-US . # c\r\n_:a.b <a:p> \"\\u0041\\U0001F333\"^^<a:t> .", "<a:s> <a:p> <a:o> . <a:s>", "<a:s> <a:p> \"a\nb\" .", "\xEF\xBB\xBF",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		ts, err := fuzzRead(t, doc, ttl.Options{Format: ttl.NTriples, Limits: fuzzLimits})
		if err != nil {
			return
		}
		fuzzRoundTrip(t, doc, ts, nil)
		// N-Triples is a part of Turtle.
		if same, err := readAll(bytes.NewReader(doc), ttl.Options{}); err != nil || len(same) != len(ts) {
			t.Fatalf("%q: as Turtle %d triples, %v; want %d", doc, len(same), err, len(ts))
		}
	})
}

// FuzzWriter gives the writer any text as any part of a statement: it refuses
// it, or writes what reads back as the same terms.
func FuzzWriter(f *testing.F) {
	f.Add("http://e/s", "b", "http://e/p", "text\n\"", "en-US", "http://e/t")
	f.Add("http://e/> . <a:b", "#1", "http://e/c++", "1.0", "", ttl.XSDDecimal)
	f.Add("urn:x:", "anon-1", "a:x.", "1 . <a:s> <a:p> <a:o>", "", ttl.XSDInteger)
	f.Fuzz(func(t *testing.T, s, label, p, text, lang, datatype string) {
		if label == "" {
			label = "b"
		}
		ts := []ttl.Triple{
			{S: ttl.NewIRI(s), P: ttl.NewIRI(p), O: ttl.NewLang(text, lang)},
			{S: ttl.NewBlank(label), P: ttl.NewIRI(p), O: ttl.NewTyped(text, datatype)},
			{S: ttl.NewBlank(label), P: ttl.NewIRI(p), O: ttl.NewIRI(s)},
		}
		for _, format := range []ttl.Format{ttl.Turtle, ttl.NTriples, ttl.NQuads} {
			doc, err := write(format, testPrefixes, quads(ts)...)
			if err != nil {
				continue
			}
			back, err := readAll(strings.NewReader(doc), ttl.Options{Format: format, Limits: ttl.Limits{IRIBytes: 1 << 20}})
			if err != nil || len(back) != len(ts) {
				t.Fatalf("%v: %q: %v", format, doc, err)
			}
			for i, x := range back {
				if x.P != ts[i].P || x.O != ts[i].O {
					t.Fatalf("%v: %q gave %v, want %v", format, doc, x, ts[i])
				}
			}
		}
	})
}
