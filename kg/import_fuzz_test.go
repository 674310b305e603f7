package kg

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// FuzzImport imports anything: it is refused and leaves nothing, or it is in
// the graph, comes out again, and goes in as the same.
func FuzzImport(f *testing.F) {
	f.Add(science)
	f.Add(importHead + `rt:x a bn:Runtime ; bn:language "p" ; bn:executable "a" ; bn:arguments ( "a" [] ) .`)
	f.Add(importHead + `py:a bn:implies py:b . py:b bn:implies py:a . _:b0 a [] .`)
	f.Add(`<http://e/a> <http://e/b> "\u0000\n"@en , 01 , 1.0e0 , true .`)
	s, err := Open(context.Background(), Config{InMemory: true, Logger: quiet()})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	before := s.Triples()
	const g = ontology.IRI("http://example.org/fuzz")
	f.Fuzz(func(t *testing.T, text string) {
		o := ImportOptions{Graph: g, Name: "f.ttl"}
		r, err := s.ImportTurtle(context.Background(), strings.NewReader(text), o)
		if err != nil {
			if k := errs.KindOf(err); k != errs.Invalid && k != errs.TooLarge {
				t.Fatalf("the refusal is %s: %v", k, err)
			}
			if s.Triples() != before {
				t.Fatalf("a refused file left %d triples", s.Triples()-before)
			}
			return
		}
		if got := s.Triples() - before; got != int64(r.Triples) {
			t.Fatalf("the report says %d triples, the store has %d", r.Triples, got)
		}
		for _, c := range s.Capabilities() {
			if back, err := ontology.ParseCapability("", c.ID.Short()); err != nil || back != c.ID {
				t.Fatalf("capability %q cannot be named: %v", c.ID, err)
			}
			if c.ImportName != "" && !moduleName(c.ImportName) {
				t.Fatalf("capability %q would be imported as %q", c.ID, c.ImportName)
			}
		}
		if r.Triples > 0 {
			var out bytes.Buffer
			if err := s.Export(context.Background(), &out, g, ttl.Turtle); err != nil {
				t.Fatal(err)
			}
			again, err := s.ImportTurtle(context.Background(), &out, o)
			if err != nil || again.Triples != r.Triples || again.Runtimes != r.Runtimes || again.Capabilities != r.Capabilities || again.Bundles != r.Bundles {
				t.Fatalf("what came out goes in as %+v, %v; want %+v", again, err, r)
			}
		}
		if _, _, err := s.ReplaceGraph(context.Background(), g, many(0, "")); err != nil || s.Triples() != before {
			t.Fatalf("the graph cannot be emptied: %v", err)
		}
		clean(t, s)
	})
}
