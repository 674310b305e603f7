package ttl_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

func TestPositionOfEachTriple(t *testing.T) {
	const doc = "@prefix : <http://e/> .\n" +
		":s :p :o ,\n" +
		"      \"\u00e9\u4e2d\" , 'x' ;\n" + // wide characters count one each
		"   :q [ :r 1 ] ,\r\n" +
		"\t( 2\r 3 ) .\n" + // a bare CR ends a line
		"<a:\u00e9> :p \"\"\"one\n\u00e9 two\"\"\" , 4 .\n"
	want := []string{
		"o 2:7", "\u00e9\u4e2d 3:7", "x 3:14", "#1 4:7", "1 4:12", "#2 5:2", "2 5:4", "#3 6:2", "3 6:2", "nil 6:4", "one\n\u00e9 two 7:10", "4 8:12",
	}
	for name, src := range map[string]io.Reader{"whole": strings.NewReader(doc), "byte by byte": iotest.OneByteReader(strings.NewReader(doc))} {
		t.Run(name, func(t *testing.T) {
			var got []string
			r := ttl.NewReader(src, ttl.Options{})
			for s, err := range r.All() {
				if err != nil {
					t.Fatal(err)
				}
				p := r.Position()
				v := s.O.Value[strings.LastIndexAny(s.O.Value, "/#")+1:]
				if s.O.Kind == ttl.Blank {
					v = s.O.Value
				}
				got = append(got, fmt.Sprintf("%s %d:%d", v, p.Line, p.Column))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestPositionsFarIntoADocument crosses many buffers.
func TestPositionsFarIntoADocument(t *testing.T) {
	const lines = 50_000
	doc := io.MultiReader(&repeat{text: "<a:\u00e9> <a:p> '''\u00e9\n''' . # \u00e9\n", n: lines}, strings.NewReader("\u00e9 <a:\u00e9> !"))
	n, err := count(doc, ttl.Options{})
	var syntax *ttl.SyntaxError
	if n != lines || !errors.As(err, &syntax) || syntax.Line != 2*lines+1 || syntax.Column != 1 {
		t.Errorf("%d triples, %v", n, err)
	}
}

func TestExcerpt(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"<a:s> <a:p> 1 .\n<a:\u00e9> <a:p> !\n", "<a:\u00e9> <a:p> !\n            ^"},
		{"<a:s>\t\x1b[31m", "<a:s> \uFFFD[31m\n      ^"}, // no escape reaches a terminal
		{"<a:s> <a:p> \xff\xfe", "<a:s> <a:p> \uFFFD\uFFFD\n            ^"},
		{"<a:s> <a:p> " + strings.Repeat("<a:o>,", 50) + "!" + strings.Repeat("x", 100), "…" + strings.Repeat("<a:o>,", 50)[260:] + "!" + strings.Repeat("x", 39) + "…\n" + strings.Repeat(" ", 41) + "^"},
	} {
		_, err := count(strings.NewReader(c.in), ttl.Options{})
		var syntax *ttl.SyntaxError
		if !errors.As(err, &syntax) {
			t.Fatalf("%q: %v", c.in, err)
		}
		if diff := cmp.Diff(c.want, syntax.Excerpt); diff != "" {
			t.Errorf("%q:\n%s\n%s", c.in, syntax.Excerpt, diff)
		}
		if k := errs.KindOf(err); k != errs.Invalid || errs.Public(err) != err.Error() {
			t.Errorf("kind %s, caller is told %q", k, errs.Public(err))
		}
	}
}

func TestErrorsStay(t *testing.T) {
	r := ttl.NewReader(strings.NewReader("<a:s> <a:p> (1 !"), ttl.Options{})
	n := 0
	var first error
	for first == nil {
		if _, first = r.Read(); first == nil {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d triples before the error, want the 2 that were complete", n)
	}
	for range 3 {
		if _, err := r.Read(); !errors.Is(err, first) {
			t.Errorf("then %v, want %v again", err, first)
		}
	}
	r = ttl.NewReader(strings.NewReader(""), ttl.Options{})
	for range 3 {
		if _, err := r.Read(); err != io.EOF { //nolint:errorlint // it must be io.EOF itself
			t.Errorf("at the end: %v, want io.EOF itself", err)
		}
	}
}

// TestReaderFailure has the io.Reader below break off at each place of a
// document: its error comes through, whatever the syntax looks like by then.
func TestReaderFailure(t *testing.T) {
	broken := errors.New("the line went dead")
	doc := "@prefix a: <a:> . # c\na:s a:p 'x'@en, \"\"\"y\\u0041\n\"\"\"^^a:t, 1.5e3, (true [a:q <b:c>]), _:b .\n"
	for format, text := range map[ttl.Format]string{ttl.Turtle: doc, ttl.NTriples: "<a:s> <a:p> \"x\"^^<a:b> .\n_:a <a:b> <c:d> . # e"} {
		for n := range len(text) {
			src := io.MultiReader(strings.NewReader(text[:n]), iotest.ErrReader(broken))
			if _, err := count(src, ttl.Options{Format: format}); !errors.Is(err, broken) {
				t.Errorf("broken off at %d: %v", n, err)
			}
		}
	}
	// A failure that wraps io.EOF must not look like the end of the document.
	cut := fmt.Errorf("connection lost: %w", io.EOF)
	for _, in := range []string{"", "<a:s> <a:p> 1 .", "<a:s> <a:p>"} {
		if _, err := count(io.MultiReader(strings.NewReader(in), iotest.ErrReader(cut)), ttl.Options{}); !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			t.Errorf("%q, then cut off: %v", in, err)
		}
	}
	if _, err := count(stuck{}, ttl.Options{}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a reader that gives nothing: %v", err)
	}
	if _, err := count(liar{}, ttl.Options{}); err == nil {
		t.Error("a reader that claims to have read more than it can was believed")
	}
	// A data error with the last bytes is not lost, and the bytes count.
	n, err := count(iotest.DataErrReader(strings.NewReader("<a:s> <a:p> <a:o> .")), ttl.Options{})
	if n != 1 || err != nil {
		t.Errorf("%d triples, %v", n, err)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

type liar struct{}

func (liar) Read(p []byte) (int, error) { return len(p) + 1, nil }

func TestUTF8IsChecked(t *testing.T) {
	for _, bad := range []string{"\xff", "\xc3", "\xc3(", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\x80", "\xe4\xb8"} {
		for _, place := range []string{
			"<a:%s> <a:p> 1 .", "<a:s> <a:p> '%s' .", "<a:s> <a:p> '''%s''' .", "# %s\n", "PREFIX a: <a:> a:b%s a:b 1 .",
			"PREFIX a: <a:> a:%s a:b 1 .", "PREFIX a%s: <a:>", "_:a%s <a:p> 1 .", "_:%s <a:p> 1 .", "<a:s> %s", "%s", "<a:s> <a:p> 'x'@en%s .", "<a:s> <a:p> 1%s .",
			"<a:s> <a:p> 1 . # end %s",
		} {
			doc := fmt.Sprintf(place, bad)
			for _, src := range []io.Reader{strings.NewReader(doc), iotest.OneByteReader(strings.NewReader(doc))} {
				_, err := count(src, ttl.Options{})
				if err == nil || !strings.Contains(err.Error(), "not UTF-8") {
					t.Errorf("%q: %v", doc, err)
				}
			}
		}
	}
}

func TestByteOrderMark(t *testing.T) {
	for _, f := range []ttl.Format{ttl.Turtle, ttl.NTriples} {
		n, err := count(iotest.OneByteReader(strings.NewReader("\xEF\xBB\xBF<a:s> <a:p> <a:o> .")), ttl.Options{Format: f})
		if n != 1 || err != nil {
			t.Errorf("%v: %d triples, %v", f, n, err)
		}
		for _, in := range []string{"\xEF", "\xEF\xBB", "<a:s> \xEF\xBB\xBF<a:p> <a:o> ."} {
			if _, err := count(strings.NewReader(in), ttl.Options{Format: f}); err == nil {
				t.Errorf("%v: %q was read", f, in)
			}
		}
		r := ttl.NewReader(strings.NewReader("\xEF\xBB\xBF!"), ttl.Options{Format: f})
		if _, err := r.Read(); err == nil || !strings.HasPrefix(err.Error(), "line 1, column 1:") {
			t.Errorf("%v: %v", f, err)
		}
	}
}

func TestRelativeWithoutBase(t *testing.T) {
	for _, in := range []string{"<s> <a:p> 1 .", "<> <a:p> 1 .", "@base <x> .", "@prefix a: <#> .", "<a:s> <a:p> 'x'^^<t> ."} {
		if _, err := count(strings.NewReader(in), ttl.Options{}); err == nil || !strings.Contains(err.Error(), "there is no base") {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestPrefixes(t *testing.T) {
	r := ttl.NewReader(strings.NewReader("@prefix : <a:> . PREFIX b: <b:> : b: : . PREFIX b: <c:> b: : b:x ."), ttl.Options{})
	s, err := r.Read()
	if err != nil || s.P.Value != "b:" {
		t.Fatal(s, err)
	}
	if diff := cmp.Diff(map[string]string{"": "a:", "b": "b:"}, r.Prefixes()); diff != "" {
		t.Error(diff)
	}
	r.Prefixes()["b"] = "spoilt:"
	if s, err = r.Read(); err != nil || s.S.Value != "c:" || s.O.Value != "c:x" {
		t.Error(s, err) // a name from before the change must not come back
	}
}

// TestGeneratedLabelsDoNotCollide has the labels that other readers generate.
func TestGeneratedLabelsDoNotCollide(t *testing.T) {
	const doc = "_:b0 <a:p> [ <a:q> 1 ] . _:genid1 <a:p> (2) . _:b1 <a:p> [] . _:anon-1 <a:p> _:b0 ."
	labels := map[string]bool{}
	for s, err := range ttl.NewReader(strings.NewReader(doc), ttl.Options{}).All() {
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []ttl.Term{s.S, s.O} {
			if x.Kind == ttl.Blank {
				labels[x.Value] = ttl.IsGenerated(x.Value)
			}
		}
	}
	want := map[string]bool{"b0": false, "genid1": false, "b1": false, "anon-1": false, "#1": true, "#2": true, "#3": true}
	if diff := cmp.Diff(want, labels); diff != "" {
		t.Error(diff)
	}
}

func TestAllStops(t *testing.T) {
	r := ttl.NewReader(strings.NewReader("<a:s> <a:p> 1, 2, 3 ."), ttl.Options{})
	for range r.All() {
		break
	}
	if s, err := r.Read(); err != nil || s.O.Value != "2" {
		t.Errorf("after a break: %v, %v", s, err)
	}
}
