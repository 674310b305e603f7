package oracle

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/bench/peer"
	"github.com/seed-ff860830/banyan/ttl"
)

// difference is something that an engine beside ours does not do as the
// specification says.
type difference struct {
	engine  string
	section string   // of the specification, what it says, and what the engine does
	avoid   []string // what is not drawn for this engine

	// A case that shows it: the engine's answer to text over data is another
	// than want, which is ours. An answer is the values of its rows, sorted,
	// with '-' for what is unbound and '_' for a blank node.
	data, text string
	want       string
}

const (
	oxigraph = "Oxigraph"
	goRDFlib = "goRDFlib"
)

var differences = []difference{
	{
		oxigraph, "RDF 1.1 Concepts, 3.3: terms are equal to the letter; it keeps numbers and truths by value, and drops derived types",
		[]string{
			`"01"^^xsd:integer`, `"+5"^^xsd:integer`, `1.0`, `".5"^^xsd:decimal`, `1.0e0`, `2.5e1`, `"-0.0E0"^^xsd:double`, `"1"^^xsd:boolean`,
			`"7"^^xsd:int`, `"7"^^xsd:byte`, `"300"^^xsd:byte`,
		},
		`:a :p "01"^^xsd:integer .`, `SELECT ?x { :a :p ?x }`, "01",
	},
	{
		oxigraph, "SPARQL 18.4: an alternative is a union and keeps duplicates; it drops some",
		[]string{"|", "!(:p|^:q)"},
		`:a :p :b .`, `SELECT ?x { :a (:p|:p) ?x }`, "b; b",
	},
	{
		oxigraph, "Update 3.2.3 to 3.2.5: no source is an error, which SILENT makes a success; it takes the source for empty and clears the target",
		[]string{"COPY of nothing"},
		`:a :p :b .`, `COPY SILENT :g3 TO DEFAULT`, "a p b -",
	},
	{
		oxigraph, "SPARQL 18.4: a path of no steps from a term finds the term, in the graph or not; it finds nothing for one that is not there",
		[]string{"path of a term"},
		``, `SELECT ?x { :a :p* ?x }`, "a",
	},
	{
		oxigraph, "SPARQL 17.4.1.7: literals that are not the same term compare with an error; it takes kinds that it knows for unequal",
		[]string{"unequal kinds"},
		``, `SELECT (1 = true AS ?n) {}`, "-",
	},
	{
		oxigraph, "SPARQL 17.3: < has numbers, strings, truths and times; it has tagged strings too, and neither truths nor NaN",
		[]string{"order of kinds"},
		``, `SELECT (false < true AS ?n) {}`, "true",
	},
	{
		oxigraph, "SPARQL 18.5.1.2: COUNT leaves out what is an error; it gives none if there is one",
		[]string{"COUNT of errors"},
		``, `SELECT (COUNT(isIRI(?x)) AS ?n) { BIND(1 AS ?n2) }`, "0",
	},
	{
		oxigraph, "SPARQL 18.6: the variable of GRAPH is joined to what is inside, evaluated alone; it is put in, seen by MINUS and subqueries",
		[]string{"?z"},
		`GRAPH :g1 { :g1 :p :b }`, `SELECT ?z { GRAPH ?z { MINUS { ?z :p :b } } }`, "g1",
	},
	{
		oxigraph, "SPARQL 18.6: GRAPH ?g is the union over the graphs there are; it evaluates what has no triples without any",
		[]string{"GRAPH without triples"},
		``, `SELECT ?x { GRAPH ?g { VALUES ?x { 1 } } }`, "",
	},
	{
		oxigraph, "SPARQL 18.5.1: without GROUP BY there is one group, empty or not; it gives no row where it sees that nothing can match",
		[]string{""},
		`:a :p :b .`, `SELECT (COUNT(*) AS ?n) { ?x :p ?y . FILTER(false) }`, "0",
	},
	{
		goRDFlib, "SPARQL 17.3: = and < between kinds are errors; it compares the text",
		[]string{"equality of kinds", "IN"},
		``, `SELECT ("1" = 1 AS ?n) {}`, "-",
	},
	{
		goRDFlib, "SPARQL 18.3.1: a variable has one value in a solution; it takes any subject where it should be a literal, and forgets a second place in one pattern",
		[]string{"literal as subject"},
		`:a :p :b .`, `SELECT ?x { ?x :p ?x }`, "",
	},
	{
		goRDFlib, "SPARQL 17.2: a function of an unbound variable or of a wrong kind is an error; it goes on with the text or with nothing",
		[]string{"functions", "kind", "regex", "contains", "langMatches", "sameTerm", "xsd:boolean", "SUM", "AVG", "MIN"},
		``, `SELECT (STRLEN(:a) AS ?n) {}`, "-",
	},
	{
		goRDFlib, "SPARQL 18.5.1.7: a concatenation with an error is an error; it gives the empty string",
		[]string{"GROUP_CONCAT"},
		``, `SELECT (GROUP_CONCAT(STR(?x)) AS ?n) { BIND(1 AS ?n2) }`, "-",
	},
	{
		goRDFlib, "SPARQL 18.4: a path of no steps joins every node to itself, literals too; it leaves them out",
		[]string{"*", "?"},
		`:a :r 1 .`, `SELECT ?x { ?x :q* ?y . ?x :q* ?y . }`, "1; a",
	},
	{
		goRDFlib, "SPARQL 18.5 (Distinct): a blank node of a pattern is no column; it tells rows apart by it",
		[]string{"[]"},
		`:a :q :b . :c :q :b .`, `SELECT DISTINCT * { [] :q ?y . }`, "b",
	},
	{
		goRDFlib, "SPARQL 16.2.1: blank nodes of a template are new for each solution; they are the same, or keep the label",
		[]string{"blank template"},
		`:a :p :b . :c :p :b .`, `CONSTRUCT { _:t :p ?y } WHERE { ?x :p ?y }`, "_ p b; _ p b",
	},
	{
		goRDFlib, "SPARQL, grammar 95: a negated set may stand before anything; its reader refuses some",
		[]string{"!"},
		`:a :p :a .`, `SELECT ?x { :a :p ?x OPTIONAL { ?x ^:p ?y . ?x !:p ?y . } }`, "a",
	},
	{
		goRDFlib, "Update 3.1.3: a statement with an unbound graph is left out; it goes to the default graph",
		[]string{"INTO ?g"},
		`:a :p :b .`, `INSERT { GRAPH ?g { ?x :q ?y } } WHERE { ?x :p ?y }`, "a p b -",
	},
	{
		goRDFlib, "Update, grammar 147: a datatype may be a prefixed name; INSERT DATA forgets it",
		[]string{"prefixed datatype"},
		``, `INSERT DATA { :a :p "01"^^xsd:integer }`, "a p 01^^integer -",
	},
}

// TestDifferencesStand shows each difference by its case, so that none is listed
// that is not there, and holds our answer to the specification's.
func TestDifferencesStand(t *testing.T) {
	ours := newBanyan(t)
	engines := map[string]*other{goRDFlib: {name: goRDFlib, start: peer.StartGoRDFlib}}
	if err := peer.InstallOxigraph(); err != nil {
		t.Log("Oxigraph is left out:", err)
	} else {
		engines[oxigraph] = &other{name: oxigraph, start: peer.StartOxigraph}
	}
	for _, o := range engines {
		defer o.close()
	}
	for _, d := range differences {
		o := engines[d.engine]
		t.Run(d.engine+"/"+d.text, func(t *testing.T) {
			quads, err := ours.load(d.data)
			if err != nil {
				t.Fatal(err)
			}
			text, us := prefixes+d.text, ours.query
			update := !strings.HasPrefix(d.text, "SELECT") && !strings.HasPrefix(d.text, "CONSTRUCT")
			if update {
				us = ours.update
			}
			a, err := us(text)
			if err != nil {
				t.Fatal(err)
			}
			if got := brief(a); got != d.want {
				t.Errorf("our answer is %q, want %q", got, d.want)
			}
			if o == nil {
				return
			}
			if err := o.load(quads); err != nil {
				t.Fatal(err)
			}
			them := o.query
			if update {
				them = o.update
			}
			b, err := them(text)
			if err != nil {
				t.Fatal(err)
			}
			if got := brief(b); got == d.want {
				t.Errorf("%s gives %q as well: it is no difference (%s)", o.name, got, d.section)
			}
		})
	}
}

// brief is an answer as difference.want has it.
func brief(a answer) string {
	if a.refused != "" {
		return "refused"
	}
	rows := make([]string, len(a.rows))
	for i, row := range a.rows {
		cells := make([]string, len(row))
		for j, t := range row {
			cells[j] = t.Value[strings.LastIndexByte(t.Value, '/')+1:]
			switch {
			case t.IsZero():
				cells[j] = "-"
			case t.Kind == ttl.Blank:
				cells[j] = "_"
			case len(row) == 4 && t.Datatype != "":
				cells[j] += "^^" + strings.TrimPrefix(t.Datatype, ttl.XSD)
			}
		}
		rows[i] = strings.Join(cells, " ")
	}
	slices.Sort(rows)
	return strings.Join(rows, "; ")
}
