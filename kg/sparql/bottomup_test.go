package sparql

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-ff860830/banyan/kg"
)

// randomQuery draws the text of a query.
type randomQuery struct {
	t     *rapid.T
	named int
}

func (g *randomQuery) pick(from ...string) string { return rapid.SampledFrom(from).Draw(g.t, "pick") }

func (g *randomQuery) variable() string { return g.pick("?a", "?b", "?c", "?d") }

func (g *randomQuery) term() string { return g.pick("?a", "?b", "?c", "?d", ":x", ":y", "1") }

func (g *randomQuery) triple() string {
	return g.pick("?a", "?b", "?c", ":x") + " " + g.pick(":p", ":q", "?e", ":p|:q", ":p*", ":p/:q") + " " + g.term() + " . "
}

func (g *randomQuery) condition(depth int) string {
	switch rapid.IntRange(0, 5).Draw(g.t, "condition") {
	case 0:
		return "BOUND(" + g.variable() + ")"
	case 1:
		return "!BOUND(" + g.variable() + ")"
	case 2:
		return "(" + g.variable() + " = " + g.term() + ")"
	case 3:
		return "(" + g.variable() + " != " + g.term() + " || " + g.variable() + " > 0)"
	case 4:
		if depth > 0 {
			return g.pick("EXISTS ", "NOT EXISTS ") + "{ " + g.triple() + "}"
		}
	}
	return "isIRI(" + g.variable() + ")"
}

func (g *randomQuery) group(depth int) string {
	var b strings.Builder
	b.WriteString("{ ")
	for range rapid.IntRange(1, 3).Draw(g.t, "elements") {
		b.WriteString(g.element(depth))
	}
	return b.String() + "} "
}

func (g *randomQuery) element(depth int) string {
	if depth == 0 {
		return g.triple()
	}
	switch rapid.IntRange(0, 13).Draw(g.t, "element") {
	case 0:
		return "OPTIONAL " + g.group(depth-1)
	case 1:
		return "MINUS " + g.group(depth-1)
	case 2:
		return g.group(depth-1) + "UNION " + g.group(depth-1)
	case 3:
		return "FILTER(" + g.condition(depth) + ") "
	case 4:
		g.named++
		return fmt.Sprintf("BIND(%s AS ?v%d) ", g.term(), g.named)
	case 5:
		return "VALUES (?a ?b) { (:x UNDEF) (:y 1) (UNDEF :z) } "
	case 6:
		return "{ SELECT DISTINCT " + g.variable() + " " + g.group(depth-1) + "} "
	case 7:
		return "GRAPH " + g.pick("?g", ":g", "?a") + " " + g.group(depth-1)
	case 8:
		return g.group(depth - 1)
	case 9:
		return g.star()
	case 10:
		return g.forAll()
	case 11:
		g.named++
		v := g.variable()
		return fmt.Sprintf("{ SELECT %s (%s AS ?v%d) %s GROUP BY %s } ", v, g.pick("COUNT(*)", "COUNT(DISTINCT ?b)", "MAX(?c)", "SUM(?d)"), g.named, g.group(depth-1), v)
	}
	return g.triple()
}

// star asks several constants of one variable.
func (g *randomQuery) star() string {
	s := g.variable()
	b := s + " " + g.pick(":p", ":q") + " " + g.constant()
	for range rapid.IntRange(1, 2).Draw(g.t, "rays") {
		b += g.pick(" ; "+g.pick(":p", ":q")+" ", " , ") + g.constant()
	}
	return b + " . "
}

func (g *randomQuery) constant() string { return g.pick(":x", ":y", ":z", "1", "2", ":none") }

// forAll is a double NOT EXISTS; its variable is its own, or one that the
// query uses elsewhere.
func (g *randomQuery) forAll() string {
	g.named++
	one := g.pick(fmt.Sprintf("?n%d", g.named), "?c")
	list := "VALUES " + one + " { " + g.constant() + " " + g.pick("", g.constant(), "UNDEF") + " }"
	if g.pick("values", "triple") == "triple" {
		list = g.pick(":x", ":y", ":g") + " " + g.pick(":p", ":q") + " " + one
	}
	s := g.variable()
	return g.pick("", s+" :p ?o . ", s+" ?e :x . ") +
		"FILTER NOT EXISTS { " + list + " FILTER NOT EXISTS { " + s + " " + g.pick(":p", ":q") + " " + one + " } } "
}

// graph draws statements of two graphs.
func (g *randomQuery) graph() string {
	var b strings.Builder
	for range rapid.IntRange(3, 24).Draw(g.t, "statements") {
		fmt.Fprintf(&b, "GRAPH %s { %s %s %s } ", g.pick(":g", ":h"), g.pick(":x", ":y", ":z", ":g"), g.pick(":p", ":q"), g.pick(":x", ":y", ":z", "1", "2"))
	}
	return "PREFIX : <http://e/> DROP SILENT GRAPH :g ; DROP SILENT GRAPH :h ; INSERT DATA { " + b.String() + "}"
}

// rowsOf runs a query and returns its rows as text, sorted.
func rowsOf(s *kg.Store, text string, o Options) ([]string, error) {
	r, err := Run(context.Background(), s, text, o)
	if err != nil {
		return nil, err
	}
	var out []string
	for row, err := range r.Rows {
		if err != nil {
			return nil, err
		}
		out = append(out, fmt.Sprint(row))
	}
	slices.Sort(out)
	return out, nil
}

// TestRunningWithARowIsTheSameAsJoining holds the evaluation that passes rows
// on to the one that evaluates each operand on its own.
func TestRunningWithARowIsTheSameAsJoining(t *testing.T) {
	s, err := kg.Open(context.Background(), kg.Config{InMemory: true, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	some, seen := 0, &coverage{}
	rapid.Check(t, func(t *rapid.T) {
		g := &randomQuery{t: t}
		data := g.graph()
		if _, err := Update(context.Background(), s, data, Options{}); err != nil {
			t.Fatal(err)
		}
		text := "PREFIX : <http://e/> SELECT * " + g.pick("FROM :g", "FROM :g FROM :h") + " FROM NAMED :g FROM NAMED :h " + g.group(3)
		fast, err := rowsOf(s, text, Options{MaxRows: 3000, hashAfter: 1, seen: seen})
		slow, errSlow := rowsOf(s, text, Options{MaxRows: 3000, bottomUp: true})
		if err != nil || errSlow != nil {
			if err == nil || errSlow == nil || err.Error() != errSlow.Error() {
				t.Fatalf("%s\n%s\nfast: %v\nslow: %v", data, text, err, errSlow)
			}
			return
		}
		if len(fast) > 0 {
			some++
		}
		if diff := cmp.Diff(slow, fast); diff != "" {
			t.Fatalf("%s\n%s\n(-each on its own +with rows)\n%s", data, text, diff)
		}
	})
	if some == 0 {
		t.Error("no query had a row to compare")
	}
	if seen.stars == 0 || seen.forAlls == 0 || seen.hashes == 0 {
		t.Errorf("operators that never ran: %+v", *seen)
	}
}
