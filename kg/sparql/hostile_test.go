package sparql_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg/sparql"
)

// parseWithin is how long a hostile text may take to be refused.
const parseWithin = 2 * time.Second

// hostileDepth is how deep the texts nest.
const hostileDepth = 100_000

func deep(head, open, middle, shut, tail string) string {
	return head + strings.Repeat(open, hostileDepth) + middle + strings.Repeat(shut, hostileDepth) + tail
}

func parseQuery(text string) error {
	_, err := sparql.Parse(text, sparql.ParseOptions{})
	return err
}

func parseUpdate(text string) error {
	_, err := sparql.ParseUpdate(text, sparql.ParseOptions{})
	return err
}

func TestB45_DeepNestingIsRefusedAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		parse func(string) error
		text  string
	}{
		"groups":               {parseQuery, deep("ASK { ", "{ ", "", "} ", "}")},
		"unclosed groups":      {parseQuery, "ASK { " + strings.Repeat("{ ", hostileDepth)},
		"unions":               {parseQuery, deep("ASK { ", "{ {} UNION ", "{}", "} ", "}")},
		"parens":               {parseQuery, deep("ASK { FILTER(", "(", "1", ")", ") }")},
		"unclosed parens":      {parseQuery, "ASK { FILTER(" + strings.Repeat("(", hostileDepth)},
		"nots":                 {parseQuery, deep("ASK { FILTER(", "!", "true", "", ") }")},
		"minus signs":          {parseQuery, deep("ASK { FILTER(", "-(", "1", ")", ") }")},
		"plus signs":           {parseQuery, deep("ASK { FILTER(", "+(", "1", ")", ") }")},
		"paths":                {parseQuery, deep("ASK { ?s ", "(", "<http://e/p>", ")", " ?o }")},
		"starred paths":        {parseQuery, deep("ASK { ?s ", "(", "<http://e/p>", ")*", " ?o }")},
		"inverse paths":        {parseQuery, deep("ASK { ?s ", "^(", "<http://e/p>", ")", " ?o }")},
		"lists":                {parseQuery, deep("ASK { ?s ?p ", "(", "", ")", " }")},
		"brackets":             {parseQuery, deep("ASK { ?s ?p ", "[ <http://e/p> ", "1", "]", " }")},
		"subjects":             {parseQuery, deep("ASK { ", "[ <http://e/p> ", "1", "]", " }")},
		"optionals":            {parseQuery, deep("ASK { ", "OPTIONAL { ", "", "} ", "}")},
		"minus":                {parseQuery, deep("ASK { ", "MINUS { ", "", "} ", "}")},
		"graphs":               {parseQuery, deep("ASK { ", "GRAPH ?g { ", "", "} ", "}")},
		"services":             {parseQuery, deep("ASK { ", "SERVICE ?g { ", "", "} ", "}")},
		"exists":               {parseQuery, deep("ASK { ", "FILTER EXISTS { ", "", "} ", "}")},
		"not exists":           {parseQuery, deep("ASK { ", "FILTER NOT EXISTS { ", "", "} ", "}")},
		"subselects":           {parseQuery, deep("ASK { ", "{ SELECT * { ", "", "} } ", "}")},
		"calls":                {parseQuery, deep("ASK { FILTER(", "STR(", "1", ")", ") }")},
		"casts":                {parseQuery, deep("ASK { FILTER(", "<http://e/f>(", "1", ")", ") }")},
		"conditions":           {parseQuery, deep("ASK { FILTER(", "IF(true, ", "1", ", 2)", ") }")},
		"in":                   {parseQuery, deep("ASK { FILTER(", "1 IN (", "1", ")", ") }")},
		"having":               {parseQuery, deep("SELECT * {} GROUP BY ?x HAVING ", "(", "1", ")", "")},
		"columns":              {parseQuery, deep("SELECT (", "(", "1", ")", " AS ?x) {}")},
		"order":                {parseQuery, deep("SELECT * {} ORDER BY ", "(", "1", ")", "")},
		"template lists":       {parseQuery, deep("CONSTRUCT { ?s ?p ", "(", "", ")", " } {}")},
		"update groups":        {parseUpdate, deep("INSERT { } WHERE { ", "{ ", "", "} ", "}")},
		"update not exists":    {parseUpdate, deep("DELETE { } WHERE { ", "FILTER NOT EXISTS { ", "", "} ", "}")},
		"data lists":           {parseUpdate, deep("INSERT DATA { <http://e/s> <http://e/p> ", "(", "", ")", " }")},
		"data brackets":        {parseUpdate, deep("INSERT DATA { <http://e/s> <http://e/p> ", "[ <http://e/p> ", "1", "]", " }")},
		"data brackets, lists": {parseUpdate, deep("INSERT DATA { <http://e/s> <http://e/p> ", "( [ <http://e/p> ", "1", "] )", " }")},
		"template brackets":    {parseUpdate, deep("INSERT { ?s ?p ", "[ ?p ", "1", "]", " } WHERE {}")},
	} {
		start := time.Now()
		err := c.parse(c.text)
		took := time.Since(start)
		var syntax *sparql.SyntaxError
		if !errors.As(err, &syntax) || errs.KindOf(err) != errs.Invalid || !strings.Contains(err.Error(), "nests deeper than the limit of 256") {
			t.Errorf("%s: %v, want a refusal that names the depth", name, err)
		}
		if took > parseWithin {
			t.Errorf("%s: it took %s", name, took)
		}
	}
}

// TestB45_LongFlatTextsParseOrAreRefused has what is long and not deep: data is
// read, a pattern or expression that long is refused by the number of its
// parts.
func TestB45_LongFlatTextsParseOrAreRefused(t *testing.T) {
	many := func(head, one, tail string) string { return head + strings.Repeat(one, hostileDepth) + tail }
	for name, c := range map[string]struct {
		parse func(string) error
		text  string
		want  string // part of the refusal; empty if the text is read
	}{
		"list of data":   {parseUpdate, many("INSERT DATA { <http://e/s> <http://e/p> (", "1 ", ") }"), ""},
		"data":           {parseUpdate, many("INSERT DATA { ", "<http://e/s> <http://e/p> 1 . ", "}"), ""},
		"values":         {parseQuery, many("ASK { VALUES ?x { ", "1 ", "} }"), ""},
		"operations":     {parseUpdate, many("", "CLEAR ALL ; ", ""), "more than the limit of 20000 operations"},
		"list":           {parseQuery, many("ASK { ?s ?p (", "1 ", ") }"), "more than the limit of 20000 patterns and expressions"},
		"patterns":       {parseQuery, many("ASK { ", "?s ?p 1 . ", "}"), "more than the limit of 20000 patterns and expressions"},
		"objects":        {parseQuery, many("ASK { ?s ?p ", "1 , ", "1 }"), "more than the limit of 20000 patterns and expressions"},
		"groups":         {parseQuery, many("ASK { ", "{ } ", "}"), "more than the limit of 20000 patterns and expressions"},
		"sum":            {parseQuery, many("ASK { FILTER(1", "+1", " = 1) }"), "more than the limit of 20000 patterns and expressions"},
		"alternatives":   {parseQuery, many("ASK { ?s <http://e/p>", "|<http://e/p>", " ?o }"), "more than the limit of 20000 patterns and expressions"},
		"conjunction":    {parseQuery, many("ASK { FILTER(true", " && true", ") }"), "more than the limit of 20000 patterns and expressions"},
		"arguments":      {parseQuery, many("ASK { FILTER(COALESCE(1", ", 1", ")) }"), "more than the limit of 20000 patterns and expressions"},
		"in":             {parseQuery, many("ASK { FILTER(1 IN (1", ", 1", ")) }"), "more than the limit of 20000 patterns and expressions"},
		"signs in a row": {parseQuery, many("ASK { FILTER(", "- ", "1) }"), "an expression is expected"},
		"too long":       {parseQuery, many("ASK { # ", strings.Repeat("x", 50), "\n }"), "larger than the limit of 4194304 bytes"},
	} {
		start := time.Now()
		err := c.parse(c.text)
		took := time.Since(start)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if k := errs.KindOf(err); err != nil && k != errs.TooLarge && k != errs.Invalid {
			t.Errorf("%s: the kind is %s", name, k)
		}
		if took > parseWithin {
			t.Errorf("%s: it took %s", name, took)
		}
	}
}

// TestB45_TheDeepestThatIsReadIsAlsoRun goes to the limit: what the parser lets
// through is translated and evaluated.
func TestB45_TheDeepestThatIsReadIsAlsoRun(t *testing.T) {
	s := openStore(t)
	update(t, s, people)
	for name, text := range map[string]string{
		"groups":     "SELECT * { " + nested(250, "{ ", "} ", "?s ?p ?o") + "}",
		"optionals":  "SELECT * { ?s ?p ?o " + nested(250, "OPTIONAL { ", "} ", "?s ?p ?o") + "} LIMIT 1",
		"exists":     "SELECT * { ?s ?p ?o " + nested(250, "FILTER EXISTS { ?s ?p ?o ", "} ", "") + "} LIMIT 1",
		"not exists": "SELECT * { ?s ?p ?o " + nested(125, "FILTER NOT EXISTS { ?s ?p ?o FILTER NOT EXISTS { ?s ?p ?o ", "} } ", "") + "} LIMIT 1",
		"subselects": "SELECT * { " + nested(120, "{ SELECT * { ", "} } ", "?s ?p ?o") + "}",
		"parens":     "SELECT * { ?s ?p ?o FILTER(" + nested(250, "(", ")", "1") + ") }",
		"sum":        "SELECT * { ?s ?p ?o FILTER(1" + strings.Repeat(" + 1", 19_000) + " > 1) } LIMIT 1",
		"paths":      "SELECT * { <http://e/a> " + nested(250, "(", ")*", "<http://e/knows>") + " ?o }",
		"sequence":   "SELECT * { <http://e/a> " + strings.Repeat("<http://e/knows>/", 1900) + "<http://e/knows> ?o }",
	} {
		got, err := table(t, s, text, sparql.Options{})
		if err != nil || len(got) == 0 {
			t.Errorf("%s: %d rows, %v", name, len(got), err)
		}
	}
}

// injections are what a caller hands in as a name or an IRI, hoping that it
// ends the text that it is put into.
var injections = []string{
	`http://e/x> } ; DROP ALL #`, `x" } UNION { ?s ?p ?o } #`, `a\\`, "http://e/a\nb", `http://e/a b`, `http://e/x\u003E } ; DROP ALL #`,
	`http://e/x\U0000003E`, `http://e/\u0020`, `http://e/{x}`, `http://e/"`, "http://e/`", `http://e/^`, `http://e/|`, "http://e/\x00", "?s", `http://e/\u007B`, `\u003E`,
}

func TestB43_AnIRIThatIsNoneIsRefused(t *testing.T) {
	s := openStore(t)
	update(t, s, people)
	before := s.Triples()
	for _, name := range injections {
		for _, text := range []string{
			"SELECT * { <" + name + "> ?p ?o }", "SELECT * { ?s <" + name + "> ?o }", "ASK { GRAPH <" + name + "> { ?s ?p ?o } }",
			"PREFIX x: <" + name + "> ASK { x:a ?p ?o }", "SELECT * FROM <" + name + "> { ?s ?p ?o }", `ASK { FILTER("1"^^<` + name + "> = 1) }",
			"ASK { VALUES ?x { <" + name + "> } }", "DESCRIBE <" + name + ">",
		} {
			if err := drain(t.Context(), s, text, sparql.Options{}); err == nil || errs.KindOf(err) != errs.Invalid {
				t.Errorf("%q: %v, want Invalid", text, err)
			}
		}
		for _, text := range []string{
			"INSERT DATA { <" + name + "> <http://e/p> 1 }", "CLEAR GRAPH <" + name + ">", "WITH <" + name + "> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }",
		} {
			_, err := sparql.Update(t.Context(), s, text, sparql.Options{})
			if err == nil || errs.KindOf(err) != errs.Invalid {
				t.Errorf("%q: %v, want Invalid", text, err)
			}
		}
	}
	if got := s.Triples(); got != before {
		t.Errorf("%d statements are left of %d", got, before)
	}
	// A legal IRI with escapes and letters beyond ASCII works, in each spelling.
	update(t, s, `INSERT DATA { <http://e/%7Bx%7D/é> <http://e/p> <http://e/\u00e8> }`)
	got, err := table(t, s, `PREFIX p: <http://e/> SELECT ?o { <http://e/%7Bx%7D/\u00e9> p:p ?o }`, sparql.Options{})
	if diff := cmp.Diff([]string{"http://e/è"}, got); diff != "" || err != nil {
		t.Errorf("a legal IRI (-want +got) %v:\n%s", err, diff)
	}
}

// TestB43_TextsStayText puts the same into literals, and into IRIs that a query
// makes, where they are values and nothing else.
func TestB43_TextsStayText(t *testing.T) {
	s := openStore(t)
	update(t, s, people)
	for _, name := range injections {
		if strings.Contains(name, "\x00") {
			continue
		}
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(name) + `"`
		update(t, s, `INSERT DATA { <http://e/held> <http://e/text> `+quoted+` }`)
		got, err := table(t, s, `SELECT ?o { <http://e/held> <http://e/text> ?o FILTER(?o = `+quoted+`) }`, sparql.Options{})
		if diff := cmp.Diff([]string{name}, got); diff != "" || err != nil {
			t.Errorf("%q as a text (-want +got) %v:\n%s", name, err, diff)
		}
		for _, query := range []string{
			`SELECT ?s { ?s ?p ?o FILTER(?s = IRI(` + quoted + `)) }`,
			`SELECT ?s { ?s ?p ?o FILTER(?o = STRDT("1", IRI(` + quoted + `))) }`,
			`SELECT ?s { GRAPH ?g { ?s ?p ?o } FILTER(?g = IRI(` + quoted + `)) }`,
		} {
			if got, err := table(t, s, query, sparql.Options{}); err != nil || len(got) != 0 {
				t.Errorf("%s: %v, %v; want no row", query, got, err)
			}
		}
		before := s.Triples()
		_, err = sparql.Update(t.Context(), s, `INSERT { ?i <http://e/p> 1 } WHERE { BIND(IRI(`+quoted+`) AS ?i) }`, sparql.Options{})
		if got := s.Triples(); err != nil || got != before {
			t.Errorf("%q as an IRI of a template: %v, %d statements, want %d", name, err, got, before)
		}
		update(t, s, `DELETE WHERE { <http://e/held> ?p ?o }`)
	}
	// The escape is decoded after the token was cut out, never before.
	update(t, s, `INSERT DATA { <http://e/s> <http://e/p> "x\u0022 } ; DROP ALL #" }`)
	got, err := table(t, s, `SELECT ?o { <http://e/s> ?p ?o }`, sparql.Options{})
	if diff := cmp.Diff([]string{`x" } ; DROP ALL #`}, got); diff != "" || err != nil {
		t.Errorf("(-want +got) %v:\n%s", err, diff)
	}
}
