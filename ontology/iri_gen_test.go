package ontology_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/ontology"
)

// Generating again changes nothing, so every constant stands in the file and
// every term of the file has its constant.
func TestGeneratedConstantsAreCurrent(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "capability.ttl"), []byte(ontology.VocabularyTTL), 0o600); err != nil {
		t.Fatal(err)
	}
	gen := filepath.Join(dir, "gen")
	if out, err := exec.Command("go", "build", "-o", gen, "./gen").CombinedOutput(); err != nil {
		t.Fatalf("build gen: %v\n%s", err, out)
	}
	cmd := exec.Command(gen)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gen: %v\n%s", err, out)
	}
	again, err := os.ReadFile(filepath.Join(dir, "iri_gen.go"))
	if err != nil {
		t.Fatal(err)
	}
	committed, err := os.ReadFile("iri_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, committed) {
		t.Error("iri_gen.go is not what gen makes of capability.ttl; run go generate ./ontology")
	}
}

// Every name with our prefix that stands anywhere in the embedded files is a
// term of the vocabulary, and every term is described there.
func TestEveryNameIsATerm(t *testing.T) {
	name := regexp.MustCompile(`\bbn:([A-Za-z]+)`)
	seen := map[ontology.IRI]bool{}
	for _, text := range []string{ontology.VocabularyTTL, ontology.BuiltinTTL} {
		for _, m := range name.FindAllStringSubmatch(text, -1) {
			iri := ontology.IRI(ontology.Base + m[1])
			seen[iri] = true
			if !slices.Contains(ontology.Terms, iri) {
				t.Errorf("bn:%s is not a term", m[1])
			}
		}
	}
	for _, term := range ontology.Terms {
		if !seen[term] || !strings.Contains(ontology.VocabularyTTL, "\nbn:"+strings.TrimPrefix(string(term), ontology.Base)+" a ") {
			t.Errorf("%s is not described in capability.ttl", term)
		}
	}
	if !slices.IsSorted(ontology.Terms) {
		t.Error("the terms are not sorted")
	}
}

func TestStatesAreIndividuals(t *testing.T) {
	for state, want := range map[ontology.SnapshotState]ontology.IRI{
		ontology.StateLive: ontology.IndLive, ontology.StateStored: ontology.IndStored,
		ontology.StateRetired: ontology.IndRetired, ontology.StateRevoked: ontology.IndRevoked,
	} {
		if state.IRI() != want {
			t.Errorf("%s is <%s>, want <%s>", state, state.IRI(), want)
		}
	}
}
