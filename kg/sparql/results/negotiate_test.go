package results_test

import (
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/kg/sparql/results"
)

func TestNegotiate(t *testing.T) {
	const none = "none"
	for _, c := range []struct{ accept, want string }{
		{"", "json"},
		{"  ", "json"},
		{"*/*", "json"},
		{"application/sparql-results+xml", "xml"}, // SPARQLWrapper, rdflib
		{"application/sparql-results+json,application/json,text/javascript,application/javascript", "json"},
		{"application/sparql-results+xml,application/rdf+xml,application/json;q=0.5,*/*;q=0.1", "xml"},
		{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "xml"}, // a browser
		{"text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", "json"},           // Java
		{"application/json", "json"},
		{"text/xml", "xml"},
		{"TEXT/CSV", "csv"},
		{"text/tab-separated-values; charset=utf-8", "tsv"},
		{"text/*", "csv"},
		{"text/*;q=0.5, text/csv;q=0.1", "tsv"},
		{"text/csv;q=0.5, text/tab-separated-values;q=0.501", "tsv"},
		{"text/csv, */*", "csv"},
		{"*/*, text/csv", "csv"},
		{"*/*;q=0.5, application/sparql-results+json;q=0", "xml"},
		{"application/*, application/sparql-results+json;q=0", "xml"},
		{`x/y;a="text/csv,text/csv", text/csv;q=0.1`, "csv"},
		{`x/y;a="\",", text/csv;q=0.1`, "csv"},
		{"text/html", none},
		{"text/csv;q=0", none},
		{"text/csv;q=0.000", none},
		{"text/csv;q=2", none},
		{"text/csv;q=1.001", none},
		{"text/csv;q=0.1234", none},
		{"text/csv;q=x", none},
		{"text/csv;q=-1", none},
		{"text/csv;q=.", none},
		{"*/csv", none},
		{"text", none},
		{",,;q=1,", none},
		{strings.Repeat("x/y,", 1<<20) + "text/csv", none},
	} {
		got := none
		if f, ok := results.Negotiate(c.accept, results.Formats()); ok {
			got = f.String()
		}
		if got != c.want {
			t.Errorf("Negotiate(%.100q) = %s, want %s", c.accept, got, c.want)
		}
	}
	if f, ok := results.Negotiate("text/csv", results.BooleanFormats()); ok {
		t.Errorf("text/csv for an ASK gives %s, want none", f)
	}
	if _, ok := results.Negotiate("*/*", nil); ok {
		t.Error("no offers: want none")
	}
}

func TestFormatByName(t *testing.T) {
	for _, f := range results.Formats() {
		for _, name := range []string{f.String(), strings.ToUpper(f.String()), f.MediaType(), f.ContentType()} {
			if got, ok := results.FormatByName(name); !ok || got != f {
				t.Errorf("FormatByName(%q) = %s, %v, want %s", name, got, ok, f)
			}
		}
	}
	if f, ok := results.FormatByName(".srx"); !ok || f != results.XML {
		t.Errorf("FormatByName(.srx) = %s, %v", f, ok)
	}
	for _, name := range []string{"", "html", "text/html"} {
		if f, ok := results.FormatByName(name); ok {
			t.Errorf("FormatByName(%q) = %s, want none", name, f)
		}
	}
	if results.Format(9).MediaType() != "" || results.Format(9).String() != "unknown" {
		t.Error("a format that does not exist has a name")
	}
}
