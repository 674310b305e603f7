package results_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg/sparql/results"
	"github.com/seed-ff860830/banyan/ttl"
)

const (
	xmlOpen = `<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="a"/></head>`
	xmlRow  = xmlOpen + `<results><result><binding name="a">`
	xmlEnd  = `</binding></result></results></sparql>`
	jsonRow = `{"head":{"vars":["a"]},"results":{"bindings":[{"a":`
	jsonEnd = `}]}}`
)

// oneTerm lists documents with one variable a and one row.
var oneTerm = []struct {
	name   string
	format results.Format
	doc    string
	want   ttl.Term
}{
	{"typed-literal", results.JSON, jsonRow + `{"type":"typed-literal","value":"1","datatype":"http://e/t"}` + jsonEnd, ttl.NewTyped("1", "http://e/t")},
	{"xsd:string said", results.JSON, jsonRow + `{"type":"literal","value":"1","datatype":"` + ttl.XSDString + `"}` + jsonEnd, ttl.NewString("1")},
	{"rdf:langString said", results.JSON, jsonRow + `{"type":"literal","value":"1","xml:lang":"en","datatype":"` + ttl.RDFLangString + `"}` + jsonEnd, ttl.NewLang("1", "en")},
	{"escapes", results.JSON, jsonRow + `{"value":"\u00e9\ud83d\ude00\\ud800\/","type":"literal","extra":[{}]}` + jsonEnd, ttl.NewString("é😀\\ud800/")},
	{"rows before the head", results.JSON, `{"results" : {"bindings":[{"a":{"type":"bnode","value":"x"}}]}, "head":{"vars":["a"]}}`, ttl.NewBlank("x")},
	{"members unknown", results.JSON, `{"x":[[1,null]],"head":{"link":["http://e/"],"vars":["a"]},"results":{"distinct":false,"bindings":[{"a":{"type":"uri","value":"http://e/"}}]}}`, ttl.NewIRI("http://e/")},
	{"unbound", results.JSON, `{"head":{"vars":["a"]},"results":{"bindings":[{}]}}`, ttl.Term{}},
	{"declaration and comments", results.XML, "\uFEFF<?xml version='1.0' encoding='utf-8'?><?xml-stylesheet href='x'?><!-- c -->" + xmlRow + `<!-- c --><uri>http://e/<!-- c -->x</uri>` + xmlEnd + "\n<!-- c -->\n", ttl.NewIRI("http://e/x")},
	{"CDATA", results.XML, xmlRow + `<literal><![CDATA[<&]]>&gt;&#x41;</literal>` + xmlEnd, ttl.NewString("<&>A")},
	{"white space kept", results.XML, xmlRow + "\n<literal xml:lang='en'> \r\n&#13;</literal>\n" + xmlEnd, ttl.NewLang(" \n\r", "en")},
	{"prefixed", results.XML, `<s:sparql xmlns:s="http://www.w3.org/2005/sparql-results#"><s:head><s:variable name="a"/><s:link href="x"/></s:head><s:results><s:result><s:binding name="a"><s:bnode>x</s:bnode></s:binding></s:result></s:results></s:sparql>`, ttl.NewBlank("x")},
	{"unbound", results.XML, xmlOpen + `<results ordered="true"><result/></results></sparql>`, ttl.Term{}},
	{"LF and no last line end", results.CSV, "a\nx", ttl.NewString("x")},
	{"quotes", results.CSV, "a\r\n\"x\"\"\r\n,\"\r\n", ttl.NewString("x\"\r\n,")},
	{"quoted head", results.CSV, "\"a\"\r\nx\r\n", ttl.NewString("x")},
	{"blank node", results.CSV, "a\r\n_:x\r\n", ttl.NewBlank("x")},
	{"no blank node", results.CSV, "a\r\n_:x y\r\n", ttl.NewString("_:x y")},
	{"unbound", results.CSV, "a\r\n\r\n", ttl.Term{}},
	{"CR LF and no last line end", results.TSV, "?a\r\n'x\"'@en", ttl.NewLang("x\"", "en")},
	{"escapes", results.TSV, "$a\n\"\\t\\b\\n\\r\\f\\\"\\'\\\\\\u00E9\\U0001F600\"\n", ttl.NewString("\t\b\n\r\f\"'\\é😀")},
	{"escape in an IRI", results.TSV, "?a\n<http://e/\\u00E9>\n", ttl.NewIRI("http://e/é")},
	{"typed", results.TSV, "?a\n\"1\"^^<http://e/t>\n", ttl.NewTyped("1", "http://e/t")},
	{"integer", results.TSV, "?a\n-01\n", ttl.NewTyped("-01", ttl.XSDInteger)},
	{"decimal", results.TSV, "?a\n+.5\n", ttl.NewTyped("+.5", ttl.XSDDecimal)},
	{"double", results.TSV, "?a\n1.e-3\n", ttl.NewTyped("1.e-3", ttl.XSDDouble)},
	{"boolean", results.TSV, "?a\ntrue\n", ttl.NewTyped("true", ttl.XSDBoolean)},
	{"blank node", results.TSV, "?a\n_:x.y\n", ttl.NewBlank("x.y")},
	{"unbound", results.TSV, "?a\n\n", ttl.Term{}},
}

func TestReadersTakeEveryFormOfATerm(t *testing.T) {
	for _, c := range oneTerm {
		t.Run(c.format.String()+"/"+c.name, func(t *testing.T) {
			got, err := results.Read(strings.NewReader(c.doc), c.format, results.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			want := &results.Set{Vars: []string{"a"}, Rows: [][]ttl.Term{{c.want}}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// broken lists what no reader may take.
var broken = map[results.Format][]string{
	results.JSON: {
		``, `[]`, `{`, `{}`, `{"head":{}}`, `{"boolean":true}`, `{"head":{},"boolean":1}`, `{"head":{},"boolean":true}x`,
		`{"head":{},"boolean":true}{}`, `{"head":{},"boolean":true,"results":{"bindings":[]}}`, `{"head":{},"results":{}}`,
		`{"head":{},"head":{},"boolean":true}`, `{"head":{"vars":["a","a"]},"results":{"bindings":[]}}`,
		`{"head":{"vars":[1]},"results":{"bindings":[]}}`, `{"head":{"vars":["?a"]},"results":{"bindings":[]}}`,
		`{"head":{"vars":["a"]},"results":{"bindings":[[]]}}`, `{"head":{"vars":["a"],},"results":{"bindings":[]}}`,
		`{"head":{"vars":["a"]},"results":{"bindings":[{"b":{"type":"uri","value":"http://e/"}}]}}`,
		jsonRow + `{"type":"uri"}` + jsonEnd, jsonRow + `{"value":"x"}` + jsonEnd, jsonRow + `{"type":"uri","value":"relative"}` + jsonEnd,
		jsonRow + `{"type":"uri","value":"http://e/> <x"}` + jsonEnd, jsonRow + `{"type":"bnode","value":""}` + jsonEnd,
		jsonRow + `{"type":"literal","value":1}` + jsonEnd, jsonRow + `{"type":"literal","value":"x","xml:lang":"a b"}` + jsonEnd,
		jsonRow + `{"type":"literal","value":"x","xml:lang":"en","datatype":"http://e/"}` + jsonEnd,
		jsonRow + `{"type":"literal","value":"\ud800"}` + jsonEnd, jsonRow + `{"type":"literal","value":"\udc00x"}` + jsonEnd,
		jsonRow + `{"type":"literal","value":"\ud800\u0041"}` + jsonEnd, jsonRow + "{\"type\":\"literal\",\"value\":\"\xff\"}" + jsonEnd,
		jsonRow + `{"type":"literal","value":"x"},"a":{"type":"literal","value":"y"}` + jsonEnd,
		jsonRow + `{"type":"literal","value":"x","value":"y"}` + jsonEnd, jsonRow + `null` + jsonEnd,
		`{"head":{},"boolean":true,"x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`,
		`{"head":{},"boolean":true,"x":` + strings.Repeat("[", 1_000_000) + `}`,
	},
	results.XML: {
		``, `<a/>`, `<sparql/>`, `x` + xmlOpen, xmlOpen, xmlOpen + `</sparql>`, xmlOpen + `<results>`,
		`<sparql xmlns="http://www.w3.org/2005/sparql-results#"><results/></sparql>`,
		`<!DOCTYPE sparql [<!ENTITY e "x">]>` + xmlRow + `<literal>x</literal>` + xmlEnd,
		`<!DOCTYPE sparql SYSTEM "file:///etc/passwd">` + xmlRow + `<literal>x</literal>` + xmlEnd,
		xmlRow + `<literal>&e;</literal>` + xmlEnd, xmlRow + `<literal>&nbsp;</literal>` + xmlEnd, xmlRow + xmlEnd,
		`<?xml version="1.0" encoding="ISO-8859-1"?>` + xmlRow + `<literal>x</literal>` + xmlEnd,
		` <?xml version="1.0"?>` + xmlRow + `<literal>x</literal>` + xmlEnd,
		xmlRow + `<literal>x</literal>` + xmlEnd + `x`, xmlRow + `<literal>x</literal>` + xmlEnd + `<a/>`,
		xmlRow + `<literal>x</literal><literal>y</literal>` + xmlEnd, xmlRow + `<literal>x</literal>y` + xmlEnd,
		xmlRow + `<literal>x</literal></binding><binding name="a"><literal>x</literal>` + xmlEnd,
		xmlRow + `<literal>x<b/></literal>` + xmlEnd, xmlRow + `<other>x</other>` + xmlEnd, xmlRow + `<uri>x</uri>` + xmlEnd,
		xmlRow + `<uri> http://e/ </uri>` + xmlEnd, xmlRow + `<bnode/>` + xmlEnd, xmlRow + `<literal>x</uri>` + xmlEnd,
		xmlRow + `<literal xml:lang="en" xml:lang="de">x</literal>` + xmlEnd, xmlRow + `<literal datatype="http://e/" xml:lang="de">x</literal>` + xmlEnd,
		xmlRow + `<literal>` + "\x01" + `</literal>` + xmlEnd, xmlRow + `<literal>` + "\xff" + `</literal>` + xmlEnd, xmlRow + `<literal>&#1;</literal>` + xmlEnd,
		xmlOpen + `<results><result><binding name="b"><literal>x</literal></binding></result></results></sparql>`,
		xmlOpen + `<results><row/></results></sparql>`, xmlOpen + `<results><result><row/></result></results></sparql>`, xmlOpen + `<other/></sparql>`,
		xmlOpen + `<boolean>maybe</boolean></sparql>`, xmlOpen + `<boolean>true</boolean><boolean>true</boolean></sparql>`,
		xmlOpen + `<results/><results/></sparql>`, `<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable/></head><results/></sparql>`,
		`<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="a">x</variable></head><results/></sparql>`,
		`<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><x/></head><results/></sparql>`,
		`<sparql xmlns="http://example.org/"><head/><boolean>true</boolean></sparql>`,
		strings.Repeat(`<sparql xmlns="http://www.w3.org/2005/sparql-results#">`, 10_000),
	},
	results.CSV: {
		"?a\r\nx\r\n", "a,a\r\n", "a\r\nx,y\r\n", "a,b\r\nx\r\n", "a\r\n\"x\r\n", "a\r\n\"x\"y\r\n", "a\r\nx\"y\"\r\n",
		"a\r\nx\ry\r\n", "a\r\n\xff\r\n", "a,\r\n", "\r\nx\r\n", "\r\n,\r\n", "\r\n\"\"\r\n",
	},
	results.TSV: {
		"a\nx\n", "?\n", "?a\t?a\n", "?a\nx\n", "?a\n\"x\"\t\"y\"\n", "?a\t?b\n\"x\"\n", "?a\n\"x\n", "?a\n\"x\\\"\n", "?a\n\"x\\q\"\n",
		"?a\n\"x\"@\n", "?a\n\"x\"@a b\n", "?a\n\"x\"^^xsd:string\n", "?a\n\"x\"^^<http://e/\n", "?a\n\"x\"^^<e>\n", "?a\n\"x\"z\n",
		"?a\n<http://e/\n", "?a\n<e>\n", "?a\n<http://e/\\n>\n", "?a\n\"\\ud800\"\n", "?a\n\"\\U00110000\"\n", "?a\n\"\\UFFFFFFFF\"\n", "?a\n\"\\u12\"\n",
		"?a\n_:\n", "?a\n1e\n", "?a\n.\n", "?a\n+\n", "?a\n1.\n", "?a\n[]\n", "?a\n\"\xff\"\n", "\n\"x\"\n", "?a\n\"\"\"x\"\"\"\n",
	},
}

func TestReadersRefuseWhatIsNotInTheirFormat(t *testing.T) {
	for f, docs := range broken {
		for _, doc := range docs {
			set, err := results.Read(strings.NewReader(doc), f, results.Limits{})
			if errs.KindOf(err) != errs.Invalid || err == nil {
				t.Errorf("%s: error %v and %+v, want Invalid for %.200q", f, err, set, doc)
			}
		}
	}
}

func TestReadersStopAtTheirLimits(t *testing.T) {
	three := &results.Set{Vars: []string{"a", "b"}, Rows: [][]ttl.Term{{{}, {}}, {{}, {}}, {{}, {}}}}
	for _, f := range results.Formats() {
		var doc strings.Builder
		if err := three.Write(&doc, f); err != nil {
			t.Fatal(err)
		}
		size := int64(doc.Len())
		for name, c := range map[string]struct {
			limits results.Limits
			ok     bool
		}{
			"all that there is": {results.Limits{Bytes: size, Rows: 3, Vars: 2, Cells: 6, Depth: 1}, true},
			"bytes":             {results.Limits{Bytes: size - 1}, false},
			"rows":              {results.Limits{Rows: 2}, false},
			"variables":         {results.Limits{Vars: 1}, false},
			"cells":             {results.Limits{Cells: 5}, false},
		} {
			_, err := results.Read(strings.NewReader(doc.String()), f, c.limits)
			if c.ok && err != nil || !c.ok && errs.KindOf(err) != errs.TooLarge && !(name == "variables" && f == results.CSV) {
				t.Errorf("%s, %s: error %v", f, name, err)
			}
		}
	}
	if _, err := results.Read(strings.NewReader(""), results.JSON, results.Limits{Rows: -1}); errs.KindOf(err) != errs.Invalid {
		t.Errorf("a negative limit: error %v", err)
	}
	if _, err := results.Read(strings.NewReader(""), results.Format(9), results.Limits{}); errs.KindOf(err) != errs.Unsupported {
		t.Errorf("no such format: error %v", err)
	}
}
