package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

const people = `PREFIX bn: <https://seed-ff860830.github.io/banyan/ns#>
INSERT DATA { <http://e/ann> <http://e/name> "Ann" ; <http://e/age> 42 ; a bn:Bundle .
 GRAPH <http://e/g> { <http://e/bob> <http://e/name> "B\u001b[2Job"@en } }`

// withPeople is an app whose graph holds two people.
func withPeople(t *testing.T) *testApp {
	t.Helper()
	ta := newTestApp(t)
	if _, err := ta.eng.Update(t.Context(), people, banyan.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	return ta
}

func TestQueryFormats(t *testing.T) {
	const (
		sel       = "SELECT ?s ?n WHERE { ?s <http://e/name> ?n } ORDER BY ?s"
		construct = "CONSTRUCT { ?s <http://e/is> ?a } WHERE { ?s <http://e/age> ?a }"
		ask       = "ASK { <http://e/ann> <http://e/age> 42 }"
	)
	for _, c := range []struct{ query, format, want, said string }{
		{sel, "", "?s              ?n\n<http://e/ann>  \"Ann\"\n<http://e/bob>  \"B\\u001B[2Job\"@en\n", "2 rows\n"},
		{sel, "table", "?s              ?n\n<http://e/ann>  \"Ann\"\n<http://e/bob>  \"B\\u001B[2Job\"@en\n", "2 rows\n"},
		{"SELECT * WHERE { ?s a <http://e/none> }", "", "?s\n", "0 rows\n"},
		{"SELECT ?c WHERE { <http://e/ann> a ?c }", "", "?c\nbn:Bundle\n", "1 row\n"},
		{"SELECT ?x ?y WHERE { VALUES (?x ?y) { (UNDEF 1) (true UNDEF) } }", "", "?x    ?y\n      1\ntrue\n", "2 rows\n"},
		{sel, "csv", "s,n\r\nhttp://e/ann,Ann\r\nhttp://e/bob,B\ufffd[2Job\r\n", ""},
		{sel, "tsv", "?s\t?n\n<http://e/ann>\t\"Ann\"\n<http://e/bob>\t\"B\\u001B[2Job\"@en\n", ""},
		{ask, "", "yes\n", ""},
		{"ASK { <http://e/ann> <http://e/age> 41 }", "table", "no\n", ""},
		{ask, "tsv", "true\n", ""},
		{ask, "json", `{"head":{},"boolean":true}` + "\n", ""},
		{construct, "ntriples", "<http://e/ann> <http://e/is> \"42\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n", ""},
		{construct, "table", "subject         predicate      object\n<http://e/ann>  <http://e/is>  42\n", "1 triple\n"},
	} {
		ta := withPeople(t)
		args := []string{"query", c.query}
		if c.format != "" {
			args = append(args, "--format", c.format)
		}
		ta.vars["BANYAN_HINTS"] = "false"
		got := ta.wantRun(t, args...)
		if c.format == "json" {
			got = strings.Join(strings.Fields(got), "") + "\n"
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s as %q (-want +got):\n%s", c.query, c.format, diff)
		}
		if ta.err.String() != c.said {
			t.Errorf("%s as %q: standard error is %q; want %q", c.query, c.format, ta.err.String(), c.said)
		}
	}
	ta := withPeople(t)
	if out := ta.wantRun(t, "query", "DESCRIBE <http://e/ann>"); !strings.Contains(out, "@prefix bn:") || !strings.Contains(out, "a bn:Bundle") {
		t.Errorf("DESCRIBE is\n%s", out)
	}
}

// Only a terminal has control characters replaced: data stays what it is.
func TestDocumentsAreWholeElsewhere(t *testing.T) {
	ta := withPeople(t)
	ta.tty = false
	if out := ta.wantRun(t, "query", "SELECT ?n WHERE { <http://e/bob> ?p ?n }", "--format", "csv"); out != "n\r\nB\x1b[2Job\r\n" {
		t.Errorf("csv is %q", out)
	}
	if out := ta.wantRun(t, "query", "SELECT ?n WHERE { <http://e/bob> ?p ?n }"); strings.Contains(out, "\x1b") {
		t.Errorf("the table is %q", out)
	}
}

func TestQueryUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		say  string
	}{
		{[]string{}, 2, "there is no query"},
		{[]string{"ASK {}", "x"}, 2, "too much"},
		{[]string{"ASK {}", "-f", "x"}, 2, "not both"},
		{[]string{"-f", "no/such"}, 1, "there is no file"},
		{[]string{"ASK {}", "--format", "yaml"}, 2, "not one of table, json"},
		{[]string{"ASK {}", "--format", "turtle"}, 2, "the answer to an ASK cannot be written as turtle"},
		{[]string{"SELECT * {}", "--format", "ntriples"}, 2, "the answer to a SELECT cannot"},
		{[]string{"CONSTRUCT WHERE {?s ?p ?o}", "--format", "csv"}, 2, "the answer to a CONSTRUCT cannot"},
		{[]string{"ASK {}", "--timeout", "0s"}, 2, "above zero"},
		{[]string{"ASK {}", "--timeout", "soon"}, 2, "--timeout"},
		{[]string{"ASK {}", "--limit-rows", "0"}, 2, "above zero"},
		{[]string{"ASK {}", "--default-graph", "g"}, 2, "not an absolute IRI"},
		{[]string{"ASK {}", "--named-graph", "http://e/x> } ; DROP ALL #"}, 2, "not an absolute IRI"},
		{[]string{"ASK { SERVICE <http://e/> { ?s ?p ?o } }"}, 3, "SERVICE"},
		{[]string{"INSERT DATA { <a:a> <a:b> <a:c> }"}, 2, "this is not SPARQL"},
		{[]string{"SELECT * {?s ?p ?o}", "--limit-rows", "1"}, 4, "more than the limit of 1"},
	} {
		ta := withPeople(t)
		if code := ta.run(t, append([]string{"query"}, c.args...)...); code != c.code || !strings.Contains(ta.err.String(), c.say) {
			t.Errorf("query %q: exit code %d, %s\nwant %d, %q", c.args, code, ta.err.String(), c.code, c.say)
		}
	}
}

// An error of syntax shows the line, and the place in it.
func TestSyntaxErrorPoints(t *testing.T) {
	ta := newTestApp(t)
	ta.run(t, "query", "SELECT *\nWHERE { ?s ?p \x1b }")
	want := "  line 2, column 15: "
	if got := ta.err.String(); !strings.Contains(got, want) || !strings.Contains(got, "WHERE { ?s ?p \ufffd }\n                  ^\n") || strings.Contains(got, "\x1b") {
		t.Errorf("it says\n%s", got)
	}
	long := strings.Repeat("x", 5000)
	ta.run(t, "query", "ASK { "+long+" }")
	for line := range strings.SplitSeq(ta.err.String(), "\n") {
		if len(line) > 300 {
			t.Errorf("a line of %d characters", len(line))
		}
	}
}

func TestQueryReadsStandardInput(t *testing.T) {
	ta := withPeople(t)
	for _, args := range [][]string{{"query", "-"}, {"query", "-f", "-"}} {
		ta.stdin = strings.NewReader("ASK {}")
		if out := ta.wantRun(t, args...); out != "yes\n" {
			t.Errorf("%v: %q", args, out)
		}
	}
	ta.stdin = strings.NewReader(strings.Repeat(" ", maxSPARQL+1))
	if code := ta.run(t, "query", "-"); code != 4 {
		t.Errorf("too much of a query: exit code %d", code)
	}
}

// A dataset that is named is the one that is asked.
func TestQueryDataset(t *testing.T) {
	ta := withPeople(t)
	const n = "SELECT (COUNT(*) AS ?n) WHERE { ?s <http://e/name> ?o }"
	for _, c := range []struct{ flag, want string }{{"--default-graph=http://e/g", "1"}, {"--named-graph=http://e/g", "0"}, {"--limit-rows=5", "2"}} {
		if out := ta.wantRun(t, "query", n, c.flag); out != "?n\n"+c.want+"\n" {
			t.Errorf("%s: %q", c.flag, out)
		}
	}
}

// rowsThen yields n rows and then an error.
func rowsThen(n int, err error) iter.Seq2[[]ttl.Term, error] {
	return func(yield func([]ttl.Term, error) bool) {
		for i := range n {
			if !yield([]ttl.Term{ttl.NewString(fmt.Sprint(i))}, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// An answer that breaks off is an error in every format, and no table looks
// like a whole one.
func TestBrokenAnswerIsAnError(t *testing.T) {
	broke := errs.New(errs.Unavailable, "the daemon closed the connection")
	for _, format := range []string{"table", "json", "xml", "csv", "tsv"} {
		for _, n := range []int{0, 3, 2 * tableRows} {
			ta := newTestApp(t)
			res := &banyan.QueryResult{Kind: banyan.QuerySelect, Vars: []string{"x"}, Rows: rowsThen(n, broke)}
			err := ta.printAnswer(res, &queryOptions{format: format})
			if !errors.Is(err, broke) {
				t.Errorf("%s after %d rows: %v", format, n, err)
			}
			if said := ta.err.String(); strings.Contains(said, "rows\n") && !strings.Contains(said, "broke off after") {
				t.Errorf("%s after %d rows says %q", format, n, said)
			}
		}
	}
}

// A table of any length streams: it holds no more than its first rows.
func TestTableStreams(t *testing.T) {
	ta := newTestApp(t)
	seen := 0
	rows := func(yield func([]ttl.Term, error) bool) {
		for i := range 100_000 {
			if i == 50_000 {
				seen = ta.out.Len()
			}
			if !yield([]ttl.Term{ttl.NewTyped(fmt.Sprint(i), ttl.XSDInteger), ttl.NewString(strings.Repeat("é", 100))}, nil) {
				return
			}
		}
	}
	if err := ta.printRows([]string{"?a", "?b"}, rows, "row", "rows"); err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Error("nothing was printed half way")
	}
	lines := strings.Split(ta.out.String(), "\n")
	if len(lines) != 100_002 || ta.err.String() != "100000 rows\n" {
		t.Errorf("%d lines, %q", len(lines), ta.err.String())
	}
	if want := `7    "` + strings.Repeat("é", maxCell-2) + "…"; lines[8] != want {
		t.Errorf("a row is %q; want %q", lines[8], want)
	}
}

func TestCutCell(t *testing.T) {
	for n, want := range map[int]int{maxCell - 1: maxCell - 1, maxCell: maxCell, maxCell + 1: maxCell, 500: maxCell} {
		for _, c := range []string{"a", "é", "語"} {
			if got := columns(cutCell(strings.Repeat(c, n))); got != want {
				t.Errorf("%d times %q is %d columns; want %d", n, c, got, want)
			}
		}
	}
}

func TestTermText(t *testing.T) {
	for _, c := range []struct {
		term ttl.Term
		want string
	}{
		{ttl.Term{}, ""},
		{ttl.NewIRI(string(ontology.PythonNS) + "numpy@1.24.2"), "py:numpy@1.24.2"},
		{ttl.NewIRI(ontology.Base + "Live"), "bn:Live"},
		{ttl.NewIRI(ontology.Base), "<" + ontology.Base + ">"},
		{ttl.NewIRI(ontology.Base + "a/b"), "<" + ontology.Base + "a/b>"},
		{ttl.NewIRI("http://e/\u202eevil"), `<http://e/\u202Eevil>`},
		{ttl.NewBlank("b1"), "_:b1"},
		{ttl.NewString("a\"b\\c\n\x1b\u009b\U000E0001"), `"a\"b\\c\n\u001B\u009B\U000E0001"`},
		{ttl.NewLang("x", "en-GB"), `"x"@en-gb`},
		{ttl.NewTyped("1e3", ttl.XSDDouble), "1e3"},
		{ttl.NewTyped("1 \x1b", ttl.XSDInteger), `"1 \u001B"^^xsd:integer`},
		{ttl.NewTyped("2026", ttl.XSD+"gYear"), `"2026"^^xsd:gYear`},
	} {
		if got := termText(c.term); !strings.EqualFold(got, c.want) {
			t.Errorf("%#v is %q; want %q", c.term, got, c.want)
		}
	}
}

// The screen's writer gives the same however the bytes come.
func TestScreenWriter(t *testing.T) {
	in := "a\tb\r\nc\rd\x1b[2J é語\u202e \u009b \xff z"
	want := "a\tb\r\nc\ufffdd\ufffd[2J é語\ufffd \ufffd \ufffd z"
	for size := 1; size <= len(in); size++ {
		var b bytes.Buffer
		w := &screenWriter{w: &b}
		for rest := in; rest != ""; {
			n := min(size, len(rest))
			if got, err := w.Write([]byte(rest[:n])); got != n || err != nil {
				t.Fatal(got, err)
			}
			rest = rest[n:]
		}
		if b.String() != want {
			t.Errorf("in pieces of %d: %q", size, b.String())
		}
	}
}

// The user's own bound is said to be his, whoever noticed it first.
func TestQueryTimeout(t *testing.T) {
	ta := withPeople(t)
	o := &queryOptions{within: time.Nanosecond}
	ctx, cancel := bounded(t.Context(), o.within)
	defer cancel()
	<-ctx.Done()
	err := timedOut(ctx, errs.Wrap(errs.Canceled, ctx.Err(), "interrupted"), o.within)
	if errs.KindOf(err) != errs.Timeout || !strings.Contains(err.Error(), "within 1ns") {
		t.Errorf("error %v", err)
	}
	if err := timedOut(context.Background(), errClosed, time.Second); !errors.Is(err, errClosed) {
		t.Errorf("another error became %v", err)
	}
	slow := "SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n1 ?o . ?p ?q ?r }"
	if code := ta.run(t, "query", slow, "--timeout", "10ms"); code != 1 || !strings.Contains(ta.err.String(), "10ms") {
		t.Errorf("exit code %d, %s", code, ta.err.String())
	}
}

var errClosed = errs.New(errs.Unavailable, "closed")

func TestUpdate(t *testing.T) {
	ta := newTestApp(t)
	if out := ta.wantRun(t, "update", people); out != "1 operation: 4 statements inserted, 0 deleted\n" {
		t.Errorf("on a terminal: %q", out)
	}
	if out := ta.wantRun(t, "update", "DELETE WHERE { ?s <http://e/age> ?o } ; CLEAR GRAPH <http://e/g>", "--json"); !strings.Contains(out, `"operations": 2`) || !strings.Contains(out, `"deleted": 1`) {
		t.Errorf("as JSON: %q", out)
	}
	ta.tty = false
	if out := ta.wantRun(t, "update", "INSERT DATA { <a:a> <a:b> <a:c> }"); out != "1\t1\t0\t0\n" {
		t.Errorf("elsewhere: %q", out)
	}
	for _, c := range []struct {
		args []string
		code int
		say  string
	}{
		{[]string{}, 2, "there is no update"},
		{[]string{"ASK {}"}, 2, "this is not SPARQL"},
		{[]string{"LOAD <http://e/>"}, 3, "LOAD"},
		{[]string{"CLEAR GRAPH <" + string(ontology.GraphSnapshots) + ">"}, 4, ""},
		{[]string{"INSERT DATA { <a:a> <a:b> <a:c> }", "--timeout", "x"}, 2, "--timeout"},
	} {
		if code := ta.run(t, append([]string{"update"}, c.args...)...); code != c.code || !strings.Contains(ta.err.String(), c.say) {
			t.Errorf("update %q: exit code %d, %s", c.args, code, ta.err.String())
		}
	}
}

func TestFormatCompletes(t *testing.T) {
	ta := newTestApp(t)
	if out := ta.wantRun(t, "__complete", "query", "--format", ""); !strings.Contains(out, "ntriples\n") || !strings.Contains(out, "table\n") {
		t.Errorf("completion gives %q", out)
	}
}
