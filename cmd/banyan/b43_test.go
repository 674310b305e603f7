package main

import (
	"context"
	"log/slog"
	"testing"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
	"github.com/seed-ff860830/banyan/rungs"
)

// keptOpen is an engine that outlives the commands that close it.
type keptOpen struct{ *banyan.Engine }

func (keptOpen) Close() error { return nil }

// Whatever is given as a name, an IRI or a value ends as an error or an empty
// answer, and the graph holds what it held.
func TestB43_ArgumentsAreNeverSyntax(t *testing.T) {
	eng, err := banyan.Open(t.Context(), banyan.Config{InMemory: true, Node: "host", Rungs: []rungs.Rung{}})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	ta := newTestApp(t)
	ta.tty = false
	ta.vars["BANYAN_HINTS"] = "false"
	ta.open = func(context.Context, *config.Set, *slog.Logger) (engine, error) { return keptOpen{eng}, nil }
	const everything = "SELECT (COUNT(*) AS ?n) WHERE { GRAPH ?g { ?s ?p ?o } }"
	before := ta.wantRun(t, "query", everything)
	for _, evil := range []string{
		"http://e/x> } ; DROP ALL #", `x" } UNION { ?s ?p ?o } #`, `a\`, "?s", "two words", "<a:b>", "a:b> . <a:c> <a:d> <a:e", "é\u202e\x1b[2J",
		"'''", `"""`, "{", "# DROP ALL", "a\x00b", "\xff", "urn:x\nDROP ALL", "../../x", "%3E%20%7D%3B",
	} {
		for _, c := range []struct {
			args  []string
			codes []int
		}{
			{[]string{"run", "-c", "x", "--need", evil}, []int{2, 3, 4}},
			{[]string{"plan", "-c", "x", "--need", evil}, []int{2, 3, 4}},
			{[]string{"warm", "--need", evil}, []int{2, 3, 4}},
			{[]string{"run", "-c", "x", "--rung", evil}, []int{2, 3, 4}},
			{[]string{"run", "-c", "x", "--runtime", evil}, []int{2, 3, 4}},
			{[]string{"snapshots", "show", evil}, []int{1, 2}},
			{[]string{"snapshots", "rm", evil}, []int{1, 2}},
			{[]string{"branch", evil, "--need", "numpy"}, []int{1, 2}},
			{[]string{"export", "--graph", evil}, []int{1, 2, 4}},
			{[]string{"query", evil}, []int{2}},
			{[]string{"query", "ASK {}", "--default-graph", evil}, []int{0, 2}},
			{[]string{"query", "ASK {}", "--named-graph", evil}, []int{0, 2}},
			{[]string{"query", "SELECT * WHERE { <http://e/" + evil + "> ?p ?o }"}, []int{0, 2}},
			{[]string{"query", `SELECT * WHERE { ?s ?p "` + evil + `" }`}, []int{0, 2}},
			{[]string{"update", evil}, []int{0, 2}}, // a comment alone asks for nothing
		} {
			code := ta.run(t, c.args...)
			fine := false
			for _, want := range c.codes {
				fine = fine || code == want
			}
			if !fine {
				t.Errorf("banyan %q: exit code %d, want one of %v\n%s", c.args, code, c.codes, ta.err.String())
			}
			if after := ta.wantRun(t, "query", everything); after != before {
				t.Fatalf("banyan %q changed the graph: %q became %q", c.args, before, after)
			}
		}
	}
}
