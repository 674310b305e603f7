package kg

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// many yields n triples that are not alike.
func many(n int, tag string) func(func(ttl.Triple, error) bool) {
	return func(yield func(ttl.Triple, error) bool) {
		for i := range n {
			if !yield(ttl.Triple{S: ex(fmt.Sprint(tag, i)), P: ex("p"), O: ex(fmt.Sprint("o", i%10))}, nil) {
				return
			}
		}
	}
}

func TestReplaceGraphOfAnySize(t *testing.T) {
	s := memory(t)
	s.batch = 6000 // a few commits for what is below; its own bound is tested by the next
	g := ontology.IRI(ex("g").Value)
	_, dict := terms(t, s)
	add(t, s, quad("o1", "p", "other", "other")) // shares terms with the graph
	before, numbers := s.Triples(), 0
	for _, step := range []struct {
		n   int
		tag string
	}{{4500, "a"}, {4500, "a"}, {10, "b"}, {2000, "c"}, {0, ""}} {
		added, replaced, err := s.ReplaceGraph(t.Context(), g, many(step.n, step.tag))
		if err != nil || added != step.n || replaced != numbers {
			t.Errorf("%d triples: added %d, replaced %d, %v; want %d and %d", step.n, added, replaced, err, step.n, numbers)
		}
		numbers = step.n
		if s.Triples() != before+int64(step.n) {
			t.Errorf("the store has %d triples, want %d", s.Triples(), before+int64(step.n))
		}
		clean(t, s)
	}
	if got := all(t, s, ttl.Quad{G: ex("other")}); len(got) != 1 {
		t.Errorf("the other graph holds %v", got)
	}
	if _, got := terms(t, s); got != dict+3 {
		t.Errorf("the dictionary holds %d terms, want %d", got, dict+3)
	}
	if names, err := s.Graphs(t.Context()); err != nil || len(names) != 2 {
		t.Errorf("the graphs are %v, %v", names, err)
	}
}

func TestReplaceGraphBeyondOneTransaction(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds under the race detector")
	}
	s := memory(t)
	n := int(s.db.MaxBatchCount()/5) + 1000
	added, _, err := s.ReplaceGraph(t.Context(), "http://example.org/g", many(n, "a"))
	if err != nil || added != n {
		t.Errorf("added %d, %v; want %d", added, err, n)
	}
	clean(t, s)
}

func TestReplaceGraphThatFailsLeavesNothing(t *testing.T) {
	s := memory(t)
	s.batch = 6000
	g := ontology.IRI(ex("g").Value)
	if _, _, err := s.ReplaceGraph(t.Context(), g, many(10, "old")); err != nil {
		t.Fatal(err)
	}
	fwd, back := terms(t, s)
	triples := s.Triples()
	boom := errors.New("boom")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		fail func(i int) error
		kind errs.Kind
	}{
		"atOnce":       {t.Context(), func(i int) error { return boom }, errs.Internal},
		"afterCommits": {t.Context(), func(i int) error { return map[bool]error{true: boom}[i == 2000] }, errs.Internal},
		"contextIsOver": {ctx, func(i int) error {
			if i == 1900 {
				cancel()
			}
			return nil
		}, errs.Canceled},
	} {
		_, _, err := s.ReplaceGraph(c.ctx, g, func(yield func(ttl.Triple, error) bool) {
			i := 0
			for q := range many(3000, name) {
				if !yield(q, c.fail(i)) {
					return
				}
				i++
			}
		})
		wantKind(t, err, c.kind)
		if got := all(t, s, ttl.Quad{G: ex("g")}); len(got) != 10 || s.Triples() != triples {
			t.Errorf("%s: the graph holds %d triples, the store %d; want 10 and %d", name, len(got), s.Triples(), triples)
		}
		if f, b := terms(t, s); f != fwd || b != back {
			t.Errorf("%s: the dictionary grew by %d", name, f-fwd)
		}
		clean(t, s)
	}
	_, _, err := s.ReplaceGraph(t.Context(), "no iri", many(1, "x"))
	wantKind(t, err, errs.Invalid)
	_, _, err = s.ReplaceGraph(t.Context(), g, slices2([]ttl.Triple{{S: ttl.NewString("literal"), P: ex("p"), O: ex("o")}}))
	wantKind(t, err, errs.Invalid)
}

// A process that dies between the commits of an import leaves staged rows; one
// that dies before sweeping leaves dead ones. Both are gone after the next open.
func TestLeftoversAreSweptAtOpen(t *testing.T) {
	dir := t.TempDir()
	s := onDisk(t, dir)
	g := ontology.IRI(ex("g").Value)
	if _, _, err := s.ReplaceGraph(t.Context(), g, many(300, "kept")); err != nil {
		t.Fatal(err)
	}
	fwd, _ := terms(t, s)
	triples := s.Triples()
	unlock, err := s.lockWriter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.batch = 6000
	st := &staging{s: s, ctx: t.Context(), num: s.newNumber(), blanks: newSkolem(g)}
	st.begin()
	if err := st.fill(many(3000, "staged")); err != nil || st.commits == 0 {
		t.Fatalf("staging: %v, %d commits", err, st.commits)
	}
	st.t.txn.Discard()
	unlock()
	if got := len(all(t, s, ttl.Quad{P: ex("p")})); got != 300 || keys(t, s, tagDead) != 1 {
		t.Errorf("%d rows are visible while others are staged, want 300", got)
	}
	mustClose(t, s)

	s = onDisk(t, dir)
	defer mustClose(t, s)
	clean(t, s)
	if got, _ := terms(t, s); s.Triples() != triples || got != fwd {
		t.Errorf("after the sweep there are %d triples and %d terms, want %d and %d", s.Triples(), got, triples, fwd)
	}
}

func importText(t testing.TB, s *Store, name, text string) ImportReport {
	t.Helper()
	r, err := s.ImportTurtle(context.Background(), strings.NewReader(text), ImportOptions{Name: name})
	if err != nil {
		t.Fatalf("import %s: %v", name, err)
	}
	return r
}

// memoryOf asks for the memory limits of a node, as B40 does.
func memoryOf(t *testing.T, s *Store, node string) (values []string) {
	t.Helper()
	for _, q := range all(t, s, ttl.Quad{S: ex(node), P: ex("limits")}) {
		for _, m := range all(t, s, ttl.Quad{S: q.O, P: ex("mem")}) {
			values = append(values, m.O.Value)
		}
	}
	return values
}

func TestB40_BlankNodesOfTwoFilesStayTwo(t *testing.T) {
	const head = "@prefix ex: <http://example.org/> .\n"
	for _, form := range []struct{ name, f1, f2 string }{
		{"labels", "ex:a ex:limits _:x . _:x ex:mem 64 .", "ex:b ex:limits _:x . _:x ex:mem 128 ."},
		{"numbers", "ex:a ex:limits _:0 . _:0 ex:mem 64 .", "ex:b ex:limits _:0 . _:0 ex:mem 128 ."},
		{"brackets", "ex:a ex:limits [ ex:mem 64 ] .", "ex:b ex:limits [ ex:mem 128 ] ."},
		{"generated", "ex:a ex:limits [ ex:mem 64 ] . _:b0 ex:mem 1 . _:genid1 ex:mem 2 . _:b1 ex:mem 3 . _:anon-1 ex:mem 4 .", "ex:b ex:limits [ ex:mem 128 ] . _:b0 ex:mem 1 . _:1 ex:mem 2 ."},
	} {
		t.Run(form.name, func(t *testing.T) {
			s := memory(t)
			importText(t, s, "f1.ttl", head+form.f1)
			importText(t, s, "f2.ttl", head+form.f2)
			fwd, _ := terms(t, s)
			triples := s.Triples()
			for range 3 { // again and again
				importText(t, s, "f1.ttl", head+form.f1)
				importText(t, s, "dir/f2.ttl", head+form.f2)
			}
			if got := memoryOf(t, s, "a"); fmt.Sprint(got) != "[64]" {
				t.Errorf("the memory of a is %v, want 64", got)
			}
			if got := memoryOf(t, s, "b"); fmt.Sprint(got) != "[128]" {
				t.Errorf("the memory of b is %v, want 128", got)
			}
			if got, _ := terms(t, s); s.Triples() != triples || got != fwd {
				t.Errorf("importing again makes %d triples and %d terms of %d and %d", s.Triples(), got, triples, fwd)
			}
			clean(t, s)
		})
	}
}

func TestTriplesOfOneFileAreStoredOnce(t *testing.T) {
	s := memory(t)
	before := s.Triples()
	r := importText(t, s, "f.ttl", "@prefix ex: <http://example.org/> . ex:a ex:b ex:c . ex:a ex:b ex:c . ex:a ex:b 1, 01, 1 .")
	if r.Triples != 3 || s.Triples() != before+3 {
		t.Errorf("the report says %d and the store has %d more, want 3", r.Triples, s.Triples()-before)
	}
}
