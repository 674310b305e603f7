package w3c

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-ff860830/banyan/kg/sparql/results"
	"github.com/seed-ff860830/banyan/ttl"
	"github.com/seed-ff860830/banyan/ttl/rdfgraph"
)

// Compare returns nil if an answer is the expected one. A set is first written
// in the format of the expected file and read again, so that the writers have
// their part in every test.
func (e *Expected) Compare(got Answer) error {
	if (e.Set == nil) != (got.Set == nil) {
		return errors.New("a graph for a set, or a set for a graph")
	}
	if e.Set == nil {
		return CompareGraphs(got.Graph, e.Graph)
	}
	var doc bytes.Buffer
	if err := got.Set.Write(&doc, e.Format); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	set, err := results.Read(&doc, e.Format, results.Limits{})
	if err != nil {
		return fmt.Errorf("read again: %w", err)
	}
	if (e.Set.Boolean == nil) != (set.Boolean == nil) {
		return errors.New("rows for a boolean, or a boolean for rows")
	}
	if e.Set.Boolean != nil {
		if *e.Set.Boolean != *set.Boolean {
			return fmt.Errorf("got %t, want %t", *set.Boolean, *e.Set.Boolean)
		}
		return nil
	}
	return e.compareRows(set)
}

// compareRows compares two tables by making a graph of each: its isomorphism
// is just the renaming of blank nodes that is asked for.
func (e *Expected) compareRows(got *results.Set) error {
	want := e.Set
	gotVars, wantVars := slices.Sorted(slices.Values(got.Vars)), slices.Sorted(slices.Values(want.Vars))
	if !slices.Equal(gotVars, wantVars) {
		return fmt.Errorf("variables %v, want %v", got.Vars, want.Vars)
	}
	if len(got.Rows) > len(want.Rows) || len(got.Rows) < len(want.Rows) && !e.Lax {
		return fmt.Errorf("%d rows, want %d:\ngot  %v\nwant %v", len(got.Rows), len(want.Rows), got.Rows, want.Rows)
	}
	same, err := rdfgraph.Isomorphic(e.tableGraph(got), e.tableGraph(want))
	if err == nil && !same {
		err = fmt.Errorf("other rows (ordered: %t) of %v:\ngot  %v\nwant %v", e.Ordered, got.Vars, got.Rows, want.Rows)
	}
	return err
}

// tableGraph makes a graph of a table: a node for each different row, with
// its terms, how often it is there, and its place where the order counts.
func (e *Expected) tableGraph(s *results.Set) []ttl.Triple {
	var ts []ttl.Triple
	count := map[string]int{}
	keys := make([]string, len(s.Rows))
	for i, row := range s.Rows {
		keys[i] = fmt.Sprint(e.canonicalRow(row))
		if e.Ordered {
			keys[i] += strconv.Itoa(i)
		}
		count[keys[i]]++
	}
	for i, row := range s.Rows {
		n := count[keys[i]]
		if n == 0 {
			continue // as one before it
		}
		count[keys[i]] = 0
		node := ttl.NewBlank("row " + strconv.Itoa(i))
		say := func(p string, o ttl.Term) {
			ts = append(ts, ttl.Triple{S: node, P: ttl.NewIRI(p), O: o})
		}
		if e.Lax {
			n = 1
		}
		say("row:count", ttl.NewString(strconv.Itoa(n)))
		if e.Ordered {
			say("row:place", ttl.NewString(strconv.Itoa(i)))
		}
		for j, t := range e.canonicalRow(row) {
			if !t.IsZero() {
				say("var:"+s.Vars[j], t)
			}
		}
	}
	return ts
}

func (e *Expected) canonicalRow(row []ttl.Term) []ttl.Term {
	out := make([]ttl.Term, len(row))
	for i, t := range row {
		out[i] = canonical(t)
		if e.Plain {
			out[i] = canonicalPlain(t)
		}
	}
	return out
}

// canonical returns a term in the form by which it is compared: language tags
// in lower case (RDF 1.1 Concepts, section 3.3), and of a decimal or a double
// its value, for the recommendations leave the form of a computed one open.
// Integers have one form, and must have it.
func canonical(t ttl.Term) ttl.Term {
	t.Lang = strings.ToLower(t.Lang)
	switch t.Datatype {
	case ttl.XSDDecimal:
		if r, ok := new(big.Rat).SetString(t.Value); ok && len(t.Value) < 100 && !strings.ContainsAny(t.Value, "eE/_xX") {
			t.Value = r.RatString()
		}
	case ttl.XSDDouble, ttl.XSD + "float":
		if v, err := strconv.ParseFloat(t.Value, 64); err == nil {
			t.Value = strconv.FormatFloat(v, 'E', -1, 64)
		}
	}
	return t
}

// canonicalPlain is canonical for text whose datatype the format dropped.
func canonicalPlain(t ttl.Term) ttl.Term {
	if strings.ContainsAny(t.Value, "eE") {
		if v, err := strconv.ParseFloat(t.Value, 64); err == nil {
			t.Value = strconv.FormatFloat(v, 'E', -1, 64)
		}
	}
	return t
}
