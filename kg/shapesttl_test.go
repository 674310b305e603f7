package kg

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
	"github.com/seed-ff860830/banyan/ttl/shacl"
)

// beyondSHACL are the faulty files whose fault SHACL Core cannot state.
var beyondSHACL = map[string]string{
	"unknown property":       "a word that the vocabulary lacks",
	"unknown class":          "a word that the vocabulary lacks",
	"unknown far off":        "a word that the vocabulary lacks",
	"unknown object":         "a word that the vocabulary lacks",
	"the vocabulary":         "a target of subjects by their namespace",
	"a snapshot":             "a target of subjects by their namespace",
	"a rung":                 "a target of subjects by their namespace",
	"snapshot class":         "what only Banyan may declare, in its own store",
	"snapshot property":      "what only Banyan may say, in its own store",
	"rung's property":        "what only Banyan may say, in its own store",
	"no import name to have": "a rule over the end of an IRI",
	"name of no module":      "which IRIs name capabilities",
	"implies no module":      "which IRIs name capabilities",
}

// shapesSay holds a file against shapes.ttl.
func shapesSay(t *testing.T, text string) shacl.Report {
	t.Helper()
	load := func(text string) []ttl.Triple {
		d, err := readDocument(t.Context(), strings.NewReader(text), "f.ttl", ttl.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var out []ttl.Triple
		for x := range d.triples() {
			out = append(out, x)
		}
		return out
	}
	s, err := shacl.Load(load(ontology.ShapesTTL))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Validate(t.Context(), shacl.NewData(load(text)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestShapesAgreeWithTheImport(t *testing.T) {
	known := map[string]bool{}
	for _, c := range faulty {
		known[c.name] = true
		r := shapesSay(t, importHead+c.text)
		if why, beyond := beyondSHACL[c.name]; r.Conforms != beyond {
			t.Errorf("%s: the shapes say it conforms: %v (beyond SHACL: %q)", c.name, r.Conforms, why)
		}
	}
	for name := range beyondSHACL {
		if !known[name] {
			t.Errorf("there is no faulty file %q", name)
		}
	}
	files, err := filepath.Glob("../examples/*.ttl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	good := map[string]string{"science": science, "builtin": ontology.BuiltinTTL, "foreign": importHead + `<http://e/a> rdfs:seeAlso [ <http://e/p> 5 ] .`}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		good[f] = string(b)
	}
	for name, text := range good {
		if r := shapesSay(t, text); !r.Conforms {
			t.Errorf("%s: the shapes refuse %+v", name, r.Results)
		}
	}
}
