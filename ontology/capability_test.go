package ontology_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/seed-ff860830/banyan/ontology"
)

// inIRI reports whether text can stand between angle brackets (RFC 3987, as
// far as RDF's syntaxes ask for it).
func inIRI(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r == 0x7F || strings.ContainsRune("<>\"{}|^`\\", r)
	})
}

// checkCapability holds a capability that was accepted to what is promised of it.
func checkCapability(t interface {
	Helper()
	Fatalf(string, ...any)
}, c ontology.Capability,
) {
	t.Helper()
	if !inIRI(string(c)) {
		t.Fatalf("%q is no IRI", string(c))
	}
	back, err := ontology.ParseCapability(ontology.PythonNS, c.Short())
	if err != nil || back != c {
		t.Fatalf("%q is %q in short, which reads back as %q, %v", string(c), c.Short(), string(back), err)
	}
	text, err := c.MarshalText()
	if err != nil {
		t.Fatalf("marshal %q: %v", string(c), err)
	}
	if err := back.UnmarshalText(text); err != nil || back != c {
		t.Fatalf("%q reads back as %q, %v", text, string(back), err)
	}
}

func FuzzNewCapability(f *testing.F) {
	for _, s := range []string{"numpy", "numpy@1.24.2", "a.b.c", "größe", "c++", "a@", "@1", "x> } ; DROP ALL #", "a b", "a\nb", "?s", "\u3002", "\u2028", "a\x7f", "\xff", "a\uFFFD", "a\U000E0000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, ns := range []ontology.IRI{ontology.PythonNS, ontology.BundleNS} {
			c, err := ontology.NewCapability(ns, name)
			if err != nil {
				continue
			}
			if strings.ContainsAny(c.Module(), " ;#'\"()\n") || c.Module() == "" {
				t.Fatalf("%q would be imported as %q", name, c.Module())
			}
			checkCapability(t, c)
		}
	})
}

func FuzzParseCapability(f *testing.F) {
	for _, s := range []string{"numpy", "py:numpy@1", "bundle:science", "http://example.org/x", "urn:x", "http://e/x> } ; DROP ALL #", "://", "py:py:x", string(ontology.PythonNS), string(ontology.PythonNS) + "a b", string(ontology.PythonNS) + "a/b", "http://e/\x7f", "http://e/\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := ontology.ParseCapability(ontology.PythonNS, s); err == nil {
			checkCapability(t, c)
		}
	})
}

func TestCapabilitiesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[A-Za-z_é][A-Za-z0-9_+-]{0,8}(\.[a-z_][a-z0-9]{0,4}){0,3}(@[0-9a-z.+!_-]{1,10})?`).Draw(t, "name")
		c, err := ontology.NewCapability(ontology.PythonNS, name)
		if err != nil {
			t.Fatalf("%q is refused: %v", name, err)
		}
		checkCapability(t, c)
		module, version, _ := strings.Cut(name, "@")
		if c.Module() != module || c.Version() != version || c.Unversioned() != ontology.Capability(string(ontology.PythonNS)+module) {
			t.Fatalf("%q has module %q, version %q, and is %q without it", name, c.Module(), c.Version(), c.Unversioned())
		}
	})
}

func TestNamesThatAreRefused(t *testing.T) {
	for _, name := range []string{
		"", ".", "a.", ".a", "a..b", "1a", "-a", "a b", "a\n", "a;b", "a>", `a\`, "?s", "a@", "a@1 ", "a@1@2", "a/b", "a#b",
		"http://e/x> } ; DROP ALL #", `x" } UNION { ?s ?p ?o } #`, strings.Repeat("a", ontology.MaxNameLen+1),
		"a\u2028", "a\u3000b", "a\xff", "a\uFFFD", "a\u202Eb", "a@" + strings.Repeat("1", 65),
	} {
		if c, err := ontology.NewCapability(ontology.PythonNS, name); err == nil {
			t.Errorf("%q is accepted as %q", name, string(c))
		}
	}
}

func TestCapabilitiesAsPeopleWriteThem(t *testing.T) {
	py, bundle := string(ontology.PythonNS), string(ontology.BundleNS)
	for in, want := range map[string]string{
		"numpy":                 py + "numpy",
		"py:numpy@1.24.2":       py + "numpy@1.24.2",
		"bundle:science":        bundle + "science",
		"http://example.org/%C": "http://example.org/%C",
		py + "numpy":            py + "numpy",
	} {
		c, err := ontology.ParseCapability(ontology.PythonNS, in)
		if err != nil || string(c) != want {
			t.Errorf("%q reads as %q, %v; want %q", in, string(c), err, want)
		}
	}
	in := []ontology.Capability{"b", "a", "b"}
	if got := ontology.SortCapabilities(in); !slices.Equal(got, []ontology.Capability{"a", "b"}) || in[0] != "b" {
		t.Errorf("sorted they are %v, and the argument is %v", got, in)
	}
}

func ExampleParseCapability() {
	c, err := ontology.ParseCapability(ontology.PythonNS, "numpy@1.24.2")
	fmt.Println(c.Short(), c.Module(), c.Version(), err)
	// Output: py:numpy@1.24.2 numpy 1.24.2 <nil>
}
