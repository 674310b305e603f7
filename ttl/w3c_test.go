package ttl_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/ttl"
	"github.com/seed-ff860830/banyan/ttl/rdfgraph"
)

const (
	mfNS   = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
	rdftNS = "http://www.w3.org/ns/rdftest#"
)

// readAll reads a whole document.
func readAll(src io.Reader, o ttl.Options) ([]ttl.Triple, error) {
	var ts []ttl.Triple
	for t, err := range ttl.NewReader(src, o).All() {
		if err != nil {
			return ts, err
		}
		ts = append(ts, t)
	}
	return ts, nil
}

// w3cDir returns the folder of the W3C suites, or skips the test.
func w3cDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("BANYAN_W3C_DIR")
	if dir != "" {
		return dir
	}
	const why = "BANYAN_W3C_DIR does not name a copy of the W3C rdf-tests"
	if os.Getenv("BANYAN_REQUIRE_W3C") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
	return ""
}

// manifest is a suite's list of tests, read with our own reader.
type manifest struct {
	dir, base string
	props     map[string]map[string]string // test IRI → property → value
	order     []string
}

func readManifest(t *testing.T, dir string) *manifest {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "manifest.ttl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ts, err := readAll(f, ttl.Options{Base: "https://example.org/manifest.ttl"})
	if err != nil {
		t.Fatal(err)
	}
	m := &manifest{dir: dir, props: map[string]map[string]string{}}
	for _, s := range ts {
		if m.props[s.S.Value] == nil {
			m.props[s.S.Value] = map[string]string{}
		}
		m.props[s.S.Value][s.P.Value] = s.O.Value
		if s.P.Value == mfNS+"assumedTestBase" {
			m.base = s.O.Value
		}
	}
	root := m.props["https://example.org/manifest.ttl"]
	for cell := root[mfNS+"entries"]; cell != ttl.RDFNil; cell = m.props[cell][ttl.RDFRest] {
		m.order = append(m.order, m.props[cell][ttl.RDFFirst])
	}
	return m
}

// open returns the bytes of a file that the manifest names, and its base.
func (m *manifest) open(t *testing.T, iri string) (data []byte, base string) {
	t.Helper()
	name := iri[strings.LastIndexByte(iri, '/')+1:]
	data, err := os.ReadFile(filepath.Join(m.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data, m.base + name
}

func (m *manifest) run(t *testing.T, name string) {
	props := m.props[name]
	kind := strings.TrimPrefix(props[ttl.RDFType], rdftNS)
	format := ttl.Turtle
	data, base := m.open(t, props[mfNS+"action"])
	if strings.Contains(kind, "NTriples") {
		format, base = ttl.NTriples, ""
	}
	got, err := readAll(bytes.NewReader(data), ttl.Options{Format: format, Base: base})
	var syntax *ttl.SyntaxError
	switch kind {
	case "TestTurtleNegativeSyntax", "TestTurtleNegativeEval", "TestNTriplesNegativeSyntax":
		if !errors.As(err, &syntax) {
			t.Errorf("want a syntax error, got %d triples and error %v", len(got), err)
		}
		return
	case "TestTurtlePositiveSyntax", "TestNTriplesPositiveSyntax":
		if err != nil {
			t.Error(err)
		}
		return
	case "TestTurtleEval":
	default:
		t.Fatalf("unknown kind of test %q", kind)
	}
	if err != nil {
		t.Fatal(err)
	}
	data, _ = m.open(t, props[mfNS+"result"])
	want, err := readAll(bytes.NewReader(data), ttl.Options{Format: ttl.NTriples})
	if err != nil {
		t.Fatal(err)
	}
	if same, err := rdfgraph.Isomorphic(got, want); err != nil || !same {
		t.Errorf("another graph (%v):\ngot  %v\nwant %v", err, got, want)
	}
}

// TestW3C runs the W3C's suites for Turtle and N-Triples. They are not part of
// this repository; grammar_test.go holds cases of our own for each production.
func TestW3C(t *testing.T) {
	root := w3cDir(t)
	for _, suite := range []struct {
		name, folder string
		tests        int
	}{
		{"Turtle", "rdf/rdf11/rdf-turtle", 313},
		{"NTriples", "rdf/rdf11/rdf-n-triples", 70},
	} {
		t.Run(suite.name, func(t *testing.T) {
			m := readManifest(t, filepath.Join(root, filepath.FromSlash(suite.folder)))
			passed := 0
			for _, name := range m.order {
				if t.Run(name[strings.LastIndexByte(name, '#')+1:], func(t *testing.T) { m.run(t, name) }) {
					passed++
				}
			}
			t.Logf("%s: %d of %d W3C tests pass", suite.name, passed, len(m.order))
			if passed != suite.tests {
				t.Errorf("%d tests pass, want exactly %d", passed, suite.tests)
			}
		})
	}
}
