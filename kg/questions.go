package kg

import (
	"fmt"
	"strings"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// The questions that the index answers, as SPARQL over the union of all
// graphs. Each text can be handed to a query as it is; a property test holds
// both answers equal. What stands in a text is checked first, so that no name
// becomes syntax; what does not pass is Invalid.

// SupersetsQuery is Supersets as SPARQL. The answer's ?s are the snapshots in
// their order, ?extra is how much each declares beyond the need's closure:
//
//	SELECT ?s ?bytes (COUNT(?beyond) AS ?extra) WHERE {
//	  ?s bn:provides <need>, … ; bn:runtime <…> ; bn:rung <…> ; bn:state ?state ; bn:residentBytes ?bytes .
//	  FILTER(?state IN (bn:Live, bn:Stored))
//	  OPTIONAL { ?s bn:declares ?beyond FILTER(?beyond NOT IN (<closure>, …)) }
//	} GROUP BY ?s ?bytes ORDER BY ?extra ?bytes ?s LIMIT k
func (v *View) SupersetsQuery(l Lookup, k int) (string, error) {
	var q querying
	q.text("SELECT ?s ?bytes (COUNT(?beyond) AS ?extra) WHERE {\n")
	q.text("  ?s bn:residentBytes ?bytes .\n")
	for _, c := range l.Need {
		q.text("  ?s bn:provides ").iri(c.IRI()).text(" .\n")
	}
	q.forkable(l)
	q.text("  OPTIONAL { ?s bn:declares ?beyond FILTER(?beyond NOT IN (").list(v.Closure(l.Need)).text(")) }\n")
	q.text("}\nGROUP BY ?s ?bytes\nORDER BY ?extra ?bytes ?s\n")
	return q.limited(k)
}

// BasesQuery is Bases as SPARQL. The answer's ?s are the snapshots in their
// order, ?saved is the warm-up that each saves, in milliseconds:
//
//	SELECT ?s ?bytes (SUM(?ms) AS ?saved) WHERE {
//	  ?s bn:runtime <…> ; bn:rung <…> ; bn:state ?state ; bn:residentBytes ?bytes .
//	  FILTER(?state IN (bn:Live, bn:Stored))
//	  FILTER NOT EXISTS { ?s bn:declares ?beyond FILTER(?beyond NOT IN (<closure>, …)) }
//	  ?s bn:derivedFrom* ?line . ?line bn:warmMillis ?ms .
//	} GROUP BY ?s ?bytes ORDER BY DESC(?saved) ?bytes ?s LIMIT k
func (v *View) BasesQuery(l Lookup, k int) (string, error) {
	var q querying
	q.text("SELECT ?s ?bytes (SUM(?ms) AS ?saved) WHERE {\n")
	q.text("  ?s bn:residentBytes ?bytes .\n")
	q.forkable(l)
	q.text("  FILTER NOT EXISTS { ?s bn:declares ?beyond FILTER(?beyond NOT IN (").list(v.Closure(l.Need)).text(")) }\n")
	q.text("  ?s bn:derivedFrom* ?line .\n  ?line bn:warmMillis ?ms .\n")
	q.text("}\nGROUP BY ?s ?bytes\nORDER BY DESC(?saved) ?bytes ?s\n")
	return q.limited(k)
}

// AncestorsQuery is Ancestors as SPARQL: ?s, the nearest first.
//
//	SELECT ?s (COUNT(?above) AS ?depth) WHERE {
//	  <id> bn:derivedFrom+ ?s . ?s bn:derivedFrom* ?above .
//	} GROUP BY ?s ORDER BY DESC(?depth)
func AncestorsQuery(id ontology.SnapshotID) (string, error) {
	var q querying
	q.text("SELECT ?s (COUNT(?above) AS ?depth) WHERE {\n")
	q.text("  ").snapshot(id).text(" bn:derivedFrom+ ?s .\n  ?s bn:derivedFrom* ?above .\n")
	q.text("}\nGROUP BY ?s\nORDER BY DESC(?depth)\n")
	return q.done()
}

// DescendantsQuery is Descendants as SPARQL: ?s, the nearest first, and by id
// among those that are as near.
//
//	SELECT ?s (COUNT(?above) AS ?depth) WHERE {
//	  ?s bn:derivedFrom+ <id> ; bn:derivedFrom* ?above .
//	} GROUP BY ?s ORDER BY ?depth ?s
func DescendantsQuery(id ontology.SnapshotID) (string, error) {
	var q querying
	q.text("SELECT ?s (COUNT(?above) AS ?depth) WHERE {\n")
	q.text("  ?s bn:derivedFrom+ ").snapshot(id).text(" .\n  ?s bn:derivedFrom* ?above .\n")
	q.text("}\nGROUP BY ?s\nORDER BY ?depth ?s\n")
	return q.done()
}

// TaintedQuery is Tainted as SPARQL: ?s, by id.
//
//	SELECT DISTINCT ?s WHERE {
//	  { VALUES ?bad { <snapshot> … } ?s bn:derivedFrom* ?bad }
//	  UNION
//	  { VALUES ?c { <capability> … } ?bad bn:provides ?c . ?s bn:derivedFrom* ?bad }
//	  ?s bn:state ?state .
//	  FILTER NOT EXISTS { ?s bn:state bn:Revoked }
//	} ORDER BY ?s
func TaintedQuery(by Taint) (string, error) {
	var q querying
	q.text("SELECT DISTINCT ?s WHERE {\n  { VALUES ?bad {")
	for _, id := range by.Snapshots {
		q.text(" ").snapshot(id)
	}
	q.text(" } ?s bn:derivedFrom* ?bad }\n  UNION\n  { VALUES ?c {")
	for _, c := range by.Capabilities {
		q.text(" ").iri(c.IRI())
	}
	q.text(" } ?bad bn:provides ?c . ?s bn:derivedFrom* ?bad }\n")
	q.text("  ?s bn:state ?state .\n  FILTER NOT EXISTS { ?s bn:state bn:Revoked }\n}\nORDER BY ?s\n")
	return q.done()
}

// querying writes a query. The first name that cannot stand in one is kept as
// its error.
type querying struct {
	b   strings.Builder
	err error
}

func (q *querying) text(s string) *querying {
	q.b.WriteString(s)
	return q
}

// iri writes an IRI in its brackets. A valid IRI holds none of < > " { } | ^ `
// \ nor a space, so it ends where its bracket does.
func (q *querying) iri(i ontology.IRI) *querying {
	if !ttl.ValidIRI(string(i)) && q.err == nil {
		q.err = errs.New(errs.Invalid, "%s is not an absolute IRI", quote(string(i)))
	}
	return q.text("<" + string(i) + ">")
}

func (q *querying) snapshot(id ontology.SnapshotID) *querying {
	if !id.Valid() && q.err == nil {
		q.err = errs.New(errs.Invalid, "%s is not a snapshot's id", quote(string(id)))
	}
	return q.iri(id.IRI())
}

// list writes IRIs with commas between.
func (q *querying) list(cs []ontology.Capability) *querying {
	for i, c := range cs {
		if i > 0 {
			q.text(", ")
		}
		q.iri(c.IRI())
	}
	return q
}

// forkable writes what a snapshot must be for the planner to be shown it.
func (q *querying) forkable(l Lookup) {
	q.text("  ?s bn:runtime ").iri(l.Runtime.IRI()).text(" .\n")
	if l.Rung != "" {
		q.text("  ?s bn:rung ").iri(l.Rung.IRI()).text(" .\n")
	}
	q.text("  ?s bn:state ?state .\n  FILTER(?state IN (bn:Live, bn:Stored))\n")
}

// limited ends the query with the number of its answers.
func (q *querying) limited(k int) (string, error) {
	if k < 0 && q.err == nil {
		q.err = errs.New(errs.Invalid, "a query has no less than 0 answers")
	}
	q.text(fmt.Sprintf("LIMIT %d\n", k))
	return q.done()
}

func (q *querying) done() (string, error) {
	if q.err != nil {
		return "", q.err
	}
	return "PREFIX bn: <" + ontology.Base + ">\n" + q.b.String(), nil
}
