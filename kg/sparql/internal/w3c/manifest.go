package w3c

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/seed-ff860830/banyan/ttl"
)

// Kind is what a test asks of an engine.
type Kind uint8

// The kinds of tests.
const (
	QuerySyntax  Kind = iota // a query parses, or does not
	UpdateSyntax             // an update parses, or does not
	Evaluation               // a query's answer
	CSVResult                // a query's answer, as CSV keeps it
	UpdateEval               // what an update makes of a dataset
)

// GraphFile is a named graph: its IRI, and the IRI of the file it is in.
type GraphFile struct{ Name, File string }

// DatasetFiles says which files make a dataset.
type DatasetFiles struct {
	Default []string
	Named   []GraphFile
}

// Test is one test of a manifest. Files are named by their IRIs below Base.
type Test struct {
	Name   string // the last part of its IRI; unique in its folder
	Folder string // "sparql11/bind"
	Kind   Kind
	Bad    bool   // a syntax test whose text must not parse
	Text   string // the file of the query or the update
	Before DatasetFiles
	After  DatasetFiles // of an update
	Result string       // the file of the expected answer; "" if it has none
	Lax    bool         // REDUCED: duplicates may be fewer
}

// kinds maps a test's class to what it is.
var kinds = map[string]Test{
	"PositiveSyntaxTest":         {Kind: QuerySyntax},
	"PositiveSyntaxTest11":       {Kind: QuerySyntax},
	"NegativeSyntaxTest":         {Kind: QuerySyntax, Bad: true},
	"NegativeSyntaxTest11":       {Kind: QuerySyntax, Bad: true},
	"PositiveUpdateSyntaxTest11": {Kind: UpdateSyntax},
	"NegativeUpdateSyntaxTest11": {Kind: UpdateSyntax, Bad: true},
	"QueryEvaluationTest":        {Kind: Evaluation},
	"CSVResultFormatTest":        {Kind: CSVResult},
	"UpdateEvaluationTest":       {Kind: UpdateEval},
}

// Load returns the tests of a manifest (a path below the folder, such as
// "sparql11/manifest.ttl") and of those that it includes, in their order.
func (f Files) Load(manifest string) ([]Test, error) {
	ts, err := f.Graph(Base+manifest, "m")
	if err != nil {
		return nil, err
	}
	x := indexOf(ts)
	var tests []Test
	root, err := x.root()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", manifest, err)
	}
	for _, sub := range x.list(x.one(root, mfNS+"include")) {
		more, err := f.Load(strings.TrimPrefix(sub.Value, Base))
		if err != nil {
			return nil, err
		}
		tests = append(tests, more...)
	}
	for _, entry := range x.list(x.one(root, mfNS+"entries")) {
		t, err := f.test(x, entry, path.Dir(manifest))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", manifest, err)
		}
		tests = append(tests, t)
	}
	return tests, nil
}

// root returns the one manifest of a file. Some are blank nodes.
func (x index) root() (root ttl.Term, err error) {
	for s := range x {
		if x.one(s, ttl.RDFType).Value != mfNS+"Manifest" {
			continue
		}
		if !root.IsZero() {
			return root, errors.New("there are two manifests")
		}
		root = s
	}
	if root.IsZero() {
		err = errors.New("there is no manifest")
	}
	return root, err
}

func (f Files) test(x index, entry ttl.Term, folder string) (Test, error) {
	class := x.one(entry, ttl.RDFType).Value
	t, ok := kinds[strings.TrimPrefix(class, mfNS)]
	if !ok {
		return t, fmt.Errorf("%s is of the unknown class %q", entry.Value, class)
	}
	t.Name, t.Folder = entry.Value[strings.LastIndexAny(entry.Value, "#/")+1:], folder
	t.Lax = x.one(entry, mfNS+"resultCardinality").Value == mfNS+"LaxCardinality"
	action, result := x.one(entry, mfNS+"action"), x.one(entry, mfNS+"result")
	switch t.Kind {
	case QuerySyntax, UpdateSyntax:
		t.Text = action.Value
	case UpdateEval:
		t.Text = x.one(action, utNS+"request").Value
		t.Before, t.After = x.dataset(action, utNS), x.dataset(result, utNS)
	default:
		t.Text, t.Result = action.Value, result.Value
		if action.Kind == ttl.Blank {
			t.Text, t.Before = x.one(action, qtNS+"query").Value, x.dataset(action, qtNS)
		}
		if err := f.addFrom(&t); err != nil {
			return t, err
		}
	}
	if !strings.HasPrefix(t.Text, Base) {
		return t, fmt.Errorf("%s names no text", entry.Value)
	}
	return t, nil
}

// dataset reads which files make a dataset. In an update's test the IRI of a
// named graph stands beside its file, as a label; in a query's it is the
// file's own.
func (x index) dataset(node ttl.Term, ns string) DatasetFiles {
	var d DatasetFiles
	for _, file := range x[node][ns+"data"] {
		d.Default = append(d.Default, file.Value)
	}
	for _, graph := range x[node][ns+"graphData"] {
		g := GraphFile{Name: graph.Value, File: graph.Value}
		if graph.Kind == ttl.Blank {
			g.File = x.one(graph, ns+"graph").Value
			g.Name = x.one(graph, rdfsNS+"label").Value
		}
		d.Named = append(d.Named, g)
	}
	return d
}

// fromClause finds the graphs that a query itself names. No test of the suites
// has such text in a string.
var fromClause = regexp.MustCompile(`(?i)\bFROM\s+(?:NAMED\s+)?<([^>]*)>`)

// addFrom adds the files that a query names as its dataset: an engine is not
// to fetch them, so the store has to hold them as named graphs.
func (f Files) addFrom(t *Test) error {
	text, err := f.Text(t.Text)
	if err != nil {
		return err
	}
	have := map[string]bool{}
	for _, g := range t.Before.Named {
		have[g.Name] = true
	}
	for _, m := range fromClause.FindAllStringSubmatch(text, -1) {
		iri := ttl.ResolveIRI(t.Text, m[1])
		if !have[iri] && strings.HasPrefix(iri, Base) {
			have[iri] = true
			t.Before.Named = append(t.Before.Named, GraphFile{Name: iri, File: iri})
		}
	}
	return nil
}
