package kg_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/kg/sparql"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// asking is a store under random changes whose index is held to what SPARQL
// says of its triples.
type asking struct {
	t   *rapid.T
	s   *kg.Store
	cfg kg.Config
}

func (a *asking) open() {
	s, err := kg.Open(context.Background(), a.cfg)
	if err != nil {
		a.t.Fatal(err)
	}
	a.s = s
}

func (a *asking) close() {
	if err := a.s.Close(); err != nil {
		a.t.Fatal(err)
	}
}

var askedNames = []string{"a", "b", "c", "d", "a@1", "b@2", "e", "f"}

func drawCaps(t *rapid.T, what string) (cs []ontology.Capability) {
	for _, name := range rapid.SliceOfN(rapid.SampledFrom(askedNames), 0, 5).Draw(t, what) {
		c, err := ontology.NewCapability(ontology.PythonNS, name)
		if err != nil {
			t.Fatal(err)
		}
		cs = append(cs, c)
	}
	return ontology.SortCapabilities(cs)
}

func drawID(t *rapid.T, what string) ontology.SnapshotID {
	return ontology.SnapshotID(fmt.Sprintf("sn_%02d", rapid.IntRange(0, 9).Draw(t, what)))
}

// TestQuestionsEqualTheirSPARQL holds the index's answers to all four
// questions, and Providers, equal to those of SPARQL, in their order, under
// random puts, states, prunes, imports, changes by hand and reopenings.
func TestQuestionsEqualTheirSPARQL(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		a := &asking{t: t, cfg: kg.Config{InMemory: true, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}}
		if rapid.IntRange(0, 3).Draw(t, "on disk") == 0 {
			place, err := os.MkdirTemp(dir, "")
			if err != nil {
				t.Fatal(err)
			}
			a.cfg.InMemory, a.cfg.Dir = false, place
		}
		a.open()
		defer a.close()
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			a.step()
		}
		for range 3 {
			a.compare()
		}
	})
}

// step changes the store in one way or another. What is refused, as a parent
// that is not there or a state that cannot be, changes nothing.
func (a *asking) step() {
	t, ctx := a.t, context.Background()
	var err error
	switch rapid.IntRange(0, 13).Draw(t, "step") {
	case 0, 1:
		state := ontology.SnapshotState(rapid.IntRange(0, 3).Draw(t, "state"))
		err = a.s.SetSnapshotState(ctx, drawID(t, "of"), state, time.Unix(1.8e9, 0))
	case 2:
		_, err = a.s.Prune(ctx, rapid.IntRange(0, 1).Draw(t, "keep"))
	case 3, 4:
		err = a.declare()
	case 5:
		if !a.cfg.InMemory {
			a.close()
			a.open()
		}
	case 6:
		err = a.byHand()
	default:
		err = a.s.PutSnapshot(ctx, a.snapshot())
	}
	if k := errs.KindOf(err); err != nil && k != errs.NotFound && k != errs.Conflict {
		t.Fatal(err)
	}
}

func (a *asking) snapshot() kg.Snapshot {
	t := a.t
	sn := kg.Snapshot{
		ID: drawID(t, "put"), Rung: rapid.SampledFrom([]ontology.RungName{"forkserver", "wasm"}).Draw(t, "rung"),
		Runtime: "python", SpecKey: "key", State: ontology.SnapshotState(rapid.IntRange(0, 1).Draw(t, "new state")),
		Declares: drawCaps(t, "declares"), Provides: drawCaps(t, "provides"),
		WarmMillis:    float64(rapid.IntRange(0, 40).Draw(t, "warm")) / 8,
		ResidentBytes: int64(rapid.IntRange(0, 3).Draw(t, "bytes")), CreatedAt: time.Unix(1.7e9, 0), Node: "n",
	}
	if rapid.Bool().Draw(t, "derived") {
		sn.DerivedFrom = drawID(t, "parent")
	}
	return sn
}

// declare imports a file of implications in place of the one before.
func (a *asking) declare() error {
	var b strings.Builder
	for range rapid.IntRange(0, 4).Draw(a.t, "implications") {
		name := func(what string) string { return rapid.SampledFrom(askedNames).Draw(a.t, what) }
		fmt.Fprintf(&b, "<%s%s> <%s> <%s%s> .\n", ontology.PythonNS, name("from"), ontology.PropImplies, ontology.PythonNS, name("to"))
	}
	file := fmt.Sprint(rapid.IntRange(0, 1).Draw(a.t, "file"), ".ttl")
	_, err := a.s.ImportTurtle(context.Background(), strings.NewReader(b.String()), kg.ImportOptions{Name: file})
	return err
}

// byHand writes past the typed methods: what a snapshot provides is taken
// away, or said in another graph, or said there no longer.
func (a *asking) byHand() error {
	id := drawID(a.t, "by hand")
	return a.s.Update(context.Background(), func(tx *kg.Tx) error {
		q := ttl.Quad{
			S: ttl.NewIRI(string(id.IRI())), P: ttl.NewIRI(string(ontology.PropProvides)),
			O: ttl.NewIRI(string(ontology.PythonNS) + "a"), G: ttl.NewIRI("http://example.org/g"),
		}
		switch rapid.IntRange(0, 2).Draw(a.t, "how") {
		case 0:
			q.G.Value = string(ontology.GraphSnapshots)
			return tx.Delete(q)
		case 1:
			if err := tx.Add(q); err != nil {
				return err
			}
			return errStop // dropped again
		default:
			return tx.Add(ttl.Quad{S: q.S, P: ttl.NewIRI("http://example.org/says"), O: q.O, G: q.G})
		}
	})
}

var errStop = errs.New(errs.Conflict, "the transaction is dropped")

// compare asks one question of each kind in both ways.
func (a *asking) compare() {
	t, v := a.t, a.s.View()
	l := kg.Lookup{Runtime: "python", Rung: rapid.SampledFrom([]ontology.RungName{"forkserver", ""}).Draw(t, "asked rung"), Need: drawCaps(t, "need")}
	k := rapid.SampledFrom([]int{1, 3, 100}).Draw(t, "k")
	id := drawID(t, "asked")
	by := kg.Taint{Snapshots: []ontology.SnapshotID{drawID(t, "bad")}, Capabilities: drawCaps(t, "bad capabilities")}
	if rapid.Bool().Draw(t, "only capabilities") {
		by.Snapshots = nil
	}
	query := func(text string, err error) []ontology.SnapshotID {
		if err != nil {
			t.Fatal(err)
		}
		return a.query(text)
	}
	for name, x := range map[string]struct{ index, sparql []ontology.SnapshotID }{
		"supersets":   {idsOf(v.Supersets(l, k)), query(v.SupersetsQuery(l, k))},
		"bases":       {idsOf(v.Bases(l, k)), query(v.BasesQuery(l, k))},
		"ancestors":   {a.s.Ancestors(id), query(kg.AncestorsQuery(id))},
		"descendants": {a.s.Descendants(id), query(kg.DescendantsQuery(id))},
		"tainted":     {a.s.Tainted(by), query(kg.TaintedQuery(by))},
	} {
		if diff := cmp.Diff(x.sparql, x.index, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s, of %v, %s, %v, k=%d (-SPARQL +index):\n%s", name, l, id, by, k, diff)
		}
	}
	if len(l.Need) > 0 {
		a.compareProviders(l.Need)
	}
}

func idsOf(cs []kg.Candidate) (ids []ontology.SnapshotID) {
	for _, c := range cs {
		ids = append(ids, c.ID)
	}
	return ids
}

// query returns the snapshots that a query binds ?s to.
func (a *asking) query(text string) (ids []ontology.SnapshotID) {
	res, err := sparql.Run(context.Background(), a.s, text, sparql.Options{})
	if err != nil {
		a.t.Fatalf("%v\n%s", err, text)
	}
	at := slices.Index(res.Vars, "s")
	for row, err := range res.Rows {
		if err != nil {
			a.t.Fatalf("%v\n%s", err, text)
		}
		id, ok := ontology.SnapshotOf(ontology.IRI(row[at].Value))
		if !ok {
			a.t.Fatalf("%v is no snapshot\n%s", row[at], text)
		}
		ids = append(ids, id)
	}
	return ids
}

// compareProviders holds Providers to the rows. The dropped transaction may
// make it decline, never be wrong.
func (a *asking) compareProviders(caps []ontology.Capability) {
	err := a.s.Read(context.Background(), func(r *kg.ReadTx) error {
		sc, err := r.Scanner()
		if err != nil {
			return err
		}
		defer sc.Close()
		got, want, ok, err := providersBoth(sc, caps)
		if err != nil || !ok {
			return err
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			return fmt.Errorf("the providers of %v (-rows +index):\n%s", caps, diff)
		}
		return nil
	})
	if err != nil {
		a.t.Fatal(err)
	}
}

// providersBoth asks the index and the rows for the subjects, sorted.
func providersBoth(sc *kg.Scanner, caps []ontology.Capability) (index, rows []kg.ID, ok bool, err error) {
	p, _, err := sc.Find(ttl.NewIRI(string(ontology.PropProvides)))
	if err != nil {
		return nil, nil, false, err
	}
	count := map[kg.ID]int{}
	var ids []kg.ID
	for _, c := range caps {
		id, known, err := sc.Find(ttl.NewIRI(string(c)))
		if err != nil || !known {
			return nil, nil, false, err
		}
		ids = append(ids, id)
		last := kg.ID(0)
		for row, err := range sc.Scan(kg.Row{P: p, O: id}) {
			if err != nil {
				return nil, nil, false, err
			}
			if row.S != last { // once, in however many graphs it stands
				count[row.S]++
			}
			last = row.S
		}
	}
	for s, n := range count {
		if n == len(caps) {
			rows = append(rows, s)
		}
	}
	seq, ok := sc.Providers(ids)
	if !ok {
		return nil, nil, false, nil
	}
	for s, err := range seq {
		if err != nil {
			return nil, nil, false, err
		}
		index = append(index, s)
	}
	slices.Sort(index)
	slices.Sort(rows)
	return index, rows, true, nil
}

// The index must answer when it can, and decline when it must.
func TestProvidersKnowsWhenItMayAnswer(t *testing.T) {
	ctx := t.Context()
	s, err := kg.Open(ctx, kg.Config{InMemory: true, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() // in memory
	numpy := ontology.Capability(ontology.PythonNS + "numpy")
	put := func(id ontology.SnapshotID) {
		t.Helper()
		err := s.PutSnapshot(ctx, kg.Snapshot{
			ID: id, Rung: "forkserver", Runtime: "python", SpecKey: "k", CreatedAt: time.Unix(1.8e9, 0),
			Provides: []ontology.Capability{numpy},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	update := func(f func(tx *kg.Tx, q ttl.Quad) error) {
		t.Helper()
		q := ttl.Quad{S: ttl.NewIRI("http://example.org/s"), P: ttl.NewIRI(string(ontology.PropProvides)), O: ttl.NewIRI(string(numpy))}
		if err := s.Update(ctx, func(tx *kg.Tx) error { return f(tx, q) }); err != nil && !errors.Is(err, errStop) {
			t.Fatal(err)
		}
	}
	check := func(when string, may bool, want int) {
		t.Helper()
		err := s.Read(ctx, func(r *kg.ReadTx) error {
			sc, err := r.Scanner()
			if err != nil {
				return err
			}
			defer sc.Close()
			got, rows, ok, err := providersBoth(sc, []ontology.Capability{numpy})
			if ok != may || err != nil {
				t.Errorf("%s: the index answers: %v, %v, want %v", when, ok, err, may)
			} else if ok && (len(got) != want || !slices.Equal(got, rows)) {
				t.Errorf("%s: %d subjects, the rows have %d, want %d", when, len(got), len(rows), want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put("sn_1")
	check("after a put", true, 1)
	if err := s.SetSnapshotState(ctx, "sn_1", ontology.StateRetired, time.Time{}); err != nil {
		t.Fatal(err)
	}
	check("with a retired one", true, 1)
	err = s.Read(ctx, func(r *kg.ReadTx) error { // a view that is older than the index
		put("sn_2")
		sc, err := r.Scanner()
		if err != nil {
			return err
		}
		defer sc.Close()
		if _, _, ok, err := providersBoth(sc, []ontology.Capability{numpy}); ok || err != nil {
			t.Errorf("the index answers for an older view: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	update(func(tx *kg.Tx, q ttl.Quad) error { q.G = ttl.NewIRI("http://example.org/g"); return tx.Add(q) })
	check("with bn:provides elsewhere", false, 0)
	update(func(tx *kg.Tx, q ttl.Quad) error { q.G = ttl.NewIRI("http://example.org/g"); return tx.Delete(q) })
	check("when it is gone there", true, 2)
	update(func(tx *kg.Tx, q ttl.Quad) error { q.G = ttl.NewIRI(string(ontology.GraphSnapshots)); return tx.Add(q) })
	check("with a provider that is no snapshot", false, 0)
	update(func(tx *kg.Tx, q ttl.Quad) error {
		q.G = ttl.NewIRI(string(ontology.GraphSnapshots))
		return tx.Delete(q)
	})
	check("when it is gone", true, 2)
	update(func(tx *kg.Tx, q ttl.Quad) error {
		if err := tx.Add(q); err != nil {
			return err
		}
		sc, err := tx.Scanner()
		if err != nil {
			return err
		}
		defer sc.Close()
		if _, _, ok, err := providersBoth(sc, []ontology.Capability{numpy}); ok || err != nil {
			t.Errorf("the index answers within a transaction that has written: %v", err)
		}
		return errStop
	})
	check("after a transaction that was dropped", true, 2)
}

// B43: what stands in a query's text is checked, so no name becomes syntax.
func TestB43_QuestionsRefuseWhatIsNoName(t *testing.T) {
	bad := ontology.Capability("http://example.org/x> } ; DROP ALL #")
	s, err := kg.Open(t.Context(), kg.Config{InMemory: true, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() // in memory
	v := s.View()
	for name, ask := range map[string]func() (string, error){
		"need": func() (string, error) {
			return v.SupersetsQuery(kg.Lookup{Runtime: "python", Need: []ontology.Capability{bad}}, 1)
		},
		"closure": func() (string, error) {
			return v.BasesQuery(kg.Lookup{Runtime: "python", Need: []ontology.Capability{bad}}, 1)
		},
		"runtime": func() (string, error) { return v.BasesQuery(kg.Lookup{Runtime: "a> <b"}, 1) },
		"rung":    func() (string, error) { return v.SupersetsQuery(kg.Lookup{Runtime: "python", Rung: "a> <b"}, 1) },
		"limit":   func() (string, error) { return v.SupersetsQuery(kg.Lookup{Runtime: "python"}, -1) },
		"id":      func() (string, error) { return kg.AncestorsQuery("sn_1> ?p ?o") },
		"of":      func() (string, error) { return kg.DescendantsQuery("") },
		"taint":   func() (string, error) { return kg.TaintedQuery(kg.Taint{Snapshots: []ontology.SnapshotID{"x"}}) },
		"bad": func() (string, error) {
			return kg.TaintedQuery(kg.Taint{Capabilities: []ontology.Capability{bad}})
		},
	} {
		if text, err := ask(); errs.KindOf(err) != errs.Invalid || text != "" {
			t.Errorf("%s: %q, %v, want Invalid", name, text, err)
		}
	}
}
