package results_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg/sparql/results"
	"github.com/seed-ff860830/banyan/ttl"
)

// sample has a term of every kind, and each trap of a format.
func sample() *results.Set {
	none := ttl.Term{}
	return &results.Set{
		Vars: []string{"x", "y_1"},
		Rows: [][]ttl.Term{
			{ttl.NewIRI("http://example.org/a?b=1&c=2"), ttl.NewString("plain")},
			{ttl.NewBlank("b0"), ttl.NewLang("chat", "fr-BE")},
			{none, ttl.NewTyped("1", ttl.XSDInteger)},
			{ttl.NewString(""), none},
			{none, none},
			{ttl.NewString("a \"q\", \\ <b>\t\r\nend"), ttl.NewTyped("01", ttl.XSDInteger)},
			{ttl.NewTyped("1.", ttl.XSDDecimal), ttl.NewTyped("1", "http://example.org/t")},
		},
	}
}

const sampleJSON = `{"head":{"vars":["x","y_1"]},"results":{"bindings":[
{"x":{"type":"uri","value":"http://example.org/a?b=1&c=2"},"y_1":{"type":"literal","value":"plain"}},
{"x":{"type":"bnode","value":"b0"},"y_1":{"type":"literal","value":"chat","xml:lang":"fr-BE"}},
{"y_1":{"type":"literal","value":"1","datatype":"http://www.w3.org/2001/XMLSchema#integer"}},
{"x":{"type":"literal","value":""}},
{},
{"x":{"type":"literal","value":"a \"q\", \\ <b>\t\r\nend"},"y_1":{"type":"literal","value":"01","datatype":"http://www.w3.org/2001/XMLSchema#integer"}},
{"x":{"type":"literal","value":"1.","datatype":"http://www.w3.org/2001/XMLSchema#decimal"},"y_1":{"type":"literal","value":"1","datatype":"http://example.org/t"}}
]}}
`

const sampleXML = `<?xml version="1.0" encoding="UTF-8"?>
<sparql xmlns="http://www.w3.org/2005/sparql-results#">
<head><variable name="x"/><variable name="y_1"/></head>
<results>
<result><binding name="x"><uri>http://example.org/a?b=1&amp;c=2</uri></binding><binding name="y_1"><literal>plain</literal></binding></result>
<result><binding name="x"><bnode>b0</bnode></binding><binding name="y_1"><literal xml:lang="fr-BE">chat</literal></binding></result>
<result><binding name="y_1"><literal datatype="http://www.w3.org/2001/XMLSchema#integer">1</literal></binding></result>
<result><binding name="x"><literal></literal></binding></result>
<result></result>
<result><binding name="x"><literal>a &#34;q&#34;, \ &lt;b&gt;` + "\t" + `&#13;
end</literal></binding><binding name="y_1"><literal datatype="http://www.w3.org/2001/XMLSchema#integer">01</literal></binding></result>
<result><binding name="x"><literal datatype="http://www.w3.org/2001/XMLSchema#decimal">1.</literal></binding><binding name="y_1"><literal datatype="http://example.org/t">1</literal></binding></result>
</results>
</sparql>
`

const sampleCSV = "x,y_1\r\n" +
	"http://example.org/a?b=1&c=2,plain\r\n" +
	"_:b0,chat\r\n" +
	",1\r\n" +
	"\"\",\r\n" +
	",\r\n" +
	"\"a \"\"q\"\", \\ <b>\t\r\nend\",01\r\n" +
	"1.,1\r\n"

const sampleTSV = "?x\t?y_1\n" +
	"<http://example.org/a?b=1&c=2>\t\"plain\"\n" +
	"_:b0\t\"chat\"@fr-BE\n" +
	"\t1\n" +
	"\"\"\t\n" +
	"\t\n" +
	`"a \"q\", \\ <b>\t\r\nend"` + "\t01\n" +
	`"1."^^<http://www.w3.org/2001/XMLSchema#decimal>` + "\t\"1\"^^<http://example.org/t>\n"

func TestEachFormatIsWrittenAsItsRecommendationSays(t *testing.T) {
	for f, want := range map[results.Format]string{
		results.JSON: sampleJSON, results.XML: sampleXML, results.CSV: sampleCSV, results.TSV: sampleTSV,
	} {
		t.Run(f.String(), func(t *testing.T) {
			var out bytes.Buffer
			if err := sample().Write(&out, f); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, out.String()); diff != "" {
				t.Errorf("another document (-want +got):\n%s", diff)
			}
			back, err := results.Read(&out, f, results.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			want := sample()
			if f == results.CSV {
				want = plain(want)
			}
			if diff := cmp.Diff(want, back); diff != "" {
				t.Errorf("read back, another set (-want +got):\n%s", diff)
			}
		})
	}
}

// plain returns what CSV keeps of a set.
func plain(s *results.Set) *results.Set {
	p := &results.Set{Vars: s.Vars}
	for _, row := range s.Rows {
		out := make([]ttl.Term, len(row))
		for i, t := range row {
			if out[i] = t; t.Kind == ttl.IRI || t.Kind == ttl.Literal {
				out[i] = ttl.NewString(t.Value)
			}
		}
		p.Rows = append(p.Rows, out)
	}
	return p
}

func TestBooleansAndEmptySets(t *testing.T) {
	yes, no := true, false
	for _, set := range []*results.Set{
		{Boolean: &yes},
		{Boolean: &no},
		{Vars: []string{"a"}},
		{},
		{Rows: [][]ttl.Term{{}, {}}},
		{Vars: []string{"a"}, Rows: [][]ttl.Term{{{}}, {{}}}},
	} {
		for _, f := range results.Formats() {
			var out bytes.Buffer
			err := set.Write(&out, f)
			if set.Boolean != nil && !f.HasBoolean() {
				if errs.KindOf(err) != errs.Unsupported || out.Len() > 0 {
					t.Errorf("%s of an ASK: error %v and %q, want Unsupported and nothing", f, err, &out)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", f, err)
				continue
			}
			text := out.String()
			back, err := results.Read(&out, f, results.Limits{})
			if err != nil {
				t.Errorf("%s: %v\n%s", f, err, text)
				continue
			}
			if diff := cmp.Diff(normal(set), normal(back)); diff != "" {
				t.Errorf("%s (-want +got):\n%s\n%s", f, diff, text)
			}
		}
	}
}

// normal returns a set in which no list is nil.
func normal(s *results.Set) *results.Set {
	n := &results.Set{Vars: append([]string{}, s.Vars...), Rows: append([][]ttl.Term{}, s.Rows...), Boolean: s.Boolean}
	return n
}

func TestWriterRefusesWhatItCannotWrite(t *testing.T) {
	for name, c := range map[string]struct {
		format results.Format
		do     func(w *results.Writer) error
		kind   errs.Kind
	}{
		"a variable with a space": {results.JSON, func(w *results.Writer) error { return w.Begin([]string{"a b"}) }, errs.Invalid},
		"a variable in markup":    {results.XML, func(w *results.Writer) error { return w.Begin([]string{`"><x`}) }, errs.Invalid},
		"a variable twice":        {results.CSV, func(w *results.Writer) error { return w.Begin([]string{"a", "a"}) }, errs.Invalid},
		"no variable's name":      {results.TSV, func(w *results.Writer) error { return w.Begin([]string{""}) }, errs.Invalid},
		"a row before the head":   {results.JSON, func(w *results.Writer) error { return w.Row(nil) }, errs.Internal},
		"an end before the head":  {results.JSON, func(w *results.Writer) error { return w.End() }, errs.Internal},
		"a row too long":          {results.JSON, rowOf(ttl.NewString("a"), ttl.NewString("b")), errs.Internal},
		"an IRI that injects":     {results.TSV, rowOf(ttl.NewIRI("http://e/x> \t <http://e/y")), errs.Invalid},
		"text that is not UTF-8":  {results.CSV, rowOf(ttl.NewString("\xff")), errs.Invalid},
		"a language that injects": {results.XML, rowOf(ttl.NewLang("a", `x" y="`)), errs.Invalid},
		"a control in XML":        {results.XML, rowOf(ttl.NewString("a\x01")), errs.Unsupported},
		"no such format":          {results.Format(9), func(w *results.Writer) error { return w.Begin(nil) }, errs.Unsupported},
		"two answers": {results.XML, func(w *results.Writer) error {
			return errors.Join(w.Boolean(true), w.Boolean(true))
		}, errs.Internal},
		"rows behind the end": {results.XML, func(w *results.Writer) error {
			return errors.Join(w.Begin(nil), w.End(), w.Row(nil))
		}, errs.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			w := results.NewWriter(&bytes.Buffer{}, c.format)
			err := c.do(w)
			if errs.KindOf(err) != c.kind || err == nil {
				t.Fatalf("error %v, want one of kind %s", err, c.kind)
			}
			if again := w.Flush(); again == nil {
				t.Error("the writer goes on after an error")
			}
		})
	}
}

func rowOf(terms ...ttl.Term) func(w *results.Writer) error {
	return func(w *results.Writer) error { return errors.Join(w.Begin([]string{"a"}), w.Row(terms)) }
}

func TestWriterHandsOnTheErrorBelow(t *testing.T) {
	w := results.NewWriter(brokenPipe{}, results.CSV)
	err := errors.Join(w.Begin([]string{"a"}), w.Row([]ttl.Term{ttl.NewString("x")}), w.End())
	if !errors.Is(err, errBroken) {
		t.Errorf("error %v, want the pipe's", err)
	}
}

var errBroken = errors.New("broken pipe")

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errBroken }

// counter notes the largest single write.
type counter struct{ largest, total int }

func (c *counter) Write(p []byte) (int, error) {
	c.largest, c.total = max(c.largest, len(p)), c.total+len(p)
	return len(p), nil
}

func TestWriterHoldsASmallBuffer(t *testing.T) {
	row := []ttl.Term{ttl.NewString(strings.Repeat("x", 1000))}
	for _, f := range results.Formats() {
		var c counter
		w := results.NewWriter(&c, f)
		if err := w.Begin([]string{"a"}); err != nil {
			t.Fatal(err)
		}
		for range 2000 {
			if err := w.Row(row); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.End(); err != nil {
			t.Fatal(err)
		}
		if c.largest > 32<<10 || c.total < 2_000_000 {
			t.Errorf("%s: %d bytes, up to %d at once", f, c.total, c.largest)
		}
	}
}

func TestFlushHandsOnWhatIsThere(t *testing.T) {
	var out bytes.Buffer
	w := results.NewWriter(&out, results.TSV)
	if err := errors.Join(w.Begin([]string{"a"}), w.Row([]ttl.Term{ttl.NewString("x")}), w.Flush()); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "?a\n\"x\"\n" {
		t.Errorf("after Flush: %q", got)
	}
}
