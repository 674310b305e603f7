package kg

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
	"github.com/seed-ff860830/banyan/ttl/rdfgraph"
)

// manifestText says what turtleText says.
const (
	manifestText = `[{
  "language": "python", "version": "3.11",
  "label": "Python 3.11", "executable": "/usr/bin/python3.11", "args": ["-X", "utf8", ""],
  "aliases": ["py3", "snake"], "preimport": ["numpy", "py:pandas@2.2"], "standardModules": ["os", "sys"],
  "defaultLimits": {"wall_ms": 1000, "cpu_ms": 900, "memory_bytes": 268435456, "pids": 7, "output_bytes": 5, "files_bytes": 65536},
  "capabilities": [
    {"name": "numpy", "label": "NumPy é", "warmMillis": 80},
    {"name": "pandas", "implies": ["numpy", "urn:data:iris"], "warmMillis": 250.5},
    {"name": "PIL", "importName": "PIL.Image", "warmMillis": 1.5e1, "version": "9"}
  ],
  "bundles": [{"name": "science", "implies": ["pandas", "PIL"]}]
}, {"language": "lua", "args": [], "namespace": "http://example.org/lua/", "capabilities": [{"name": "lpeg"}]}]`
	turtleText = importHead + `
rt:python-3.11 a bn:Runtime ; bn:language "python" ; bn:version "3.11" ; rdfs:label "Python 3.11" ;
    bn:executable "/usr/bin/python3.11" ; bn:arguments ( "-X" "utf8" "" ) ; bn:alias "py3" , "snake" ;
    bn:preimports py:numpy , <https://seed-ff860830.github.io/banyan/py/pandas@2.2> ; bn:standardModules "os sys" ;
    bn:defaultWallMillis 1000 ; bn:defaultCPUMillis 900 ; bn:defaultMemoryBytes 268435456 ; bn:defaultPIDs 7 ;
    bn:defaultOutputBytes 5 ; bn:defaultFilesBytes 65536 .
py:numpy a bn:Module ; rdfs:label "NumPy é" ; bn:warmMillis 80 .
py:pandas a bn:Module ; bn:implies py:numpy , <urn:data:iris> ; bn:warmMillis 250.5 .
py:PIL a bn:Module ; bn:importName "PIL.Image" ; bn:warmMillis 1.5e1 ; bn:version "9" .
bundle:science a bn:Bundle ; bn:implies py:pandas , py:PIL .
rt:lua a bn:Runtime ; bn:language "lua" ; bn:executable "lua" ; bn:arguments () ; bn:capabilityNamespace <http://example.org/lua/> .
<http://example.org/lua/lpeg> a bn:Module .
`
)

// triplesOf reads one graph.
func triplesOf(t *testing.T, s *Store, g ontology.IRI) (out []ttl.Triple) {
	t.Helper()
	for _, q := range all(t, s, ttl.Quad{G: iri(g)}) {
		out = append(out, ttl.Triple{S: q.S, P: q.P, O: q.O})
	}
	return out
}

func TestManifestSaysWhatTurtleSays(t *testing.T) {
	s := memory(t)
	mine := importText(t, s, "m.json", manifestText)
	theirs := importText(t, s, "m.ttl", turtleText)
	theirs.Graph = mine.Graph
	if diff := cmp.Diff(theirs, mine); diff != "" {
		t.Errorf("the reports (-turtle +json):\n%s", diff)
	}
	same, err := rdfgraph.Isomorphic(triplesOf(t, s, ontology.ImportGraph("m.json")), triplesOf(t, s, ontology.ImportGraph("m.ttl")))
	if err != nil || !same {
		var out bytes.Buffer
		_ = s.Export(t.Context(), &out, ontology.ImportGraph("m.json"), ttl.NTriples)
		t.Errorf("the graphs are not the same: %v\n%s", err, out.String())
	}
	rt, ok := s.Runtime("snake")
	if !ok {
		t.Fatal("the alias is not known")
	}
	rt.Args, rt.Label = nil, ""
	want := Runtime{
		ID: "python-3.11", Language: "python", Version: "3.11", Executable: "/usr/bin/python3.11", Namespace: ontology.PythonNS,
		StandardModules: []string{"os", "sys"}, Aliases: []ontology.RuntimeID{"py3", "snake"},
		Preimports: py("numpy", "pandas@2.2"),
		Limits:     DefaultLimits{WallMillis: 1000, CPUMillis: 900, MemoryBytes: 268435456, PIDs: 7, OutputBytes: 5, FilesBytes: 65536},
	}
	if diff := cmp.Diff(want, rt); diff != "" {
		t.Errorf("the runtime (-want +got):\n%s", diff)
	}
	clean(t, s)
}

// A runtime's own name is no one else's alias, and of two aliases the first
// runtime by name has it.
func TestAliasesAreDecidedByName(t *testing.T) {
	s := memory(t)
	importText(t, s, "a.json", `[{"language":"p","name":"zeta","aliases":["x","alpha"]},{"language":"p","name":"beta","aliases":["x"]},{"language":"p","name":"alpha"}]`)
	for alias, want := range map[ontology.RuntimeID]ontology.RuntimeID{"x": "beta", "alpha": "alpha", "zeta": "zeta"} {
		if rt, ok := s.Runtime(alias); !ok || rt.ID != want {
			t.Errorf("%s is %s, %v; want %s", alias, rt.ID, ok, want)
		}
	}
	if _, ok := s.Runtime("unknown"); ok {
		t.Error("an unknown name is a runtime")
	}
}

func TestManifestFaultsSayWhere(t *testing.T) {
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	for name, c := range map[string]struct{ text, where, says string }{
		"not JSON":            {"{\n  \"language\": python}", "m.json:2:15", "not JSON"},
		"cut":                 {`{"language":"python"`, "m.json:1:21", "ends in the middle"},
		"empty":               {"", "m.json:1:1", "ends in the middle"},
		"something behind":    {`{"language":"p"} {}`, "m.json:1:18", "behind the end"},
		"not an object":       {`"python"`, "m.json:1:1", "an object, or a list"},
		"unknown member":      {"{\"language\":\"p\",\n \"preimports\":[]}", "m.json:2:2", `did you mean "preimport"`},
		"twice":               {`{"language":"p","language":"q"}`, "m.json:1:17", "twice"},
		"no language":         {`{"version":"3"}`, "m.json:1:1", "language"},
		"language a number":   {`{"language":3}`, "m.json:1:13", "a string"},
		"empty text":          {`{"language":"p","label":""}`, "m.json:1:25", "not empty"},
		"bad name":            {`{"language":"p","name":"a b"}`, "m.json:1:13", "name of a runtime"},
		"bad capability":      {`{"language":"python","preimport":["ok","http://e/x> } ; DROP ALL #"]}`, "m.json:1:40", "not a capability"},
		"bad module":          {`{"language":"python","capabilities":[{"name":"?s"}]}`, "m.json:1:46", "not a capability"},
		"module without one":  {`{"language":"python","capabilities":[{"label":"x"}]}`, "m.json:1:38", `"name"`},
		"member of a module":  {`{"language":"python","capabilities":[{"name":"x","imports":"y"}]}`, "m.json:1:50", "no member"},
		"unknown limit":       {`{"language":"p","defaultLimits":{"wall":1}}`, "m.json:1:34", "no member"},
		"limit a string":      {`{"language":"p","defaultLimits":{"pids":"1"}}`, "m.json:1:41", "a number"},
		"limit below one":     {"{\"language\":\"p\",\n\"é\":0}", "m.json:2:1", "no member"},
		"limit of nothing":    {`{"language":"p","defaultLimits":{"pids":0}}`, "m.json:1:41", "from 1"},
		"alias with a space":  {`{"language":"p","aliases":["a b"]}`, "m.json:1:28", "bn:alias"},
		"columns are letters": {`{"language":"p","label":"éü","x":1}`, "m.json:1:30", "no member"},
		"not UTF-8":           {"{\"language\":\"p\xff\"}", "m.json:1:15", "UTF-8"},
		"bad executable":      {`{"language":"p","executable":"../x"}`, "m.json:1:30", "absolute path"},
		"bad namespace":       {`{"language":"p","namespace":"no"}`, "m.json:1:29", "IRI"},
		"bundle of nothing":   {`{"language":"p","bundles":[{"name":"b"}]}`, "m.json:1:28", "implies"},
		"B45 deep":            {deep, "m.json:1:17", "nested at most 16"},
		"list of lists":       {`[[]]`, "m.json:1:2", "an object, or a list"},
		"NUL":                 {`{"language":"p","args":["\u0000"]}`, "m.json:1:25", "a string"},
	} {
		t.Run(name, func(t *testing.T) {
			s := memory(t)
			before := s.Triples()
			_, err := s.ImportTurtle(t.Context(), strings.NewReader(c.text), ImportOptions{Name: "m.json"})
			wantKind(t, err, errs.Invalid)
			var places []string
			var classified *errs.Error
			if errors.As(err, &classified) {
				for _, p := range classified.Parts {
					places = append(places, p.Pointer+": "+p.Detail)
				}
			}
			text := errs.Public(err) + "\n" + strings.Join(places, "\n")
			if !strings.Contains(text, c.where+":") || !strings.Contains(text, c.says) {
				t.Errorf("the error is %q, want %s and %q", text, c.where, c.says)
			}
			if s.Triples() != before {
				t.Error("something of the file is in the store")
			}
		})
	}
}

func TestManifestIsBounded(t *testing.T) {
	s := memory(t)
	long := `{"language":"p","label":"` + strings.Repeat("x", maxManifestBytes) + `"}`
	_, err := s.ImportTurtle(t.Context(), strings.NewReader(long), ImportOptions{Name: "m.json"})
	wantKind(t, err, errs.TooLarge)
	many := `{"language":"p","args":["a"` + strings.Repeat(`,"a"`, 1000) + `]}`
	_, err = s.ImportTurtle(t.Context(), strings.NewReader(many), ImportOptions{Name: "m.json", Limits: ttl.Limits{Triples: 100}})
	wantKind(t, err, errs.Invalid)
	if !strings.Contains(errs.Public(err), "more than 100 statements") {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.ImportTurtle(ctx, strings.NewReader(manifestText), ImportOptions{Name: "m.json"})
	wantKind(t, err, errs.Canceled)
}

func TestTheExampleManifestImports(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "examples", "python-science.json"))
	if err != nil {
		t.Fatal(err)
	}
	s := memory(t)
	got := importText(t, s, "python-science.json", string(text))
	if got.Runtimes != 1 || got.Capabilities != 2 || got.Bundles != 1 {
		t.Errorf("the report is %+v", got)
	}
}

// FuzzManifest imports anything as a manifest: it is refused with a place and
// leaves nothing, or what came in goes out and in again as Turtle.
func FuzzManifest(f *testing.F) {
	f.Add(manifestText)
	f.Add(`{"language":"p"}`)
	f.Add(`[{"language":"p","bundles":[{"name":"b","implies":["py:x"]}]},{}]`)
	s, err := Open(context.Background(), Config{InMemory: true, Logger: quiet()})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	const g = ontology.IRI("http://example.org/fuzz")
	before := s.Triples()
	f.Fuzz(func(t *testing.T, text string) {
		r, err := s.ImportTurtle(context.Background(), strings.NewReader(text), ImportOptions{Graph: g, Name: "f.json"})
		if err != nil {
			if k := errs.KindOf(err); k != errs.Invalid && k != errs.TooLarge || s.Triples() != before {
				t.Fatalf("the refusal is %s and leaves %d triples: %v", k, s.Triples()-before, err)
			}
			return
		}
		if r.Triples == 0 {
			return
		}
		var out bytes.Buffer
		if err := s.Export(context.Background(), &out, g, ttl.Turtle); err != nil {
			t.Fatal(err)
		}
		again, err := s.ImportTurtle(context.Background(), &out, ImportOptions{Graph: g, Name: "f.ttl"})
		if err != nil || again.Triples != r.Triples || again.Runtimes != r.Runtimes || again.Capabilities != r.Capabilities || again.Bundles != r.Bundles {
			t.Fatalf("what came out goes in as %+v, %v; want %+v", again, err, r)
		}
		if _, _, err := s.ReplaceGraph(context.Background(), g, many(0, "")); err != nil || s.Triples() != before {
			t.Fatalf("the graph cannot be emptied: %v", err)
		}
	})
}
