package main

import (
	"strings"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/ontology"
)

// maxDrawn bounds how deep the lines of a tree are drawn; what lies deeper is
// drawn at that depth, so that a long chain stays readable, and small.
const maxDrawn = 32

// treeLine is one line of a drawn tree.
type treeLine struct {
	index int    // of the snapshot
	lead  string // what is drawn in front of it
}

// treeOf orders snapshots so that each stands under the one it was derived
// from. A snapshot whose parent is not among them stands at the top, and so
// does one of a cycle, which only a broken listing has: each is there once.
func treeOf(all []banyan.Snapshot) []treeLine {
	t := &tree{all: all, under: map[ontology.SnapshotID][]int{}, done: make([]bool, len(all))}
	known := map[ontology.SnapshotID]bool{}
	for _, s := range all {
		known[s.ID] = true
	}
	var tops []int
	for i, s := range all {
		if s.DerivedFrom != nil && known[*s.DerivedFrom] {
			t.under[*s.DerivedFrom] = append(t.under[*s.DerivedFrom], i)
			continue
		}
		tops = append(tops, i)
	}
	for _, i := range tops {
		t.draw(i, nil)
	}
	for i := range all {
		t.draw(i, nil)
	}
	return t.lines
}

type tree struct {
	all   []banyan.Snapshot
	under map[ontology.SnapshotID][]int
	done  []bool
	lines []treeLine
}

// draw adds a snapshot and all under it. last says of it and each of its
// ancestors below the top whether it is the last of its siblings.
func (t *tree) draw(i int, last []bool) {
	if t.done[i] {
		return
	}
	t.done[i] = true
	t.lines = append(t.lines, treeLine{i, lead(last)})
	kids := t.under[t.all[i].ID]
	for n, kid := range kids {
		next := last
		if len(last) < maxDrawn {
			next = append(last[:len(last):len(last)], n == len(kids)-1)
		}
		t.draw(kid, next)
	}
}

// lead draws the lines in front of a snapshot.
func lead(last []bool) string {
	var b strings.Builder
	for n, l := range last {
		switch own := n == len(last)-1; {
		case own && l:
			b.WriteString("└─ ")
		case own:
			b.WriteString("├─ ")
		case l:
			b.WriteString("   ")
		default:
			b.WriteString("│  ")
		}
	}
	return b.String()
}
