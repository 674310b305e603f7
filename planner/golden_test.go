package planner_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/planner"
)

var update = flag.Bool("update", false, "write what Decide answers into testdata/*.txtar")

// goldenFacts is facts.json. Ladder takes the rungs of ladder(), and Rungs then
// replaces those it names and adds the others.
type goldenFacts struct {
	Language string            `json:"language"`
	Ladder   bool              `json:"ladder"`
	Rungs    []json.RawMessage `json:"rungs"`
	naiveGraph
}

// goldenError is what plan.json holds where there is no plan.
type goldenError struct {
	Error string   `json:"error"`
	Kind  string   `json:"kind"`
	Hint  string   `json:"hint,omitempty"`
	Parts []string `json:"parts,omitempty"`
}

// goldenPlan adds what a Plan keeps out of its own JSON.
type goldenPlan struct {
	planner.Plan
	Choices []planner.Choice `json:"choices"`
}

func TestDecideGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 15 {
		t.Fatalf("found %d golden cases (%v); there should be 15 at least", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { goldenCase(t, file) })
	}
}

func goldenCase(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var facts goldenFacts
	var need planner.Need
	strictJSON(t, section(t, archive, "facts.json"), &facts)
	strictJSON(t, section(t, archive, "need.json"), &need)

	got := golden(planner.Decide(facts.facts(t), need))
	if *update {
		setSection(archive, "plan.json", got)
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(section(t, archive, "plan.json")), string(got)); diff != "" {
		t.Errorf("the plan is another one (-want +got); go test ./planner -update accepts it:\n%s", diff)
	}
}

// facts makes the planner's facts; the Graph is the naive one.
func (f goldenFacts) facts(t *testing.T) planner.Facts {
	t.Helper()
	var rungs []planner.Rung
	if f.Ladder {
		rungs = ladder()
	}
	for _, raw := range f.Rungs {
		var named struct{ Name string }
		if err := json.Unmarshal(raw, &named); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(rungs, func(r planner.Rung) bool { return string(r.Name) == named.Name })
		if i < 0 {
			rungs = append(rungs, planner.Rung{})
			i = len(rungs) - 1
		}
		strictJSON(t, raw, &rungs[i]) // over what the ladder says
	}
	return planner.Facts{Rungs: rungs, Language: f.Language, Graph: &f.naiveGraph}
}

// golden writes a decision as it stands in plan.json.
func golden(plan planner.Plan, err error) []byte {
	var v any = goldenPlan{plan, plan.Choices}
	var e *errs.Error
	switch {
	case errors.As(err, &e):
		g := goldenError{Error: errs.Public(err), Kind: e.Kind.String(), Hint: e.Hint}
		for _, p := range e.Parts {
			g.Parts = append(g.Parts, p.Detail)
		}
		v = g
	case err != nil:
		v = goldenError{Error: err.Error(), Kind: "untyped"}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return []byte(err.Error())
	}
	return b.Bytes()
}

func section(t *testing.T, a *txtar.Archive, name string) []byte {
	t.Helper()
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	if name != "plan.json" || !*update {
		t.Fatalf("no section %s", name)
	}
	return nil
}

func setSection(a *txtar.Archive, name string, data []byte) {
	for i := range a.Files {
		if a.Files[i].Name == name {
			a.Files[i].Data = data
			return
		}
	}
	a.Files = append(a.Files, txtar.File{Name: name, Data: data})
}

// strictJSON refuses members it does not know: a misspelt fact would test nothing.
func strictJSON(t *testing.T, data []byte, v any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
}
