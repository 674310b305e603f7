package ttl_test

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// repeat is a document of one text n times and an end, made as it is read.
type repeat struct {
	text string
	n    int
	tail string
	rest string
}

func (r *repeat) Read(p []byte) (int, error) {
	for r.rest == "" {
		switch {
		case r.n > 0:
			k := min(r.n, 1000)
			r.n -= k
			r.rest = strings.Repeat(r.text, k)
		case r.tail != "":
			r.rest, r.tail = r.tail, ""
		default:
			return 0, io.EOF
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// count reads a document to its end.
func count(src io.Reader, o ttl.Options) (int, error) {
	n := 0
	for _, err := range ttl.NewReader(src, o).All() {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// TestB45_DeepNestingIsAnError nests further than any stack would bear.
func TestB45_DeepNestingIsAnError(t *testing.T) {
	const deep = 100_000
	for name, doc := range map[string]*repeat{
		"brackets":          {text: "[ <a:p> ", n: deep, tail: strings.Repeat("] ", deep) + "."},
		"brackets, objects": {text: "<a:s> <a:p> [ <a:p> ", n: 1, tail: strings.Repeat("[ <a:p> ", deep)},
		"lists":             {text: "(", n: deep, tail: strings.Repeat(")", deep) + " <a:p> <a:o> ."},
		"both":              {text: "([ <a:p> ", n: deep, tail: ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := count(doc, ttl.Options{})
			var limit *ttl.LimitError
			if !errors.As(err, &limit) || limit.Limit != "Depth" || limit.Max != 256 {
				t.Fatalf("error %v, want the limit on depth", err)
			}
			if k := errs.KindOf(err); k != errs.Invalid {
				t.Errorf("kind %s, want invalid", k)
			}
			if !strings.Contains(errs.Public(err), "deeper than the limit of 256") {
				t.Errorf("the caller is told %q", errs.Public(err))
			}
		})
	}
}

// TestB45_AFlatListIsRead is the other side: length is not depth.
func TestB45_AFlatListIsRead(t *testing.T) {
	const items = 100_000
	n, err := count(io.MultiReader(strings.NewReader("<a:s> <a:p> ("), &repeat{text: " 1", n: items, tail: ") ."}), ttl.Options{})
	if want := 1 + 2*items; n != want || err != nil {
		t.Errorf("%d triples and error %v, want %d", n, err, want)
	}
	n, err = count(&repeat{text: "[] <a:p> [ <a:p> [] ] , ( [] ) .", n: items}, ttl.Options{})
	if want := 5 * items; n != want || err != nil {
		t.Errorf("%d triples and error %v, want %d", n, err, want)
	}
}

// TestDepthIsBoundedJustThere reads what is as deep as allowed.
func TestDepthIsBoundedJustThere(t *testing.T) {
	for depth, want := range map[int]bool{255: true, 256: true, 257: false} {
		doc := "<a:s> <a:p> " + strings.Repeat("(", depth) + "1" + strings.Repeat(")", depth) + " ."
		if _, err := count(strings.NewReader(doc), ttl.Options{}); (err == nil) != want {
			t.Errorf("depth %d: %v", depth, err)
		}
	}
	// A depth that the caller asks for is borne, however deep.
	const deep = 1_000_000
	doc := io.MultiReader(strings.NewReader("<a:s> <a:p> "), &repeat{text: "[<a:p>", n: deep}, strings.NewReader("1"), &repeat{text: "]", n: deep, tail: "."})
	if n, err := count(doc, ttl.Options{Limits: ttl.Limits{Depth: deep}}); n != deep+1 || err != nil {
		t.Errorf("%d triples, %v", n, err)
	}
}

func TestLimits(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, c := range []struct {
		limit string
		l     ttl.Limits
		ok    string // just within
		over  string // just over
	}{
		{"Bytes", ttl.Limits{Bytes: 20}, "<a:s> <a:p> <a:oo> .", "<a:s> <a:p> <a:ooo> ."},
		{"Bytes", ttl.Limits{Bytes: 20}, "# 3456789 123456789 ", "# 3456789 123456789 1"},
		{"Bytes", ttl.Limits{Bytes: 20}, strings.Repeat(" ", 20), strings.Repeat(" ", 21)},
		{"Triples", ttl.Limits{Triples: 2}, "<a:s> <a:p> 1, 2 .", "<a:s> <a:p> 1, 2, 3 ."},
		{"Triples", ttl.Limits{Triples: 3}, "<a:s> <a:p> (1) .", "<a:s> <a:p> (1 2) ."},
		{"Depth", ttl.Limits{Depth: 1}, "<a:s> <a:p> [ <a:p> [] ] .", "<a:s> <a:p> [ <a:p> [ <a:p> 1 ] ] ."},
		{"LiteralBytes", ttl.Limits{LiteralBytes: 200}, `<a:s> <a:p> "` + long + `" .`, `<a:s> <a:p> "x` + long + `" .`},
		{"LiteralBytes", ttl.Limits{LiteralBytes: 200}, `<a:s> <a:p> """` + long + `""" .`, `<a:s> <a:p> """x` + long + `""" .`},
		{"LiteralBytes", ttl.Limits{LiteralBytes: 20}, `<a:s> <a:p> 12345678901234567890 .`, `<a:s> <a:p> 123456789012345678901 .`},
		{"IRIBytes", ttl.Limits{IRIBytes: 200}, `<a:` + long[2:] + `> <a:p> 1 .`, `<a:` + long + `> <a:p> 1 .`},
		{"IRIBytes", ttl.Limits{IRIBytes: 201}, `PREFIX x:<a:` + long[4:] + `> x:yz x:p 1 .`, `PREFIX x:<a:` + long[2:] + `> x:yz x:p 1 .`},
		{"IRIBytes", ttl.Limits{IRIBytes: 201}, `PREFIX x:<a:> x:` + long[2:] + ` x:p 1 .`, `PREFIX x:<a:> x:` + long + ` x:p 1 .`},
		{"IRIBytes", ttl.Limits{IRIBytes: 201}, `PREFIX ` + long + `:<a:> `, `PREFIX xx` + long + `:<a:> `},
		{"IRIBytes", ttl.Limits{IRIBytes: 203}, `BASE <a:/` + long + `> <x> <y> 1 .`, `BASE <a:/` + long[3:] + `/> <xyz> <y> 1 .`},
		{"IRIBytes", ttl.Limits{IRIBytes: 200}, `_:` + long + ` <a:p> 1 .`, `_:x` + long + ` <a:p> 1 .`},
		{"IRIBytes", ttl.Limits{IRIBytes: 200}, `<a:s> <a:p> "x"@` + long[2:] + ` .`, `<a:s> <a:p> "x"@x` + long + ` .`},
		{"Prefixes", ttl.Limits{Prefixes: 1}, "PREFIX a: <a:> PREFIX a: <b:>", "PREFIX a: <a:> PREFIX b: <b:>"},
		{"TermBytes", ttl.Limits{TermBytes: 9}, "<a:s> <a:p> \"xyz\" .", "<a:s> <a:p> \"xyzz\" ."},
	} {
		if _, err := count(strings.NewReader(c.ok), ttl.Options{Limits: c.l}); err != nil {
			t.Errorf("%s: %.40q: %v", c.limit, c.ok, err)
		}
		for _, src := range []io.Reader{strings.NewReader(c.over), iotest.OneByteReader(strings.NewReader(c.over))} {
			_, err := count(src, ttl.Options{Limits: c.l})
			var limit *ttl.LimitError
			if !errors.As(err, &limit) || limit.Limit != c.limit || limit.Line != 1 {
				t.Errorf("%s: %.40q: error %v", c.limit, c.over, err)
				continue
			}
			want := errs.TooLarge
			if c.limit == "Depth" {
				want = errs.Invalid
			}
			if k := errs.KindOf(err); k != want || errs.Public(err) != err.Error() || strings.Contains(err.Error(), "%!") {
				t.Errorf("%s: kind %s, text %q", c.limit, k, errs.Public(err))
			}
		}
	}
}

// TestLimitsInLines has the limits of N-Triples, which share the scanners.
func TestLimitsInLines(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, c := range []struct {
		limit string
		l     ttl.Limits
		in    string
	}{
		{"Bytes", ttl.Limits{Bytes: 30}, "<a:s> <a:p> <a:o> .\n<a:s> <a:p> <a:o> .\n"},
		{"Triples", ttl.Limits{Triples: 1}, "<a:s> <a:p> <a:o> .\n<a:s> <a:p> <a:o> .\n"},
		{"LiteralBytes", ttl.Limits{LiteralBytes: 99}, `<a:s> <a:p> "` + long + `" .`},
		{"IRIBytes", ttl.Limits{IRIBytes: 99}, `<a:s> <a:` + long + `> <a:o> .`},
		{"TermBytes", ttl.Limits{TermBytes: 99}, `<a:s> <a:p> "` + long + `" .`},
	} {
		_, err := count(strings.NewReader(c.in), ttl.Options{Format: ttl.NTriples, Limits: c.l})
		var limit *ttl.LimitError
		if !errors.As(err, &limit) || limit.Limit != c.limit {
			t.Errorf("%s: error %v", c.limit, err)
		}
	}
}

// TestEndlessTokensHoldNoMemory feeds tokens that never end, far beyond their
// limits, and looks at what the reader took.
func TestEndlessTokensHoldNoMemory(t *testing.T) {
	const n = 32 << 20
	for name, head := range map[string]string{
		"string": `<a:s> <a:p> "`, "long string": `<a:s> <a:p> """`, "iri": "<a:", "name": "PREFIX a: <a:> a:", "prefix": "PREFIX a",
		"dots": "PREFIX a: <a:> a:a.", "label": "_:", "number": "<a:s> <a:p> 1", "language": `<a:s> <a:p> "x"@`, "word": "",
		"escapes": "PREFIX a: <a:> a:", "comment": "#", "wide": "<a:",
	} {
		text := map[string]string{"number": "1", "dots": ".", "escapes": `\-`, "wide": "\u00e9"}[name]
		if text == "" {
			text = "x"
		}
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := count(io.MultiReader(strings.NewReader(head), &repeat{text: text, n: n}), ttl.Options{Limits: ttl.Limits{Bytes: n / 2}})
			runtime.ReadMemStats(&after)
			var limit *ttl.LimitError
			if !errors.As(err, &limit) {
				t.Errorf("error %v, want a limit", err)
			}
			if used := after.TotalAlloc - before.TotalAlloc; name != "comment" && used > 16<<20 {
				t.Errorf("took %d bytes", used)
			}
		})
	}
}

func TestLimitsValidate(t *testing.T) {
	if err := ttl.DefaultLimits().Validate(); err != nil {
		t.Error(err)
	}
	for _, l := range []ttl.Limits{{Bytes: -1}, {Triples: -1}, {Depth: -1}, {LiteralBytes: -1}, {IRIBytes: -1}, {Prefixes: -1}, {TermBytes: -1}} {
		if err := l.Validate(); errs.KindOf(err) != errs.Invalid {
			t.Errorf("%+v: %v", l, err)
		}
		if _, err := count(strings.NewReader(""), ttl.Options{Limits: l}); errs.KindOf(err) != errs.Invalid {
			t.Errorf("reading within %+v: %v", l, err)
		}
	}
}

func TestBadOptions(t *testing.T) {
	for _, o := range []ttl.Options{
		{Base: "relative"}, {Base: "a:b c"}, {Format: 77}, {Base: "a:" + strings.Repeat("x", 9000)},
	} {
		_, err := ttl.NewReader(strings.NewReader("<a:s> <a:p> <a:o> ."), o).Read()
		if k := errs.KindOf(err); k == errs.Internal {
			t.Errorf("%+v: %v", fmt.Sprint(o)[:20], err)
		}
	}
}
