package ttl_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed-ff860830/banyan/ttl"
	"github.com/seed-ff860830/banyan/ttl/rdfgraph"
)

// productions are all of Turtle 1.1, by the number that the recommendation
// gives them.
var productions = map[string]string{
	"1": "turtleDoc", "2": "statement", "3": "directive", "4": "prefixID", "5": "base", "5s": "sparqlBase", "6s": "sparqlPrefix",
	"6": "triples", "7": "predicateObjectList", "8": "objectList", "9": "verb", "10": "subject", "11": "predicate", "12": "object",
	"13": "literal", "14": "blankNodePropertyList", "15": "collection", "16": "NumericLiteral", "128s": "RDFLiteral",
	"133s": "BooleanLiteral", "17": "String", "135s": "iri", "136s": "PrefixedName", "137s": "BlankNode", "18": "IRIREF",
	"139s": "PNAME_NS", "140s": "PNAME_LN", "141s": "BLANK_NODE_LABEL", "144s": "LANGTAG", "19": "INTEGER", "20": "DECIMAL",
	"21": "DOUBLE", "154s": "EXPONENT", "22": "STRING_LITERAL_QUOTE", "23": "STRING_LITERAL_SINGLE_QUOTE",
	"24": "STRING_LITERAL_LONG_SINGLE_QUOTE", "25": "STRING_LITERAL_LONG_QUOTE", "26": "UCHAR", "159s": "ECHAR", "161s": "WS",
	"162s": "ANON", "163s": "PN_CHARS_BASE", "164s": "PN_CHARS_U", "166s": "PN_CHARS", "167s": "PN_PREFIX", "168s": "PN_LOCAL",
	"169s": "PLX", "170s": "PERCENT", "171s": "HEX", "172s": "PN_LOCAL_ESC",
}

const (
	grammarHead = "PREFIX : <http://e/>\n" // stands before every case, so a case begins on line 2
	grammarBase = "http://base/d/f?q"
)

// good is a document and its graph in N-Triples, where <x> is short for
// <http://e/x>, <rdf#x> for a name of RDF's own and ^^integer for ^^<http://www.w3.org/2001/XMLSchema#integer>.
type good struct{ prod, in, want string }

// bad is a document, the place of its fault, and a part of the message.
type bad struct{ prod, in, at, msg string }

var (
	shortIRI  = regexp.MustCompile(`<([^:>]*)>`)
	shortType = regexp.MustCompile(`\^\^([a-z]+)`)
)

func expandWant(s string) string {
	s = strings.ReplaceAll(s, "<rdf#", "<"+ttl.RDFNS)
	s = shortIRI.ReplaceAllString(s, "<http://e/$1>")
	return shortType.ReplaceAllString(s, "^^<"+ttl.XSD+"$1>")
}

func TestGrammarGood(t *testing.T) {
	for i, c := range goodCases {
		t.Run(fmt.Sprintf("%s/%d", productions[c.prod], i), func(t *testing.T) {
			want, err := readAll(strings.NewReader(expandWant(c.want)), ttl.Options{Format: ttl.NTriples})
			if err != nil {
				t.Fatalf("the case's own graph: %v", err)
			}
			doc := grammarHead + c.in
			got, err := readAll(strings.NewReader(doc), ttl.Options{Base: grammarBase})
			if err != nil {
				t.Fatalf("%q: %v", c.in, err)
			}
			if same, err := rdfgraph.Isomorphic(got, want); err != nil || !same {
				t.Errorf("%q (%v):\ngot  %v\nwant %v", c.in, err, got, want)
			}
			// Where the reads end must make no difference.
			slow, err := readAll(iotest.OneByteReader(strings.NewReader(doc)), ttl.Options{Base: grammarBase})
			if err != nil || fmt.Sprint(slow) != fmt.Sprint(got) {
				t.Errorf("%q: byte by byte: %v, %v; want %v", c.in, slow, err, got)
			}
		})
	}
}

func TestGrammarBad(t *testing.T) {
	for i, c := range badCases {
		t.Run(fmt.Sprintf("%s/%d", productions[c.prod], i), func(t *testing.T) {
			doc := grammarHead + c.in
			ts, err := readAll(strings.NewReader(doc), ttl.Options{Base: grammarBase})
			var syntax *ttl.SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("%q: %d triples and error %v, want a syntax error", c.in, len(ts), err)
			}
			at := fmt.Sprintf("%d:%d", syntax.Line, syntax.Column)
			if at != c.at || !strings.Contains(syntax.Msg, c.msg) || c.msg == "" {
				t.Errorf("%q:\ngot  %s %s\nwant %s …%s…", c.in, at, syntax.Msg, c.at, c.msg)
			}
			_, slow := readAll(iotest.OneByteReader(strings.NewReader(doc)), ttl.Options{Base: grammarBase})
			if slow == nil || slow.Error() != err.Error() {
				t.Errorf("%q: byte by byte: %v; want %v", c.in, slow, err)
			}
		})
	}
}

// TestEveryProductionHasCases holds the tables to the grammar.
func TestEveryProductionHasCases(t *testing.T) {
	goods, bads := map[string]int{}, map[string]int{}
	for _, c := range goodCases {
		goods[c.prod]++
	}
	for _, c := range badCases {
		bads[c.prod]++
	}
	for p, name := range productions {
		if goods[p] == 0 || bads[p] == 0 {
			t.Errorf("[%s] %s has %d good and %d bad cases", p, name, goods[p], bads[p])
		}
		delete(goods, p)
		delete(bads, p)
	}
	for p := range goods {
		t.Errorf("a good case names production %q, which there is not", p)
	}
	for p := range bads {
		t.Errorf("a bad case names production %q, which there is not", p)
	}
}
