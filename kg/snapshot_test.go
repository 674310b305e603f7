package kg

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

func py(names ...string) (cs []ontology.Capability) {
	for _, n := range names {
		c, err := ontology.NewCapability(ontology.PythonNS, n)
		if err != nil {
			panic(err)
		}
		cs = append(cs, c)
	}
	return cs
}

func snapID(n int) ontology.SnapshotID { return ontology.SnapshotID(fmt.Sprintf("sn_%026d", n)) }

// testSnapshot is a snapshot whose every field tells its number.
func testSnapshot(n int) Snapshot {
	return Snapshot{
		ID: snapID(n), Rung: "forkserver", Runtime: "python",
		SpecKey:    ontology.SpecKey(fmt.Sprintf("%064x", n)),
		State:      ontology.StateLive,
		Declares:   ontology.SortCapabilities(py("numpy", fmt.Sprint("m", n%7))),
		Provides:   ontology.SortCapabilities(py("numpy", "numpy@1.24.2", fmt.Sprint("m", n%7), fmt.Sprint("k", n%3))),
		WarmMillis: float64(n) + 0.25, ResidentBytes: int64(n) * 1024,
		CreatedAt: time.Date(2026, 11, 30, 12, 0, n%60, 5e6, time.UTC),
		Node:      "here",
	}
}

func mustPut(t testing.TB, s *Store, sn Snapshot) {
	t.Helper()
	if err := s.PutSnapshot(context.Background(), sn); err != nil {
		t.Fatalf("put %s: %v", sn.ID, err)
	}
}

func TestSnapshotsReadBackAfterReopening(t *testing.T) {
	dir := t.TempDir()
	s := onDisk(t, dir)
	a, b := testSnapshot(1), testSnapshot(2)
	b.DerivedFrom, b.ExpiresAt, b.State = a.ID, a.CreatedAt.Add(time.Hour), ontology.StateStored
	b.StateChangedAt, b.StateReason = a.CreatedAt, "paused"
	b.Node = "näme with \"quotes\""
	mustPut(t, s, a)
	mustPut(t, s, b)
	for range 2 {
		for _, want := range []Snapshot{a, b} {
			got, ok := s.Snapshot(want.ID)
			if diff := cmp.Diff(want, got); !ok || diff != "" {
				t.Errorf("snapshot %s (-want +got):\n%s", want.ID, diff)
			}
		}
		if got := s.Ancestors(b.ID); !slices.Equal(got, []ontology.SnapshotID{a.ID}) {
			t.Errorf("ancestors are %v", got)
		}
		clean(t, s)
		mustClose(t, s)
		s = onDisk(t, dir)
	}
	for _, want := range []ttl.Quad{
		{S: iri(b.ID.IRI()), P: iri(ontology.RDFType), O: iri(ontology.ProvEntity)},
		{S: iri(b.ID.IRI()), P: iri(ontology.PropDerivedFrom), O: iri(a.ID.IRI())},
		{S: iri(b.ID.IRI()), P: iri(ontology.ProvGeneratedAtTime), O: instant(b.CreatedAt)},
		{S: iri(b.ID.IRI()), P: iri(ontology.DCTermsIdentifier), O: ttl.NewString(string(b.ID))},
	} {
		if got := all(t, s, want); len(got) != 1 || got[0].G != iri(ontology.GraphSnapshots) {
			t.Errorf("%v is in the graph as %v", want, got)
		}
	}
	mustClose(t, s)
}

func TestPutSnapshotReplacesTheWhole(t *testing.T) {
	s := memory(t)
	sn := testSnapshot(1)
	mustPut(t, s, sn)
	n, fwd := s.Triples(), keys(t, s, tagTerm)
	again := testSnapshot(1)
	again.Declares, again.Provides = py("pandas"), py("pandas")
	mustPut(t, s, again)
	got, _ := s.Snapshot(sn.ID)
	if diff := cmp.Diff(again, got); diff != "" {
		t.Errorf("the snapshot (-want +got):\n%s", diff)
	}
	if got := s.View().Supersets(Lookup{Runtime: "python", Rung: "forkserver", Need: py("numpy")}, 5); len(got) != 0 {
		t.Errorf("the index still offers what the snapshot held before: %v", got)
	}
	mustPut(t, s, sn)
	if s.Triples() != n || keys(t, s, tagTerm) != fwd {
		t.Errorf("after putting back there are %d triples and %d terms, want %d and %d", s.Triples(), keys(t, s, tagTerm), n, fwd)
	}
	clean(t, s)
}

func TestPutSnapshotRefuses(t *testing.T) {
	s := memory(t)
	a, b := testSnapshot(1), testSnapshot(2)
	b.DerivedFrom = a.ID
	mustPut(t, s, a)
	mustPut(t, s, b)
	before := s.Triples()
	for name, c := range map[string]struct {
		change func(*Snapshot)
		kind   errs.Kind
	}{
		"cycle":            {func(sn *Snapshot) { sn.ID, sn.DerivedFrom = a.ID, b.ID }, errs.Conflict},
		"itself":           {func(sn *Snapshot) { sn.DerivedFrom = sn.ID }, errs.Conflict},
		"unknown parent":   {func(sn *Snapshot) { sn.DerivedFrom = snapID(99) }, errs.NotFound},
		"no id":            {func(sn *Snapshot) { sn.ID = "" }, errs.Invalid},
		"id with syntax":   {func(sn *Snapshot) { sn.ID = "sn_> } ; DROP ALL #" }, errs.Invalid},
		"parent's id":      {func(sn *Snapshot) { sn.DerivedFrom = "../x" }, errs.Invalid},
		"rung":             {func(sn *Snapshot) { sn.Rung = "fork server" }, errs.Invalid},
		"runtime":          {func(sn *Snapshot) { sn.Runtime = "" }, errs.Invalid},
		"spec key":         {func(sn *Snapshot) { sn.SpecKey = "" }, errs.Invalid},
		"state":            {func(sn *Snapshot) { sn.State = 9 }, errs.Invalid},
		"warm-up":          {func(sn *Snapshot) { sn.WarmMillis = -1 }, errs.Invalid},
		"bytes":            {func(sn *Snapshot) { sn.ResidentBytes = -1 }, errs.Invalid},
		"no time":          {func(sn *Snapshot) { sn.CreatedAt = time.Time{} }, errs.Invalid},
		"year":             {func(sn *Snapshot) { sn.ExpiresAt = time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC) }, errs.Invalid},
		"capability":       {func(sn *Snapshot) { sn.Provides = append(sn.Provides, "no iri> .") }, errs.Invalid},
		"node not UTF-8":   {func(sn *Snapshot) { sn.Node = "\xff" }, errs.Invalid},
		"too much to hold": {func(sn *Snapshot) { sn.Provides = make([]ontology.Capability, MaxHolds+1) }, errs.TooLarge},
	} {
		sn := testSnapshot(50)
		c.change(&sn)
		err := s.PutSnapshot(t.Context(), sn)
		if errs.KindOf(err) != c.kind || err == nil {
			t.Errorf("%s: %v, want %s", name, err, c.kind)
		}
	}
	if s.Triples() != before {
		t.Errorf("refused snapshots left triples: %d, want %d", s.Triples(), before)
	}
}

func TestTheLargestSnapshotFitsOneTransaction(t *testing.T) {
	s := memory(t)
	for _, prefix := range []string{"a", "b"} { // the second replaces the first with nothing in common
		sn := testSnapshot(1)
		sn.Declares, sn.Provides = nil, nil
		for i := range MaxHolds {
			sn.Provides = append(sn.Provides, py(fmt.Sprint(prefix, strings.Repeat("x", 200), i))...)
		}
		mustPut(t, s, sn)
	}
	if n, err := s.RetireAll(t.Context(), "here", "test"); n != 1 || err != nil {
		t.Errorf("retired %d, %v", n, err)
	}
	if n, err := s.Prune(t.Context(), 0); n != 1 || err != nil {
		t.Errorf("pruned %d, %v", n, err)
	}
	clean(t, s)
}

func TestSnapshotStates(t *testing.T) {
	s := memory(t)
	at := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	all := []ontology.SnapshotState{ontology.StateLive, ontology.StateStored, ontology.StateRetired, ontology.StateRevoked}
	allowed := map[string]bool{
		"Live Stored": true, "Live Retired": true, "Live Revoked": true,
		"Stored Live": true, "Stored Retired": true, "Stored Revoked": true,
		"Retired Revoked": true, "Revoked Retired": true, "Revoked Stored": true,
	}
	n := 0
	for _, from := range all {
		for _, to := range all {
			n++
			sn := testSnapshot(n)
			sn.State = from
			mustPut(t, s, sn)
			err := s.SetSnapshotState(t.Context(), sn.ID, to, at)
			if ok := from == to || allowed[from.String()+" "+to.String()]; ok != (err == nil) {
				t.Errorf("from %s to %s: %v", from, to, err)
			} else if !ok {
				wantKind(t, err, errs.Conflict)
				to = from
			}
			got, _ := s.Snapshot(sn.ID)
			if got.State != to {
				t.Errorf("from %s: the state is %s, want %s", from, got.State, to)
			}
			shown := slices.ContainsFunc(s.View().Supersets(Lookup{Runtime: "python", Rung: "forkserver"}, 100), func(c Candidate) bool { return c.ID == sn.ID })
			if want := to == ontology.StateLive || to == ontology.StateStored; shown != want {
				t.Errorf("a snapshot that is %s is offered: %v", to, shown)
			}
		}
	}
	wantKind(t, s.SetSnapshotState(t.Context(), snapID(999), ontology.StateRetired, at), errs.NotFound)
	clean(t, s)
}

func TestRetireAllAfterACrash(t *testing.T) {
	s := memory(t)
	const mine = batch + 30
	for n := range mine + 5 {
		sn := testSnapshot(n)
		if n >= mine {
			sn.Node = "elsewhere"
		}
		mustPut(t, s, sn)
	}
	n, err := s.RetireAll(t.Context(), "here", "the daemon was killed")
	if n != mine || err != nil {
		t.Errorf("retired %d, %v, want %d", n, err, mine)
	}
	if got := len(s.Snapshots("", MaxPage, true)); got != 5 {
		t.Errorf("%d are live, want 5", got)
	}
	sn, _ := s.Snapshot(snapID(0))
	if sn.State != ontology.StateRetired || sn.StateReason != "the daemon was killed" || sn.StateChangedAt.IsZero() {
		t.Errorf("a retired snapshot is %+v", sn)
	}
	if n, err := s.RetireAll(t.Context(), "here", "again"); n != 0 || err != nil {
		t.Errorf("again: retired %d, %v", n, err)
	}
	clean(t, s)
}

func TestPruneKeepsLineages(t *testing.T) {
	s := memory(t)
	_, before := terms(t, s)
	triples := s.Triples()
	// 0 ← 1 ← 2(live); 3 ← 4; 5; 6
	parents := map[int]int{1: 0, 2: 1, 4: 3}
	for n := range 7 {
		sn := testSnapshot(n)
		if p, ok := parents[n]; ok {
			sn.DerivedFrom = snapID(p)
		}
		if n != 2 {
			sn.State = ontology.StateRetired
		}
		mustPut(t, s, sn)
	}
	n, err := s.Prune(t.Context(), 1)
	if n != 3 || err != nil {
		t.Errorf("pruned %d, %v, want 3", n, err)
	}
	var left []ontology.SnapshotID
	for _, sn := range s.Snapshots("", 100, false) {
		left = append(left, sn.ID)
	}
	if want := []ontology.SnapshotID{snapID(0), snapID(1), snapID(2), snapID(6)}; !slices.Equal(left, want) {
		t.Errorf("left are %v, want %v", left, want)
	}
	if err := s.SetSnapshotState(t.Context(), snapID(2), ontology.StateRetired, time.Now()); err != nil {
		t.Error(err)
	}
	if n, err := s.Prune(t.Context(), 0); n != 4 || err != nil {
		t.Errorf("pruned %d, %v, want all 4", n, err)
	}
	if _, after := terms(t, s); after != before || s.Triples() != triples {
		t.Errorf("pruning all leaves %d terms and %d triples, want %d and %d", after, s.Triples(), before, triples)
	}
	clean(t, s)
}

func TestLineageOfCyclesAndDiamonds(t *testing.T) {
	s := memory(t)
	for n := range 4 {
		mustPut(t, s, testSnapshot(n))
	}
	derive := func(a, b int) ttl.Quad {
		return ttl.Quad{S: iri(snapID(a).IRI()), P: iri(ontology.PropDerivedFrom), O: iri(snapID(b).IRI()), G: iri(ontology.GraphSnapshots)}
	}
	// By hand, past PutSnapshot's guard: a ring of three, and one derived from it.
	add(t, s, derive(0, 1), derive(1, 2), derive(2, 0), derive(3, 0))
	if got, want := s.Ancestors(snapID(3)), []ontology.SnapshotID{snapID(0), snapID(1), snapID(2)}; !slices.Equal(got, want) {
		t.Errorf("ancestors are %v, want %v", got, want)
	}
	if got, want := s.Descendants(snapID(1)), []ontology.SnapshotID{snapID(0), snapID(2), snapID(3)}; !slices.Equal(got, want) {
		t.Errorf("descendants are %v, want %v", got, want)
	}
	if got := s.Ancestors(snapID(77)); got != nil {
		t.Errorf("an unknown snapshot has ancestors %v", got)
	}
	if got := s.View().Bases(Lookup{Runtime: "python", Rung: "forkserver", Need: py("numpy", "m0", "m1", "m2", "m3")}, 9); len(got) != 4 {
		t.Errorf("the index offers %d of 4", len(got))
	}
}

func TestSnapshotsPageByPage(t *testing.T) {
	s := memory(t)
	for _, n := range []int{5, 1, 9, 3, 7} {
		sn := testSnapshot(n)
		if n == 5 {
			sn.State = ontology.StateRetired
		}
		mustPut(t, s, sn)
	}
	var got []ontology.SnapshotID
	for after := ontology.SnapshotID(""); ; {
		page := s.Snapshots(after, 2, false)
		if len(page) == 0 {
			break
		}
		for _, sn := range page {
			got = append(got, sn.ID)
		}
		after = page[len(page)-1].ID
	}
	if want := []ontology.SnapshotID{snapID(1), snapID(3), snapID(5), snapID(7), snapID(9)}; !slices.Equal(got, want) {
		t.Errorf("pages give %v, want %v", got, want)
	}
	if got := s.Snapshots(snapID(3), 10, true); len(got) != 2 || got[0].ID != snapID(7) {
		t.Errorf("live ones behind 3 are %v", got)
	}
	if got := s.Snapshots("", -1, false); len(got) != 0 {
		t.Errorf("a negative limit gives %d", len(got))
	}
}

// B29 at the store: however many ask at once, one snapshot is recorded once,
// and nobody sees a part of it.
func TestB29_ManyWritersOfOneSnapshot(t *testing.T) {
	s := memory(t)
	done := make(chan error)
	for range 50 {
		go func() { done <- s.PutSnapshot(context.Background(), testSnapshot(1)) }()
	}
	for range 50 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if got := all(t, s, ttl.Quad{P: iri(ontology.RDFType), O: iri(ontology.ClassWarmSnapshot)}); len(got) != 1 {
		t.Errorf("%d snapshots are recorded, want 1", len(got))
	}
	if got := s.View().Supersets(Lookup{Runtime: "python", Rung: "forkserver", Need: py("numpy")}, 10); len(got) != 1 {
		t.Errorf("the index has %d, want 1", len(got))
	}
}
