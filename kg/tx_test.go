package kg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

func TestUpdateIsAllOrNothing(t *testing.T) {
	s := memory(t)
	add(t, s, quad("kept", "p", "o", "g"))
	triples, dict := s.Triples(), keys(t, s, tagTerm)
	boom := errors.New("boom")
	err := s.Update(t.Context(), func(tx *Tx) error {
		for i := range 100 {
			if err := tx.Add(quad(fmt.Sprint("s", i), "p", "o", fmt.Sprint("g", i%3))); err != nil {
				return err
			}
		}
		if err := tx.DeleteGraph(ontology.IRI(ex("g").Value)); err != nil {
			return err
		}
		return boom
	})
	if !errors.Is(err, boom) {
		t.Errorf("error is %v, want the function's own", err)
	}
	if s.Triples() != triples || keys(t, s, tagTerm) != dict || len(all(t, s, ttl.Quad{G: ex("g")})) != 1 {
		t.Errorf("a dropped transaction left something: %d triples, want %d", s.Triples(), triples)
	}
	func() {
		defer func() { _ = recover() }()
		_ = s.Update(t.Context(), func(tx *Tx) error { _ = tx.Add(quad("x", "p", "o", "")); panic("boom") })
	}()
	add(t, s, quad("after", "p", "o", "")) // the writer is free again
	if got := all(t, s, ttl.Quad{S: ex("x")}); got != nil {
		t.Errorf("a transaction that panicked left %v", got)
	}
	clean(t, s)
}

func TestUpdateSeesItsOwnChanges(t *testing.T) {
	s := memory(t)
	add(t, s, quad("a", "p", "1", "g"), quad("a", "p", "2", "g"))
	err := s.Update(t.Context(), func(tx *Tx) error {
		for q, err := range tx.Match(ttl.Quad{S: ex("a")}) { // change what is being read
			if err != nil {
				return err
			}
			if err := tx.Delete(q); err != nil {
				return err
			}
			q.S = ex("b")
			if err := tx.Add(q); err != nil {
				return err
			}
		}
		n := 0
		for range tx.Match(ttl.Quad{G: ex("g")}) {
			n++
		}
		for range tx.Match(ttl.Quad{S: ex("a")}) {
			t.Error("a deleted quad still matches")
		}
		if n != 2 {
			t.Errorf("the transaction sees %d quads, want 2", n)
		}
		if err := tx.DeleteGraph(ontology.IRI(ex("g").Value)); err != nil {
			return err
		}
		for range tx.Match(ttl.Quad{G: ex("g")}) {
			t.Error("a quad of a deleted graph still matches")
		}
		return tx.Add(quad("c", "p", "o", "g")) // the graph begins anew
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := all(t, s, ttl.Quad{G: ex("g")}); len(got) != 1 || got[0] != quad("c", "p", "o", "g") {
		t.Errorf("the graph holds %v", got)
	}
	clean(t, s)
}

func TestUpdateRefusesWhatIsTooLarge(t *testing.T) {
	s := memory(t)
	before := s.Triples()
	err := s.Update(t.Context(), func(tx *Tx) error {
		for i := range 200_000 {
			if err := tx.Add(quad("s", "p", fmt.Sprint(i), "")); err != nil {
				return err
			}
		}
		return nil
	})
	wantKind(t, err, errs.TooLarge)
	wantKind(t, s.Update(t.Context(), func(tx *Tx) error {
		return tx.Add(ttl.Quad{S: ex("s"), P: ex("p"), O: ttl.NewString(strings.Repeat("x", maxTermBytes+1))})
	}), errs.TooLarge)
	if s.Triples() != before {
		t.Errorf("a refused change left %d triples", s.Triples()-before)
	}
	big := ttl.Quad{S: ex("s"), P: ex("p"), O: ttl.NewString(strings.Repeat("x", maxTermBytes))}
	add(t, s, big)
	if got := all(t, s, ttl.Quad{S: ex("s")}); len(got) != 1 || got[0] != big {
		t.Error("the largest literal does not come back")
	}
}

func TestContextsEndWaitingAndScanning(t *testing.T) {
	s := memory(t)
	var qs []ttl.Quad
	for i := range 3 * checkEvery {
		qs = append(qs, quad("s", "p", fmt.Sprint(i), ""))
	}
	add(t, s, qs...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	var last error
	for _, err := range s.Match(ctx, ttl.Quad{S: ex("s")}) {
		if last = err; err == nil {
			n++
		}
		cancel()
	}
	if n >= len(qs) {
		t.Errorf("a scan whose context ended went on to its end")
	}
	wantKind(t, last, errs.Canceled)
	wantKind(t, s.Update(ctx, func(*Tx) error { return nil }), errs.Canceled)

	held, release := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	go func() {
		done <- s.Update(context.Background(), func(*Tx) error { close(held); <-release; return nil })
	}()
	<-held
	short, stop := context.WithTimeout(t.Context(), 1)
	defer stop()
	wantKind(t, s.Update(short, func(*Tx) error { return nil }), errs.Timeout)
	if got := len(all(t, s, ttl.Quad{S: ex("s")})); got != len(qs) { // a reader does not wait for the writer
		t.Errorf("read %d", got)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestClosedStoreSaysSo(t *testing.T) {
	s, err := Open(t.Context(), Config{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, quad("a", "b", "c", ""))
	read := make(chan error)
	begun := make(chan struct{})
	go func() { // a reader that is still at it when Close begins
		var last error
		first := true
		for _, err := range s.Match(context.Background(), ttl.Quad{}) {
			if last = err; first {
				first = false
				close(begun)
				for !s.closing() {
					if _, err := s.Count(context.Background(), quad("a", "b", "c", "")); err != nil {
						break
					}
				}
			}
		}
		read <- last
	}()
	<-begun
	closed := make(chan error)
	go func() { closed <- s.Close() }()
	if err := <-read; err != nil {
		wantKind(t, err, errs.Unavailable)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	for _, err := range s.Match(t.Context(), ttl.Quad{}) {
		wantKind(t, err, errs.Unavailable)
	}
	wantKind(t, s.Update(t.Context(), func(*Tx) error { return nil }), errs.Unavailable)
	_, err = s.ImportTurtle(t.Context(), strings.NewReader(""), ImportOptions{Name: "x.ttl"})
	wantKind(t, err, errs.Unavailable)
}

func TestViewsDoNotChange(t *testing.T) {
	s := memory(t)
	add(t, s, quad("a", "p", "1", "g"))
	err := s.Read(t.Context(), func(r *ReadTx) error {
		for n := range 3 {
			add(t, s, quad("a", "p", fmt.Sprint("more", n), fmt.Sprint("g", n)))
			if _, _, err := s.ReplaceGraph(t.Context(), ontology.IRI(ex("g").Value), slices2([]ttl.Triple{{S: ex("z"), P: ex("p"), O: ex(fmt.Sprint(n))}})); err != nil {
				t.Error(err)
			}
			got, err := r.Count(ttl.Quad{S: ex("a")})
			if err != nil || got != 1 {
				t.Errorf("the view has %d quads (%v), want the 1 it began with", got, err)
			}
			got, err = r.Count(ttl.Quad{G: ex("g")})
			if err != nil || got != 1 {
				t.Errorf("the view's graph has %d quads (%v), want 1", got, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// slices2 is a sequence of triples without errors.
func slices2(ts []ttl.Triple) func(func(ttl.Triple, error) bool) {
	return func(yield func(ttl.Triple, error) bool) {
		for _, t := range ts {
			if !yield(t, nil) {
				return
			}
		}
	}
}

// TestStoreEqualsASetOfQuads holds the store against a plain set of quads,
// under random transactions, for every shape of pattern, with and without
// colliding hashes.
func TestStoreEqualsASetOfQuads(t *testing.T) {
	for name, hash := range map[string]termHash{
		"xxh3":      xxHash,
		"colliding": func(b []byte) (h [16]byte) { h[0] = b[len(b)-1] & 3; return h },
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { equalsASet(t, hash) })
		})
	}
}

func equalsASet(t *rapid.T, hash termHash) {
	s, err := Open(context.Background(), Config{InMemory: true, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() // in memory
	if err := s.Update(context.Background(), func(tx *Tx) error { return tx.DeleteGraph(ontology.GraphBuiltin) }); err != nil {
		t.Fatal(err)
	}
	s.dict = newDict()
	s.dict.hash = hash

	node := rapid.SampledFrom([]ttl.Term{ex("a"), ex("b"), ttl.NewBlank("a"), ex("c")})
	pred := rapid.SampledFrom([]ttl.Term{ex("a"), ex("p")})
	object := rapid.SampledFrom([]ttl.Term{
		ex("a"), ttl.NewString("1"), ttl.NewTyped("1", ttl.XSDInteger), ttl.NewTyped("01", ttl.XSDInteger),
		ttl.NewLang("1", "en"), ttl.NewLang("1", "EN"), ttl.NewTyped("true", ttl.XSDBoolean),
	})
	graph := rapid.SampledFrom([]ttl.Term{{}, ex("g"), ex("a")})
	some := rapid.Custom(func(t *rapid.T) ttl.Quad {
		return ttl.Quad{S: node.Draw(t, "s"), P: pred.Draw(t, "p"), O: object.Draw(t, "o"), G: graph.Draw(t, "g")}
	})
	want := map[ttl.Quad]bool{}
	for range rapid.IntRange(1, 8).Draw(t, "transactions") {
		next := maps.Clone(want)
		fails := rapid.IntRange(0, 5).Draw(t, "fails") == 0
		err := s.Update(context.Background(), func(tx *Tx) error {
			for range rapid.IntRange(0, 12).Draw(t, "steps") {
				if err := randomStep(t, tx, some, graph, next); err != nil {
					return err
				}
			}
			if fails {
				return errors.New("dropped")
			}
			return nil
		})
		if fails != (err != nil) {
			t.Fatalf("update: %v", err)
		}
		if !fails {
			want = next
		}
		compareWithSet(t, s, want)
	}
}

func randomStep(t *rapid.T, tx *Tx, some *rapid.Generator[ttl.Quad], graph *rapid.Generator[ttl.Term], set map[ttl.Quad]bool) error {
	switch rapid.IntRange(0, 9).Draw(t, "step") {
	case 0:
		g := graph.Draw(t, "graph")
		maps.DeleteFunc(set, func(q ttl.Quad, _ bool) bool { return q.G == g })
		return tx.DeleteGraph(ontology.IRI(g.Value))
	case 1, 2, 3:
		q := some.Draw(t, "quad")
		delete(set, q)
		return tx.Delete(q)
	default:
		q := some.Draw(t, "quad")
		set[q] = true
		return tx.Add(q)
	}
}

// compareWithSet asks every pattern that the quads of the set suggest.
func compareWithSet(t *rapid.T, s *Store, want map[ttl.Quad]bool) {
	if got := s.Triples(); got != int64(len(want)) {
		t.Fatalf("the store counts %d triples, want %d", got, len(want))
	}
	seeds := []ttl.Quad{{S: ex("a"), P: ex("p"), O: ttl.NewString("1"), G: ex("g")}, {S: ex("nowhere"), P: ex("p"), O: ex("a"), G: ex("none")}}
	for q := range want {
		if seeds = append(seeds, q); len(seeds) == 5 {
			break
		}
	}
	for _, seed := range seeds {
		for mask := range 16 {
			p := seed
			if p.G.IsZero() {
				p.G = DefaultGraph
			}
			for i, slot := range []*ttl.Term{&p.S, &p.P, &p.O, &p.G} {
				if mask>>i&1 == 1 {
					*slot = ttl.Term{}
				}
			}
			comparePattern(t, s, p, want)
		}
	}
	if err := verified(s); err != nil {
		t.Fatal(err)
	}
	used := map[ttl.Term]bool{}
	for q := range want {
		for _, term := range []ttl.Term{q.S, q.P, q.O, q.G} {
			if _, inline := inlineID(term); !inline && !term.IsZero() {
				used[term] = true
			}
		}
	}
	txn := s.db.NewTransaction(false)
	defer txn.Discard()
	for term := range used {
		if _, _, ok, err := s.dict.find(txn, term); !ok || err != nil {
			t.Fatalf("the dictionary has lost %v (%v)", term, err)
		}
	}
}

func comparePattern(t *rapid.T, s *Store, p ttl.Quad, want map[ttl.Quad]bool) {
	var expect, got []ttl.Quad
	fits := func(p, term ttl.Term) bool { return p.IsZero() || p == term || p == DefaultGraph && term.IsZero() }
	for q := range want {
		if fits(p.S, q.S) && fits(p.P, q.P) && fits(p.O, q.O) && fits(p.G, q.G) {
			expect = append(expect, q)
		}
	}
	var last ttl.Quad
	seen := map[ttl.Triple]bool{}
	for q, err := range s.Match(context.Background(), p) {
		if err != nil {
			t.Fatal(err)
		}
		triple := ttl.Triple{S: q.S, P: q.P, O: q.O}
		if p.G.IsZero() && seen[triple] && (last.S != q.S || last.P != q.P || last.O != q.O) {
			t.Fatalf("%v: the quads of one triple are not neighbours", p)
		}
		seen[triple] = true
		last = q
		got = append(got, q)
	}
	byText := func(a, b ttl.Quad) int { return cmp.Compare(text4(a), text4(b)) }
	slices.SortFunc(expect, byText)
	slices.SortFunc(got, byText)
	if !slices.Equal(expect, got) {
		t.Fatalf("pattern %v gives\n%v, want\n%v", p, got, expect)
	}
	if n, err := s.Count(context.Background(), p); err != nil || n != int64(len(expect)) {
		t.Fatalf("pattern %v counts %d (%v), want %d", p, n, err, len(expect))
	}
}

func TestTermsWithoutUseLeaveTheDictionary(t *testing.T) {
	s := memory(t)
	fwd, back := terms(t, s)
	var qs []ttl.Quad
	for i := range 50 {
		qs = append(qs, quad(fmt.Sprint("s", i), "p", fmt.Sprint("o", i%5), fmt.Sprint("g", i%2)))
	}
	add(t, s, qs...)
	err := s.Update(t.Context(), func(tx *Tx) error {
		for _, q := range qs[1:] {
			if err := tx.Delete(q); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if f, b := terms(t, s); f != fwd+4 || b != back+4 {
		t.Errorf("with one quad left the dictionary has %d and %d terms more, want 4", f-fwd, b-back)
	}
	add(t, s, qs[1])
	if got := all(t, s, ttl.Quad{P: ex("p")}); len(got) != 2 {
		t.Errorf("terms that came back are not found: %v", got)
	}
	clean(t, s)
}

// A commit that fails may or may not be on disk; nothing is built on it.
func TestAFailedCommitStopsTheWrites(t *testing.T) {
	s, err := Open(t.Context(), Config{InMemory: true, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.db.Close(); err != nil { // as a disk that fails
		t.Fatal(err)
	}
	before := s.Triples()
	err = s.Update(t.Context(), func(tx *Tx) error {
		tx.meta.triples++
		return tx.set(deadKey(1), []byte{1})
	})
	if err == nil {
		t.Fatal("a commit to a closed database succeeds")
	}
	called := false
	err = s.Update(t.Context(), func(*Tx) error { called = true; return nil })
	wantKind(t, err, errs.Unavailable)
	if called || s.Triples() != before || !strings.Contains(errs.Public(err), "opened again") {
		t.Errorf("after a failed commit: called %v, %d triples, %v", called, s.Triples(), err)
	}
	_, _, err = s.ReplaceGraph(t.Context(), "http://e/g", many(1, "x"))
	wantKind(t, err, errs.Unavailable)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
