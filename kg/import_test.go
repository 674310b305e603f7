package kg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

const importHead = `@prefix bn: <https://seed-ff860830.github.io/banyan/ns#> .
@prefix py: <https://seed-ff860830.github.io/banyan/py/> .
@prefix bundle: <https://seed-ff860830.github.io/banyan/bundle/> .
@prefix rt: <https://seed-ff860830.github.io/banyan/runtime/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
`

const science = importHead + `
rt:python-3.11 a bn:Runtime ; rdfs:label "Python 3.11" ; bn:language "python" ; bn:version "3.11" ;
    bn:executable "/usr/bin/python3.11" ; bn:arguments ( "-X" "utf8" ) ; bn:standardModules "os sys json" .
py:numpy a bn:Module ; rdfs:label "NumPy" ; bn:warmMillis 80 .
py:pandas a bn:Module ; bn:implies py:numpy , <https://seed-ff860830.github.io/banyan/py/dateutil> ; bn:warmMillis 250.5 .
<https://seed-ff860830.github.io/banyan/py/PIL> a bn:Module ; bn:importName "PIL.Image" .
<http://example.org/data/iris> a bn:Capability ; bn:warmMillis 1.5e1 .
bundle:science a bn:Bundle ; rdfs:label "Science" ; bn:implies py:pandas , py:PIL .
`

func TestImportOfAScienceFile(t *testing.T) {
	s := memory(t)
	want := ImportReport{Graph: ontology.ImportGraph("science.ttl"), Triples: 26, Runtimes: 1, Capabilities: 4, Bundles: 1}
	dry, err := s.ImportTurtle(t.Context(), strings.NewReader(science), ImportOptions{Name: "dir/science.ttl", DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	before := s.Triples()
	got := importText(t, s, "dir/science.ttl", science)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the report (-want +got):\n%s", diff)
	}
	if s.Triples() != before+int64(want.Triples) {
		t.Errorf("the store grew by %d", s.Triples()-before)
	}
	want.DryRun = true
	if diff := cmp.Diff(want, dry); diff != "" {
		t.Errorf("the dry run's report (-want +got):\n%s", diff)
	}
	want.DryRun, want.Replaced = false, want.Triples
	if diff := cmp.Diff(want, importText(t, s, "science.ttl", science)); diff != "" {
		t.Errorf("the second report (-want +got):\n%s", diff)
	}

	rt, ok := s.Runtime("python-3.11")
	if diff := cmp.Diff(Runtime{
		ID: "python-3.11", Label: "Python 3.11", Language: "python", Version: "3.11", Executable: "/usr/bin/python3.11",
		Args: []string{"-X", "utf8"}, Namespace: ontology.PythonNS, StandardModules: []string{"os", "sys", "json"},
	}, rt); !ok || diff != "" {
		t.Errorf("the runtime (-want +got):\n%s", diff)
	}
	bundle, ok := s.Capability(ontology.Capability(ontology.BundleNS + "science"))
	if diff := cmp.Diff(Capability{
		ID: ontology.Capability(ontology.BundleNS + "science"), Label: "Science", Bundle: true,
		Implies: ontology.SortCapabilities(py("pandas", "numpy", "dateutil", "PIL")),
	}, bundle); !ok || diff != "" {
		t.Errorf("the bundle (-want +got):\n%s", diff)
	}
	for c, want := range map[ontology.Capability]Capability{
		py("pandas")[0]:                {ID: py("pandas")[0], ImportName: "pandas", WarmMillis: 250.5, Implies: py("dateutil", "numpy")},
		py("PIL")[0]:                   {ID: py("PIL")[0], ImportName: "PIL.Image"},
		py("numpy@1.24.2")[0]:          {ID: py("numpy@1.24.2")[0], Label: "NumPy", ImportName: "numpy", WarmMillis: 80, Implies: py("numpy")},
		"http://example.org/data/iris": {ID: "http://example.org/data/iris", WarmMillis: 15},
	} {
		got, ok := s.Capability(c)
		if diff := cmp.Diff(want, got, cmp.Transformer("nil", func(cs []ontology.Capability) []ontology.Capability { return append([]ontology.Capability{}, cs...) })); !ok || diff != "" {
			t.Errorf("%s (-want +got):\n%s", c, diff)
		}
	}
	if _, ok := s.Capability(py("unheard")[0]); ok {
		t.Error("a capability that nobody declares is known")
	}
	if got := len(s.Capabilities()); got != 5 {
		t.Errorf("%d capabilities are declared, want 5", got)
	}
	// A smaller file in its place takes the rest away.
	importText(t, s, "science.ttl", importHead+"py:numpy a bn:Module .")
	if _, ok := s.Runtime("python-3.11"); ok || len(s.Capabilities()) != 1 {
		t.Errorf("a replaced file still counts: %v", s.Capabilities())
	}
	clean(t, s)
}

func TestImportedRuntimeComesBeforeTheBuiltin(t *testing.T) {
	s := memory(t)
	rt, ok := s.Runtime("python")
	if !ok || rt.Executable != "/usr/bin/python3" || rt.Namespace != ontology.PythonNS || !slices.Contains(rt.StandardModules, "json") || slices.Contains(rt.StandardModules, "numpy") {
		t.Errorf("the built-in runtime is %+v", rt)
	}
	for _, file := range []string{"b.ttl", "a.ttl"} {
		importText(t, s, file, importHead+`rt:python a bn:Runtime ; bn:language "python" ; bn:executable "`+file+`" .`)
	}
	if rt, _ := s.Runtime("python"); rt.Executable != "a.ttl" || rt.Label != "" || len(rt.StandardModules) != 0 {
		t.Errorf("the runtime is %+v, want wholly what a.ttl says", rt)
	}
	if got := s.Runtimes(); len(got) != 1 {
		t.Errorf("runtimes are %v", got)
	}
}

// faulty are files that do not fit, each with the place of its first fault and
// a part of what is said of it.
var faulty = []struct{ name, text, place, detail string }{
	{"unknown property", `py:a a bn:Module ; bn:implys py:b .`, "7:30", `there is no "bn:implys" in the vocabulary; did you mean bn:implies?`},
	{"unknown class", `py:a a bn:Modul .`, "7:8", "did you mean bn:Module?"},
	{"unknown far off", `py:a bn:zzzzzzzzzzzzz py:b .`, "7:23", `there is no "bn:zzzzzzzzzzzzz" in the vocabulary (shape`},
	{"unknown object", `py:a rdfs:seeAlso bn:Nope .`, "7:19", "there is no"},
	{"the vocabulary", `bn:implies rdfs:label "x" .`, "7:23", "cannot change the vocabulary"},
	{"runtime without executable", `rt:x a bn:Runtime ; bn:language "python" .`, "7:8", "a runtime needs bn:executable (shape bn:Runtime)"},
	{"runtime without language", `rt:x a bn:Runtime ; bn:executable "python3" .`, "7:8", "a runtime needs bn:language"},
	{"runtime elsewhere", `<http://e/x> a bn:Runtime ; bn:language "python" ; bn:executable "python3" .`, "7:16", "a runtime's IRI is"},
	{"blank runtime", `[] a bn:Runtime ; bn:language "python" ; bn:executable "python3" .`, "7:6", "a blank node: a runtime's IRI is"},
	{"relative executable", `rt:x a bn:Runtime ; bn:language "python" ; bn:executable "bin/python" .`, "7:58", "absolute path"},
	{"climbing executable", `rt:x a bn:Runtime ; bn:language "python" ; bn:executable "/usr/../python" .`, "7:58", "absolute path"},
	{"number as executable", `rt:x a bn:Runtime ; bn:language "python" ; bn:executable 3 .`, "7:58", "absolute path"},
	{"language tag", `rt:x a bn:Runtime ; bn:language "python"@en ; bn:executable "python3" .`, "7:33", "bn:language is a string"},
	{"two executables", `rt:x a bn:Runtime ; bn:language "python" ; bn:executable "a", "b" .`, "7:63", "bn:executable has more than one value"},
	{"runtime's property elsewhere", `py:a a bn:Module ; bn:executable "a" .`, "7:34", "belongs to a node of class bn:Runtime"},
	{"import name elsewhere", `bundle:b a bn:Bundle ; bn:implies py:a ; bn:importName "a" .`, "7:56", "belongs to a node of class bn:Module"},
	{"broken list", `rt:x a bn:Runtime ; bn:language "python" ; bn:executable "a" ; bn:arguments [] .`, "7:77", "the list of bn:arguments is broken"},
	{"circular list", `rt:x a bn:Runtime ; bn:language "python" ; bn:executable "a" ; bn:arguments _:l . _:l <http://www.w3.org/1999/02/22-rdf-syntax-ns#first> "a" ; <http://www.w3.org/1999/02/22-rdf-syntax-ns#rest> _:l .`, "7:77", "broken"},
	{"list of numbers", `rt:x a bn:Runtime ; bn:language "python" ; bn:executable "a" ; bn:arguments ( 1 ) .`, "7:77", "a list of short strings"},
	{"arguments as text", `rt:x a bn:Runtime ; bn:language "python" ; bn:executable "a" ; bn:arguments "-X" .`, "7:77", "like ("},
	{"namespace", `rt:x a bn:Runtime ; bn:language "python" ; bn:executable "a" ; bn:capabilityNamespace <http://e/x> .`, "7:87", "ends in '/'"},
	{"standard modules", `rt:x a bn:Runtime ; bn:language "python" ; bn:executable "a" ; bn:standardModules "os; rm" .`, "7:83", `"os;" in bn:standardModules`},
	{"implies text", `py:a bn:implies "py:b" .`, "7:17", "bn:implies points to an IRI"},
	{"implies blank", `py:a bn:implies [] .`, "7:17", "bn:implies points to an IRI, not to a blank node"},
	{"runtime implies", `rt:x a bn:Runtime ; bn:language "p" ; bn:executable "a" ; bn:implies py:a .`, "7:70", "a runtime implies nothing"},
	{"blank module", `[] a bn:Module .`, "7:6", "a capability is an IRI"},
	{"import name with code", `py:a a bn:Module ; bn:importName "os; import sys" .`, "7:34", "the name of a module"},
	{"import name with version", `py:a a bn:Module ; bn:importName "os@1" .`, "7:34", "the name of a module"},
	{"no import name to have", `<http://e/1x> a bn:Module .`, "7:17", "a module needs bn:importName"},
	{"warm-up below zero", `py:a bn:warmMillis -1 .`, "7:20", "not below zero"},
	{"warm-up as text", `py:a bn:warmMillis "5" .`, "7:20", "a number of milliseconds"},
	{"warm-up not finite", `py:a bn:warmMillis "INF"^^xsd:double .`, "7:20", "a number of milliseconds"},
	{"warm-up in hexadecimal", `py:a bn:warmMillis "0x10"^^xsd:integer .`, "7:20", "a number of milliseconds"},
	{"empty bundle", `bundle:b a bn:Bundle .`, "7:12", "a bundle needs bn:implies"},
	{"long IRI", `<http://e/` + strings.Repeat("x", 600) + `> a bn:Capability .`, "7:615", "at most 512 bytes"},
	{"name of no module", `<https://seed-ff860830.github.io/banyan/py/a/b> a bn:Module .`, "7:51", "a module's name in its runtime's namespace"},
	{"implies no module", `py:a bn:implies <https://seed-ff860830.github.io/banyan/py/a;b> .`, "7:17", "a module's name in its runtime's namespace"},
	{"a snapshot", `<https://seed-ff860830.github.io/banyan/snapshot/sn_1> rdfs:label "x" .`, "7:67", "cannot speak of snapshots"},
	{"snapshot class", `<http://e/s> a bn:WarmSnapshot .`, "7:16", "cannot declare a bn:WarmSnapshot"},
	{"snapshot property", `<http://e/s> bn:provides py:os .`, "7:26", "bn:provides is Banyan's own to say"},
	{"a rung", `<https://seed-ff860830.github.io/banyan/rung/forkserver> rdfs:label "x" .`, "7:69", "cannot speak of rungs"},
	{"rung's property", `<http://e/r> bn:available true .`, "7:27", "bn:available is Banyan's own to say"},
}

func TestImportRefusesWhatDoesNotFit(t *testing.T) {
	for _, c := range faulty {
		t.Run(c.name, func(t *testing.T) {
			s := memory(t)
			before := s.Triples()
			_, err := s.ImportTurtle(t.Context(), strings.NewReader(importHead+c.text), ImportOptions{Name: "dir/f.ttl"})
			wantKind(t, err, errs.Invalid)
			var e *errs.Error
			if !errors.As(err, &e) || len(e.Parts) == 0 {
				t.Fatalf("no part says what is wrong: %v", err)
			}
			if p := e.Parts[0]; p.Pointer != "f.ttl:"+c.place || !strings.Contains(p.Detail, c.detail) || !strings.Contains(p.Detail, "(shape ") {
				t.Errorf("the fault is %s: %s\nwant f.ttl:%s: …%s…", p.Pointer, p.Detail, c.place, c.detail)
			}
			if !strings.Contains(errs.Public(err), e.Parts[0].Pointer) || strings.Contains(errs.Public(err), "dir/") {
				t.Errorf("the sentence is %q", errs.Public(err))
			}
			if s.Triples() != before {
				t.Errorf("a refused file left %d triples", s.Triples()-before)
			}
		})
	}
}

func TestImportListsManyFaultsButNotAll(t *testing.T) {
	s := memory(t)
	var b strings.Builder
	b.WriteString(importHead)
	for i := range 50 {
		fmt.Fprintf(&b, "py:m%d a bn:Module ; bn:warmMillis -%d .\n", i, i+1)
	}
	_, err := s.ImportTurtle(t.Context(), strings.NewReader(b.String()), ImportOptions{Name: "f.ttl"})
	var e *errs.Error
	if !errors.As(err, &e) || len(e.Parts) != maxFaults || e.Parts[1].Pointer != "f.ttl:8:35" || !strings.Contains(e.Msg, "more faults than are listed") {
		t.Errorf("the error is %v with parts %v", err, e.Parts)
	}
}

func TestImportSaysWhereAFileBreaks(t *testing.T) {
	s := memory(t)
	_, err := s.ImportTurtle(t.Context(), strings.NewReader("<http://e/a> <http://e/b>\n  nonsense ."), ImportOptions{Name: "f.ttl"})
	wantKind(t, err, errs.Invalid)
	var e *errs.Error
	if !errors.As(err, &e) || len(e.Parts) != 1 || e.Parts[0].Pointer != "f.ttl:2:3" || !strings.Contains(e.Parts[0].Detail, "\n") {
		t.Errorf("the error is %v with parts %+v", err, e.Parts)
	}
	_, err = s.ImportTurtle(t.Context(), strings.NewReader(science), ImportOptions{Name: "f.ttl", Limits: ttl.Limits{Triples: 3}})
	wantKind(t, err, errs.TooLarge)
	_, err = s.ImportTurtle(t.Context(), io.MultiReader(strings.NewReader(science), iotest.ErrReader(errors.New("/secret/path: gone"))), ImportOptions{Name: "f.ttl"})
	wantKind(t, err, errs.Invalid)
	if strings.Contains(errs.Public(err), "secret") {
		t.Errorf("the sentence shows the cause: %q", errs.Public(err))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.ImportTurtle(ctx, strings.NewReader(science), ImportOptions{Name: "f.ttl"})
	wantKind(t, err, errs.Canceled)
}

func TestImportOptions(t *testing.T) {
	s := memory(t)
	for name, c := range map[string]struct {
		o    ImportOptions
		kind errs.Kind
	}{
		"no name, no graph": {ImportOptions{}, errs.Invalid},
		"graph no IRI":      {ImportOptions{Graph: "x> } ; DROP ALL #"}, errs.Invalid},
		"base no IRI":       {ImportOptions{Name: "f", Base: "x y"}, errs.Invalid},
		"format":            {ImportOptions{Name: "f", Format: "rdfxml"}, errs.Unsupported},
		"quads":             {ImportOptions{Name: "f", Format: "nquads"}, errs.Unsupported},
		"limit":             {ImportOptions{Name: "f", Limits: ttl.Limits{Bytes: -1}}, errs.Invalid},
		"snapshots":         {ImportOptions{Graph: ontology.GraphSnapshots}, errs.Denied},
		"host":              {ImportOptions{Graph: ontology.GraphHost}, errs.Denied},
		"builtin":           {ImportOptions{Graph: ontology.GraphBuiltin}, errs.Denied},
	} {
		_, err := s.ImportTurtle(t.Context(), strings.NewReader(science), c.o)
		if err == nil || errs.KindOf(err) != c.kind {
			t.Errorf("%s: %v, want %s", name, err, c.kind)
		}
	}
	r, err := s.ImportTurtle(t.Context(), strings.NewReader("<a> <b> <c> ."), ImportOptions{Graph: "http://e/g", Base: "http://e/dir/"})
	if err != nil || r.Graph != "http://e/g" || len(all(t, s, ttl.Quad{S: ttl.NewIRI("http://e/dir/a")})) != 1 {
		t.Errorf("an import with graph and base: %+v, %v", r, err)
	}
	r, err = s.ImportTurtle(t.Context(), strings.NewReader("<http://e/a> <http://e/b> \"c\" .\n"), ImportOptions{Name: "x y.nt"})
	if err != nil || r.Graph != ontology.ImportGraph("x y.nt") {
		t.Errorf("an import of N-Triples: %+v, %v", r, err)
	}
	_, err = s.ImportTurtle(t.Context(), strings.NewReader("@prefix a: <http://e/> ."), ImportOptions{Name: "f.nt"})
	wantKind(t, err, errs.Invalid)
}

func TestImplicationsAreBoundedAndMayGoInCircles(t *testing.T) {
	s := memory(t)
	importText(t, s, "circle.ttl", importHead+"py:a bn:implies py:b . py:b bn:implies py:c . py:c bn:implies py:a , py:c .")
	if c, ok := s.Capability(py("b")[0]); !ok || !slices.Equal(c.Implies, py("a", "c")) {
		t.Errorf("in a circle b implies %v", c.Implies)
	}
	chain := func(n int) string {
		var b strings.Builder
		b.WriteString(importHead)
		for i := range n {
			fmt.Fprintf(&b, "py:m%d bn:implies py:m%d .\n", i, i+1)
		}
		return b.String()
	}
	importText(t, s, "chain.ttl", chain(maxImplied))
	_, err := s.ImportTurtle(t.Context(), strings.NewReader(chain(maxImplied+1)), ImportOptions{Name: "chain2.ttl"})
	wantKind(t, err, errs.Invalid)
	// The bound holds for two files together, too.
	_, err = s.ImportTurtle(t.Context(), strings.NewReader(importHead+"py:first bn:implies py:m0 ."), ImportOptions{Name: "more.ttl"})
	wantKind(t, err, errs.Invalid)
}

func TestExportReadsBackTheSame(t *testing.T) {
	s := memory(t)
	importText(t, s, "science.ttl", science)
	importText(t, s, "other.ttl", importHead+`py:numpy a bn:Module ; rdfs:label "a \"quoted\" \\ label\n"@en-GB ; bn:warmMillis "080"^^xsd:integer .`)
	mustPut(t, s, testSnapshot(1))
	for _, format := range []ttl.Format{ttl.Turtle, ttl.NTriples} {
		var out bytes.Buffer
		if err := s.Export(t.Context(), &out, ontology.ImportGraph("science.ttl"), format); err != nil {
			t.Fatal(err)
		}
		again := memory(t)
		if _, err := again.ImportTurtle(t.Context(), &out, ImportOptions{Graph: "http://e/g", Format: format.String()}); err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		a := s.Capabilities()
		importText(t, again, "other.ttl", importHead+`py:numpy a bn:Module ; rdfs:label "a \"quoted\" \\ label\n"@en-GB ; bn:warmMillis "080"^^xsd:integer .`)
		if b := again.Capabilities(); len(a) != len(b) {
			t.Errorf("%s: %d capabilities read back of %d", format, len(b), len(a))
		}
		ra, _ := s.Runtime("python-3.11")
		rb, _ := again.Runtime("python-3.11")
		if diff := cmp.Diff(ra, rb); diff != "" {
			t.Errorf("%s: the runtime reads back with (-want +got):\n%s", format, diff)
		}
	}
	var out bytes.Buffer
	if err := s.Export(t.Context(), &out, "", ttl.NQuads); err != nil {
		t.Fatal(err)
	}
	want := map[ttl.Quad]bool{}
	for _, q := range all(t, s, ttl.Quad{}) {
		want[q] = true
	}
	r := ttl.NewReader(&out, ttl.Options{Format: ttl.NQuads})
	n := 0
	for {
		q, err := r.ReadQuad()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if n++; !want[q] {
			t.Fatalf("the export has %v, which the store has not", q)
		}
	}
	if int64(n) != s.Triples() || n != len(want) {
		t.Errorf("the export has %d quads, the store %d", n, s.Triples())
	}
	// The union of all graphs has the shared triple once.
	out.Reset()
	if err := s.Export(t.Context(), &out, "", ttl.NTriples); err != nil {
		t.Fatal(err)
	}
	line := "<" + string(py("numpy")[0]) + "> <" + string(ontology.RDFType) + "> <" + string(ontology.ClassModule) + "> ."
	if got := strings.Count(out.String(), line); got != 1 {
		t.Errorf("a triple of two graphs stands %d times in their union", got)
	}
	wantKind(t, s.Export(t.Context(), &out, "http://e/none", ttl.Turtle), errs.NotFound)
}

func TestRungsAndCosts(t *testing.T) {
	s := memory(t)
	f := RungFacts{Name: "forkserver", Label: "fork server", Rank: 15, Isolation: ontology.IsolationProcess, WarmFork: true, Reason: "no user namespaces"}
	for _, available := range []bool{false, true} {
		f.Available = available
		if err := s.PutRung(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	rung := iri(f.Name.IRI())
	for p, want := range map[ontology.IRI][]ttl.Term{
		ontology.RDFType:                {iri(ontology.ClassRung)},
		ontology.PropRank:               {integer(15)},
		ontology.PropIsolation:          {ttl.NewString("process")},
		ontology.PropAvailable:          {ttl.NewTyped("true", ttl.XSDBoolean)},
		ontology.PropUnavailableBecause: nil,
		ontology.PropHasCapability:      {iri(ontology.ClassSandboxExecutionCapability), iri(ontology.ClassWarmForkFanoutCapability)},
	} {
		var got []ttl.Term
		for _, q := range all(t, s, ttl.Quad{S: rung, P: iri(p), G: iri(ontology.GraphHost)}) {
			got = append(got, q.O)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s of the rung is %v, want %v", p, got, want)
		}
	}
	wantKind(t, s.PutRung(t.Context(), RungFacts{Name: "a b"}), errs.Invalid)

	importText(t, s, "science.ttl", science)
	if err := s.PutCosts(t.Context(), map[ontology.Capability]float64{py("pandas")[0]: 99.5, py("scipy")[0]: 1}); err != nil {
		t.Fatal(err)
	}
	if c, _ := s.Capability(py("pandas")[0]); c.WarmMillis != 99.5 || c.ImportName != "pandas" {
		t.Errorf("a measured cost does not count: %+v", c)
	}
	if c, ok := s.Capability(py("scipy")[0]); !ok || c.WarmMillis != 1 || c.ImportName != "scipy" {
		t.Errorf("a measured module is %+v", c)
	}
	wantKind(t, s.PutCosts(t.Context(), map[ontology.Capability]float64{py("pandas")[0]: -1}), errs.Invalid)
	wantKind(t, s.PutCosts(t.Context(), map[ontology.Capability]float64{"x y": 1}), errs.Invalid)
	clean(t, s)
}
