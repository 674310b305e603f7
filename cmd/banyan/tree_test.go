package main

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/ontology"
)

func nodes(pairs ...string) []banyan.Snapshot {
	var all []banyan.Snapshot
	for i := 0; i < len(pairs); i += 2 {
		s := banyan.Snapshot{ID: ontology.SnapshotID(pairs[i])}
		if from := ontology.SnapshotID(pairs[i+1]); from != "" {
			s.DerivedFrom = &from
		}
		all = append(all, s)
	}
	return all
}

func drawn(all []banyan.Snapshot) []string {
	var lines []string
	for _, l := range treeOf(all) {
		lines = append(lines, l.lead+string(all[l.index].ID))
	}
	return lines
}

func TestTree(t *testing.T) {
	for name, tc := range map[string]struct {
		pairs []string
		want  []string
	}{
		"a tree": {
			[]string{"a", "", "b", "a", "c", "b", "d", "a", "e", ""},
			[]string{"a", "├─ b", "│  └─ c", "└─ d", "e"},
		},
		"children before their parents": {[]string{"c", "b", "b", "a", "a", ""}, []string{"a", "└─ b", "   └─ c"}},
		"the parent is not listed":      {[]string{"b", "gone", "c", "b"}, []string{"b", "└─ c"}},
		"its own parent":                {[]string{"a", "a", "b", "a"}, []string{"a", "└─ b"}},
		"a cycle beside a tree":         {[]string{"a", "c", "b", "a", "c", "b", "t", ""}, []string{"t", "a", "└─ b", "   └─ c"}},
		"none":                          {nil, nil},
	} {
		if diff := cmp.Diff(tc.want, drawn(nodes(tc.pairs...))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestDeepTreesStayNarrow(t *testing.T) {
	pairs := []string{"n0", ""}
	for i := 1; i < 20_000; i++ {
		pairs = append(pairs, fmt.Sprint("n", i), fmt.Sprint("n", i-1))
	}
	lines := drawn(nodes(pairs...))
	if len(lines) != 20_000 || len([]rune(lines[19_999])) > 3*maxDrawn+10 {
		t.Errorf("%d lines, the last %d wide", len(lines), len([]rune(lines[len(lines)-1])))
	}
}

// Whatever the edges, each snapshot is drawn just once.
func TestEachIsDrawnOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "n")
		var pairs []string
		for i := range n {
			from := rapid.IntRange(-1, n).Draw(t, "from")
			parent := ""
			if from >= 0 {
				parent = fmt.Sprint(from)
			}
			pairs = append(pairs, fmt.Sprint(i), parent)
		}
		seen := map[int]bool{}
		for _, l := range treeOf(nodes(pairs...)) {
			if seen[l.index] {
				t.Fatalf("%d is drawn twice", l.index)
			}
			seen[l.index] = true
		}
		if len(seen) != n {
			t.Fatalf("%d of %d are drawn", len(seen), n)
		}
	})
}
