package ontology_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-ff860830/banyan/ontology"
)

func TestIdsAndTheirNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-zA-Z0-9._-]{1,70}`)).Draw(t, "name")
		rt, rung, sn := ontology.RuntimeID(name), ontology.RungName(name), ontology.SnapshotID("sn_"+name)
		if rt.Valid() != rung.Valid() {
			t.Fatalf("%q is a runtime's name: %v, a rung's: %v", name, rt.Valid(), rung.Valid())
		}
		if got, ok := ontology.RuntimeOf(rt.IRI()); ok != rt.Valid() || ok && got != rt {
			t.Fatalf("the node of runtime %q reads as %q, %v", rt, got, ok)
		}
		if got, ok := ontology.RungOf(rung.IRI()); ok != rung.Valid() || ok && got != rung {
			t.Fatalf("the node of rung %q reads as %q, %v", rung, got, ok)
		}
		if got, ok := ontology.SnapshotOf(sn.IRI()); ok != sn.Valid() || ok && got != sn {
			t.Fatalf("the node of snapshot %q reads as %q, %v", sn, got, ok)
		}
		if rt.Valid() && (!inIRI(string(rt.IRI())) || strings.ContainsAny(name, "/\\ ") || strings.HasPrefix(name, ".")) {
			t.Fatalf("%q is a valid name", name)
		}
		seg := ontology.EscapeSegment(name)
		if !inIRI(seg) || strings.ContainsAny(seg, "/?#:") {
			t.Fatalf("%q is escaped as %q", name, seg)
		}
		if other := rapid.String().Draw(t, "other"); other != name && ontology.EscapeSegment(other) == seg {
			t.Fatalf("%q and %q are both escaped as %q", name, other, seg)
		}
	})
}

func TestNewIdsAreValidDistinctAndInOrder(t *testing.T) {
	seen := map[ontology.SnapshotID]bool{}
	for range 1000 {
		sn, run := ontology.NewSnapshotID(), ontology.NewRunID()
		if !sn.Valid() || !run.Valid() || seen[sn] {
			t.Fatalf("ids %q and %q", sn, run)
		}
		seen[sn] = true
	}
	for _, id := range []ontology.SnapshotID{"", "sn_", "ex_01", "sn_/x", "sn_a b", "../sn_x", "sn_> } #"} {
		if id != "sn_" && id.Valid() {
			t.Errorf("%q is valid", id)
		}
	}
}

func TestEnumsReadBack(t *testing.T) {
	check := func(name string, n int, text func(i int) string, back func(s string) (int, error)) {
		t.Helper()
		for i := range n {
			got, err := back(text(i))
			if err != nil || got != i || text(i) == "" {
				t.Errorf("%s %d is %q, which reads as %d, %v", name, i, text(i), got, err)
			}
		}
		if _, err := back(text(n)); err == nil || !strings.HasPrefix(text(n), "invalid(") {
			t.Errorf("%s %d is %q and reads back", name, n, text(n))
		}
		for _, s := range []string{"", " ", "nonsense", strings.ToUpper(text(0)) + "X"} {
			if _, err := back(s); err == nil {
				t.Errorf("%q reads as a %s", s, name)
			}
		}
	}
	check("isolation", 5, func(i int) string { return ontology.Isolation(i).String() }, func(s string) (int, error) {
		var v ontology.Isolation
		err := v.UnmarshalText([]byte(s))
		return int(v), err
	})
	check("state", 4, func(i int) string { return ontology.SnapshotState(i).String() }, func(s string) (int, error) {
		var v ontology.SnapshotState
		err := v.UnmarshalText([]byte(s))
		return int(v), err
	})
	check("match", 2, func(i int) string { return ontology.MatchPolicy(i).String() }, func(s string) (int, error) {
		var v ontology.MatchPolicy
		err := v.UnmarshalText([]byte(s))
		return int(v), err
	})
	if !(ontology.IsolationNone < ontology.IsolationProcess && ontology.IsolationProcess < ontology.IsolationWasm &&
		ontology.IsolationWasm < ontology.IsolationContainer && ontology.IsolationContainer < ontology.IsolationMicroVM) {
		t.Error("the levels of isolation are out of order")
	}
}
