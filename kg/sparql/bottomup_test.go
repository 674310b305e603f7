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
	switch rapid.IntRange(0, 9).Draw(g.t, "element") {
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
	}
	return g.triple()
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
	const data = `PREFIX : <http://e/> INSERT DATA { :x :p :y . :y :p :z . :z :p :x . :x :q 1 . :y :q 2 . :z :q :x .
		GRAPH :g { :x :p 1 . :x :q :y } GRAPH :h { :y :p :x . :g :q 1 } }`
	if _, err := Update(context.Background(), s, data, Options{}); err != nil {
		t.Fatal(err)
	}
	some := 0
	rapid.Check(t, func(t *rapid.T) {
		g := &randomQuery{t: t}
		text := "PREFIX : <http://e/> SELECT * FROM :g FROM :h FROM NAMED :g FROM NAMED :h " + g.group(3)
		fast, err := rowsOf(s, text, Options{MaxRows: 3000})
		slow, errSlow := rowsOf(s, text, Options{MaxRows: 3000, bottomUp: true})
		if err != nil || errSlow != nil {
			if err == nil || errSlow == nil || err.Error() != errSlow.Error() {
				t.Fatalf("%s\nfast: %v\nslow: %v", text, err, errSlow)
			}
			return
		}
		if len(fast) > 0 {
			some++
		}
		if diff := cmp.Diff(slow, fast); diff != "" {
			t.Fatalf("%s\n(-each on its own +with rows)\n%s", text, diff)
		}
	})
	if some == 0 {
		t.Error("no query had a row to compare")
	}
}
