package ttl_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan/ttl"
)

func e(name string) ttl.Term { return ttl.NewIRI("http://e/" + name) }

func TestLinesGood(t *testing.T) {
	spo := ttl.Triple{S: e("s"), P: e("p"), O: e("o")}
	for _, c := range []struct {
		in   string
		want []ttl.Triple
	}{
		{"", nil},
		{"\n\r\n# comment\n \t# \u00E9", nil},
		{"<http://e/s> <http://e/p> <http://e/o> .", []ttl.Triple{spo}},
		{"<http://e/s><http://e/p><http://e/o>.#x\n\t<http://e/s>\t<http://e/p> <http://e/o> . \r", []ttl.Triple{spo, spo}},
		{"_:a-1.b <http://e/p> _:0 .", []ttl.Triple{{S: ttl.NewBlank("a-1.b"), P: e("p"), O: ttl.NewBlank("0")}}},
		{`<http://e/s> <http://e/p> "a\t\b\n\r\f\"\'\\\u00e9\U0001F333'` + "\t\x00\u00e9" + `" .`, []ttl.Triple{
			{S: e("s"), P: e("p"), O: ttl.NewString("a\t\b\n\r\f\"'\\\u00e9\U0001F333'\t\x00\u00e9")},
		}},
		{`_:a <http://e/p> "x"@de-AT-1996 . ` + "\n" + `_:a <http://e/p> "1"^^<http://e/t> .`, []ttl.Triple{
			{S: ttl.NewBlank("a"), P: e("p"), O: ttl.NewLang("x", "de-AT-1996")},
			{S: ttl.NewBlank("a"), P: e("p"), O: ttl.NewTyped("1", "http://e/t")},
		}},
		{`_:a <http://e/p> "x" ^^ <http://www.w3.org/2001/XMLSchema#string> .`, []ttl.Triple{
			{S: ttl.NewBlank("a"), P: e("p"), O: ttl.NewString("x")},
		}},
		{`<http://e/\u00E9> <urn:x> <scheme+-.1:> .`, []ttl.Triple{{S: e("\u00E9"), P: ttl.NewIRI("urn:x"), O: ttl.NewIRI("scheme+-.1:")}}},
	} {
		got, err := readAll(strings.NewReader(c.in), ttl.Options{Format: ttl.NTriples})
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%q: %v %s", c.in, err, diff)
		}
		slow, err := readAll(iotest.OneByteReader(strings.NewReader(c.in)), ttl.Options{Format: ttl.NTriples})
		if diff := cmp.Diff(c.want, slow); diff != "" || err != nil {
			t.Errorf("%q byte by byte: %v %s", c.in, err, diff)
		}
	}
}

func TestLinesBad(t *testing.T) {
	const sp = "<a:s> <a:p> "
	for _, c := range []struct{ in, at, msg string }{
		{"<a:s> <a:p> <a:o>", "1:18", "'.' at the end of the statement, found the end of the document"},
		{"<a:s> <a:p> <a:o> . <a:s>", "1:21", "the end of the line"},
		{"<a:s>\n<a:p> <a:o> .", "1:6", "a predicate: an IRI, found the end of the line"},
		{"<a:s> # x\n", "1:7", "a predicate: an IRI, found '#'"},
		{"<a:s> <a:p> <a:o> .\n\n<a:s> <a:p> .", "3:13", "an object"},
		{"<a:s> a <a:o> .", "1:7", "a predicate"},
		{"<a:s> _:p <a:o> .", "1:7", "a predicate"},
		{"\"s\" <a:p> <a:o> .", "1:1", "a subject"},
		{"@prefix a: <a:b> .", "1:1", "a subject"},
		{"a:s <a:p> <a:o> .", "1:1", "a subject"},
		{"<s> <a:p> <a:o> .", "1:1", "<s> is relative; ntriples has only absolute IRIs"},
		{"<> <a:p> <a:o> .", "1:1", "is relative"},
		{sp + "<o> .", "1:13", "is relative"},
		{sp + "<1:o> .", "1:13", "is relative"},
		{sp + "1 .", "1:13", "an object"},
		{sp + "true .", "1:13", "an object"},
		{sp + "'x' .", "1:13", "an object"},
		{sp + `"""x""" .`, "1:15", "'.' at the end of the statement"},
		{sp + "\"a\nb\" .", "1:13", "not closed on its line"},
		{sp + `"x"^^a:t .`, "1:18", "the datatype's IRI"},
		{sp + `"x"^^<t> .`, "1:18", "is relative"},
		{sp + `"x"@e1 .`, "1:18", "'.' at the end"},
		{sp + `"x"@ .`, "1:16", "begins with a letter"},
		{sp + `"\z" .`, "1:14", "no such escape"},
		{sp + "<a:o>, <a:r> .", "1:18", "'.' at the end of the statement"},
		{sp + "<a:o> <a:g> .", "1:19", "'.' at the end of the statement"},
		{sp + "_::o .", "1:15", "must begin with"},
		{sp + "[] .", "1:13", "an object"},
		{"<a:s> <a:p> <a:o> . # \xff", "1:23", "not UTF-8"},
		{"# \xc3(", "1:3", "not UTF-8"},
	} {
		_, err := readAll(strings.NewReader(c.in), ttl.Options{Format: ttl.NTriples})
		var syntax *ttl.SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%q: error %v, want a syntax error", c.in, err)
			continue
		}
		if at := fmt.Sprintf("%d:%d", syntax.Line, syntax.Column); at != c.at || !strings.Contains(syntax.Msg, c.msg) {
			t.Errorf("%q:\ngot  %s %s\nwant %s …%s…", c.in, at, syntax.Msg, c.at, c.msg)
		}
	}
}

func TestQuads(t *testing.T) {
	const doc = "<a:s> <a:p> \"x\" <a:g> .\n<a:s> <a:p> <a:o> .\n<a:s> <a:p> <a:o> _:g . # end\n"
	r := ttl.NewReader(strings.NewReader(doc), ttl.Options{Format: ttl.NQuads})
	var graphs []ttl.Term
	for {
		q, err := r.ReadQuad()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		graphs = append(graphs, q.G)
	}
	if diff := cmp.Diff([]ttl.Term{ttl.NewIRI("a:g"), {}, ttl.NewBlank("g")}, graphs); diff != "" {
		t.Error(diff)
	}
	// Read must not drop a graph without a word.
	r = ttl.NewReader(strings.NewReader(doc), ttl.Options{Format: ttl.NQuads})
	if _, err := r.Read(); err == nil || !strings.Contains(err.Error(), "named graph") {
		t.Errorf("Read of a quad: %v", err)
	}
	for _, bad := range []string{"<a:s> <a:p> <a:o> \"g\" .", "<a:s> <a:p> <a:o> <a:g> <a:h> .", "<a:s> <a:p> <a:o> <g> ."} {
		if q, err := ttl.NewReader(strings.NewReader(bad), ttl.Options{Format: ttl.NQuads}).ReadQuad(); err == nil {
			t.Errorf("%q is read as %v", bad, q)
		}
	}
}

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		name string
		want ttl.Format
		ok   bool
	}{
		{"turtle", ttl.Turtle, true},
		{"text/turtle; charset=utf-8", ttl.Turtle, true},
		{"Text/Turtle", ttl.Turtle, true},
		{"caps.v2.ttl", ttl.Turtle, true},
		{".nt", ttl.NTriples, true},
		{"nt", ttl.NTriples, true},
		{"application/n-triples", ttl.NTriples, true},
		{"NQuads", ttl.NQuads, true},
		{"dump.nq", ttl.NQuads, true},
		{"application/n-quads", ttl.NQuads, true},
		{"application/ld+json", 0, false},
		{"", 0, false},
	} {
		if f, ok := ttl.FormatByName(c.name); f != c.want || ok != c.ok {
			t.Errorf("FormatByName(%q) = %v, %v", c.name, f, ok)
		}
	}
	for _, f := range []ttl.Format{ttl.Turtle, ttl.NTriples, ttl.NQuads} {
		for _, name := range []string{f.String(), f.MediaType()} {
			if got, ok := ttl.FormatByName(name); got != f || !ok {
				t.Errorf("FormatByName(%q) = %v, %v", name, got, ok)
			}
		}
	}
}

func TestSniffFormat(t *testing.T) {
	for in, want := range map[string]ttl.Format{
		"":                       ttl.Turtle,
		"# x\n@prefix a: <b:> .": ttl.Turtle,
		"<a:s> <a:p> <a:o> .\n":  ttl.Turtle, // N-Triples is Turtle too
		"#\n\n<a:s> <a:p> <a:o> <a:g> .\nrubbish":        ttl.NQuads,
		"<a:s> <a:p> <a:o> <a:g> .":                      ttl.NQuads,
		"<a:s> <a:p> <a:o> <a:":                          ttl.Turtle,
		"<a:s> <a:p> <a:o> .\n<a:s> <a:p> <a:o> <a:g> .": ttl.Turtle,
	} {
		if got := ttl.SniffFormat([]byte(in)); got != want {
			t.Errorf("SniffFormat(%q) = %v, want %v", in, got, want)
		}
	}
}
