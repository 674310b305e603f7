package kg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// tester is what a test of testing and one of rapid share.
type tester interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// naive answers the planner's questions from the triples alone, by reading all
// of them each time.
type naive struct {
	of map[ttl.Term]map[string][]string // subject, local property, values
}

func readNaive(t tester, s *Store) naive {
	n := naive{of: map[ttl.Term]map[string][]string{}}
	for q, err := range s.Match(context.Background(), ttl.Quad{}) {
		if err != nil {
			t.Fatal(err)
		}
		if n.of[q.S] == nil {
			n.of[q.S] = map[string][]string{}
		}
		local := strings.TrimPrefix(q.P.Value, ontology.Base)
		n.of[q.S][local] = append(n.of[q.S][local], q.O.Value)
	}
	return n
}

// closure follows bn:implies, and from a version to its module.
func (n naive) closure(cs []ontology.Capability) map[string]bool {
	out := map[string]bool{}
	var visit func(c string)
	visit = func(c string) {
		if out[c] {
			return
		}
		out[c] = true
		for _, x := range n.of[ttl.NewIRI(c)]["implies"] {
			visit(x)
		}
		if module, _, versioned := strings.Cut(c, "@"); versioned {
			visit(module)
		}
	}
	for _, c := range cs {
		visit(string(c))
	}
	return out
}

func (n naive) warm(s ttl.Term) (sum float64) {
	var chain []float64
	for seen := map[ttl.Term]bool{}; !seen[s] && n.of[s] != nil; {
		seen[s] = true
		var ms float64
		if _, err := fmt.Sscan(n.of[s]["warmMillis"][0], &ms); err != nil {
			panic(err)
		}
		chain = append(chain, ms)
		if p := n.of[s]["derivedFrom"]; len(p) > 0 {
			s = ttl.NewIRI(p[0])
		}
	}
	for _, ms := range slices.Backward(chain) {
		sum += ms
	}
	return sum
}

// candidates are the live and stored snapshots of a look-up.
func (n naive) candidates(l Lookup) (out []Candidate, provides []map[string]bool) {
	closure := n.closure(l.Need)
	for s, about := range n.of {
		if len(about["specKey"]) == 0 || about["runtime"][0] != string(l.Runtime.IRI()) || l.Rung != "" && about["rung"][0] != string(l.Rung.IRI()) {
			continue
		}
		if st := strings.TrimPrefix(about["state"][0], ontology.Base); st != "Live" && st != "Stored" {
			continue
		}
		c := Candidate{SpecKey: ontology.SpecKey(about["specKey"][0]), WarmMillis: n.warm(s)}
		c.ID, _ = ontology.SnapshotOf(ontology.IRI(s.Value))
		if _, err := fmt.Sscan(about["residentBytes"][0], &c.ResidentBytes); err != nil {
			panic(err)
		}
		for _, d := range about["declares"] {
			c.Declares = append(c.Declares, ontology.Capability(d))
			if !closure[d] {
				c.Extra++
			}
		}
		slices.Sort(c.Declares)
		has := map[string]bool{}
		for _, p := range about["provides"] {
			has[p] = true
		}
		out, provides = append(out, c), append(provides, has)
	}
	return out, provides
}

func (n naive) supersets(l Lookup, k int) (out []Candidate) {
	cs, provides := n.candidates(l)
	for i, c := range cs {
		if !slices.ContainsFunc(l.Need, func(x ontology.Capability) bool { return !provides[i][string(x)] }) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Extra, b.Extra), cmp.Compare(a.ResidentBytes, b.ResidentBytes), cmp.Compare(a.ID, b.ID))
	})
	return out[:min(k, len(out))]
}

func (n naive) bases(l Lookup, k int) (out []Candidate) {
	cs, _ := n.candidates(l)
	for _, c := range cs {
		if c.Extra == 0 {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.WarmMillis, a.WarmMillis), cmp.Compare(a.ResidentBytes, b.ResidentBytes), cmp.Compare(a.ID, b.ID))
	})
	return out[:min(k, len(out))]
}

// compareViews asks the index, the triples, and an index rebuilt from the
// triples the same questions.
func compareViews(t tester, s *Store, lookups []Lookup) {
	t.Helper()
	n := readNaive(t, s)
	fresh := newCatalogueState()
	err := s.Read(context.Background(), func(r *ReadTx) error {
		decl, err := r.declared()
		if err != nil {
			return err
		}
		found, err := r.loadSnapshots()
		if err == nil {
			fresh.adopt(found, decl, 1)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lookups {
		for _, k := range []int{1, 3, 1000} {
			for name, c := range map[string]struct{ got, again, want []Candidate }{
				"supersets": {s.View().Supersets(l, k), fresh.view.Load().Supersets(l, k), n.supersets(l, k)},
				"bases":     {s.View().Bases(l, k), fresh.view.Load().Bases(l, k), n.bases(l, k)},
			} {
				if diff := gocmp.Diff(c.want, c.got, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("%s of %v, k=%d (-triples +index):\n%s", name, l, k, diff)
				}
				if diff := gocmp.Diff(c.want, c.again, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("%s of %v, k=%d (-triples +rebuilt):\n%s", name, l, k, diff)
				}
			}
		}
		closure := n.closure(l.Need)
		if got := s.View().Closure(l.Need); len(got) != len(closure) {
			t.Fatalf("the closure of %v is %v, want %v", l.Need, got, closure)
		}
	}
}

var (
	capNames = []string{"a", "b", "c", "d", "e", "a@1", "b@2", "f", "g", "h"}
	someCaps = rapid.Custom(func(t *rapid.T) []ontology.Capability {
		return py(rapid.SliceOfN(rapid.SampledFrom(capNames), 0, 6).Draw(t, "capabilities")...)
	})
	someLookup = rapid.Custom(func(t *rapid.T) Lookup {
		return Lookup{
			Runtime: rapid.SampledFrom([]ontology.RuntimeID{"python", "other"}).Draw(t, "runtime"),
			Rung:    rapid.SampledFrom([]ontology.RungName{"forkserver", "wasm", ""}).Draw(t, "rung"),
			Need:    someCaps.Draw(t, "need"),
		}
	})
)

// TestIndexEqualsTheTriples holds the index against the triples under random
// puts, changes of state, prunes and imports with implications.
func TestIndexEqualsTheTriples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := Open(context.Background(), Config{InMemory: true, Logger: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close() // in memory
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			randomCatalogueStep(t, s)
		}
		compareViews(t, s, rapid.SliceOfN(someLookup, 3, 6).Draw(t, "lookups"))
	})
}

func randomCatalogueStep(t *rapid.T, s *Store) {
	ctx, id := context.Background(), snapID(rapid.IntRange(0, 9).Draw(t, "snapshot"))
	var err error
	switch rapid.IntRange(0, 11).Draw(t, "step") {
	case 0:
		err = s.SetSnapshotState(ctx, id, ontology.SnapshotState(rapid.IntRange(0, 3).Draw(t, "state")), time.Now())
	case 1:
		_, err = s.Prune(ctx, rapid.IntRange(0, 2).Draw(t, "keep"))
	case 2:
		_, err = s.RetireAll(ctx, "node1", "test")
	case 3, 4:
		var b strings.Builder
		b.WriteString("@prefix bn: <" + ontology.Base + "> . @prefix py: <" + string(ontology.PythonNS) + "> .\n")
		for range rapid.IntRange(0, 4).Draw(t, "implications") {
			fmt.Fprintf(&b, "<%s%s> bn:implies <%s%s> .\n", ontology.PythonNS, rapid.SampledFrom(capNames).Draw(t, "from"), ontology.PythonNS, rapid.SampledFrom(capNames).Draw(t, "to"))
		}
		_, err = s.ImportTurtle(ctx, strings.NewReader(b.String()), ImportOptions{Name: fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "file"), ".ttl")})
		if err != nil {
			t.Fatal(err)
		}
	case 5: // past the typed methods
		err = s.Update(ctx, func(tx *Tx) error {
			return tx.Delete(ttl.Quad{S: iri(id.IRI()), P: iri(ontology.PropProvides), O: iri(py("a")[0].IRI()), G: iri(ontology.GraphSnapshots)})
		})
	default:
		sn := Snapshot{
			ID: id, Rung: rapid.SampledFrom([]ontology.RungName{"forkserver", "wasm"}).Draw(t, "rung"),
			Runtime: rapid.SampledFrom([]ontology.RuntimeID{"python", "other"}).Draw(t, "runtime"), SpecKey: "key",
			State:    ontology.SnapshotState(rapid.IntRange(0, 1).Draw(t, "state")),
			Declares: someCaps.Draw(t, "declares"), Provides: someCaps.Draw(t, "provides"),
			WarmMillis: float64(rapid.IntRange(0, 20).Draw(t, "warm")) / 8, ResidentBytes: int64(rapid.IntRange(0, 2).Draw(t, "bytes")),
			CreatedAt: time.Unix(1e9, 0), Node: fmt.Sprint("node", rapid.IntRange(0, 1).Draw(t, "node")),
		}
		if rapid.Bool().Draw(t, "derived") {
			sn.DerivedFrom = snapID(rapid.IntRange(0, 9).Draw(t, "parent"))
		}
		err = s.PutSnapshot(ctx, sn)
	}
	if err != nil && !strings.Contains(err.Error(), "sn_") { // a refusal names the snapshot
		t.Fatal(err)
	}
}

// The random test has few snapshots; here are enough for many segments, dead
// nodes in them, and dense and sparse postings.
func TestIndexWithManySegments(t *testing.T) {
	s := memory(t)
	const n = 700
	for i := range n {
		sn := testSnapshot(i)
		sn.Declares, sn.Provides = nil, py("common", fmt.Sprint("mid", i%100))
		for j := range 1 + i%6 {
			sn.Declares = append(sn.Declares, py(fmt.Sprint("d", (i*7+j*3)%40))...)
			sn.Provides = append(sn.Provides, py(fmt.Sprint("d", (i*7+j*3)%40), fmt.Sprint("rare", i))...)
		}
		sn.ResidentBytes, sn.WarmMillis = int64(i%5), float64(i%11)
		if i > 0 && i%3 == 0 {
			sn.DerivedFrom = snapID(i / 2)
		}
		sn.Declares, sn.Provides = ontology.SortCapabilities(sn.Declares), ontology.SortCapabilities(sn.Provides)
		mustPut(t, s, sn)
		if i%4 == 3 {
			if err := s.SetSnapshotState(t.Context(), snapID(i*i%(i+1)), ontology.StateRetired, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
	}
	lookups := []Lookup{{Need: nil}, {Need: py("common")}, {Need: py("d1")}, {Need: py("d1", "common")}, {Need: py("rare17")}, {Need: py("d1", "unknown")}}
	for i := range 60 { // a sparse posting with a dense and with another sparse one
		lookups = append(lookups, Lookup{Need: py(fmt.Sprint("rare", i*11), "common", fmt.Sprint("mid", i*11%100))})
		lookups = append(lookups, Lookup{Need: py(fmt.Sprint("mid", i), fmt.Sprint("d", i%40))})
	}
	lookups = append(lookups, Lookup{Need: py("mid1", "mid2")}, Lookup{Need: py("rare3", "mid4")})
	for i := range 10 {
		lookups = append(lookups, Lookup{Need: py(fmt.Sprint("d", i), fmt.Sprint("d", (i+3)%40))})
		lookups = append(lookups, Lookup{Need: py(fmt.Sprint("d", i), fmt.Sprint("d", (i+3)%40), fmt.Sprint("d", (i+6)%40), fmt.Sprint("d", (i+9)%40))})
	}
	for i := range lookups {
		lookups[i].Runtime, lookups[i].Rung = "python", "forkserver"
	}
	compareViews(t, s, lookups)
	if h := s.View().shards[shardKey{"python", "forkserver"}]; len(h.segs) < 2 || len(h.segs) > 8 {
		t.Errorf("the index has %d segments", len(h.segs))
	}
	if _, err := s.RetireAll(t.Context(), "here", "all"); err != nil {
		t.Fatal(err)
	}
	if v := s.View(); len(v.shards) != 0 {
		t.Errorf("with nothing live the index holds %d shards", len(v.shards))
	}
}

func TestSavingsFollowAChangedAncestor(t *testing.T) {
	s := memory(t)
	for n := range 4 {
		sn := testSnapshot(n)
		sn.WarmMillis = 10
		if n > 0 {
			sn.DerivedFrom = snapID(n - 1)
		}
		mustPut(t, s, sn)
	}
	root := testSnapshot(0)
	root.WarmMillis = 100
	mustPut(t, s, root)
	got := s.View().Bases(Lookup{Runtime: "python", Rung: "forkserver", Need: py("numpy", "m0", "m1", "m2", "m3")}, 9)
	if len(got) != 4 || got[0].WarmMillis != 130 || got[3].WarmMillis != 100 {
		t.Errorf("the candidates save %v", got)
	}
}

func TestSymbolsOfPrunedSnapshotsAreShed(t *testing.T) {
	s := memory(t)
	s.cat.symbolsAt = -symbolSlack / 2 // as if it had been built long ago
	sn := testSnapshot(1)
	mustPut(t, s, sn)
	before := s.View().syms.len()
	sn.Provides = py("other")
	mustPut(t, s, sn)
	if got := s.View().syms.len(); got > before {
		t.Errorf("the index keeps %d symbols, of which only %d are in use", got, before)
	}
	got, _ := s.Snapshot(sn.ID)
	if diff := gocmp.Diff(sn, got); diff != "" {
		t.Errorf("after the rebuild (-want +got):\n%s", diff)
	}
}

// Between a commit and the rebuilding of the index a reader sees the commit,
// and must not be answered from the index that stands.
func TestTheIndexDeclinesUntilItFollowsACommit(t *testing.T) {
	s := memory(t)
	mustPut(t, s, testSnapshot(1))
	answers := func() (ok bool) {
		err := s.Read(t.Context(), func(r *ReadTx) error {
			c, err := r.Scanner()
			if err == nil {
				_, ok = c.index()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if !answers() {
		t.Error("the index does not answer")
	}
	gone := ttl.Quad{
		S: iri(snapID(1).IRI()), P: iri(ontology.PropProvides), O: iri(py("numpy")[0].IRI()), G: iri(ontology.GraphSnapshots),
	}
	err := s.write(t.Context(), func(tx *Tx) error { return tx.Delete(gone) }, func() {
		if answers() {
			t.Error("the index answers for a commit that it does not follow yet")
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if !answers() {
		t.Error("the index does not answer when it follows")
	}
	dropped := errors.New("dropped")
	for name, end := range map[string]error{"is dropped": dropped, "changes nothing": nil} {
		err := s.write(t.Context(), func(tx *Tx) error {
			tx.mark(gone.G)
			if end != nil {
				return errors.Join(tx.Add(gone), end)
			}
			return nil
		})
		if !errors.Is(err, end) {
			t.Fatal(err)
		}
		if !answers() {
			t.Errorf("the index does not answer after a transaction that %s", name)
		}
	}
}
