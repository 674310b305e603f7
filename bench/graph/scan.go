package main

import (
	"context"
	"slices"
	"sort"
	"time"

	"github.com/seed-ff860830/banyan/ontology"
)

// scan answers by a loop over all snapshots.
type scan struct{ w *world }

func (scan) name() string { return "scan in Go" }

func (s scan) answer(_ context.Context, f form, a asked) (ids []ontology.SnapshotID, took time.Duration, err error) {
	begin := time.Now()
	switch f {
	case supersets:
		ids = s.best(func(n *snap) (int, bool) {
			return len(n.declares) - common(n.declares, a.need), common(a.need, n.provides) == len(a.need)
		})
	case bases:
		ids = s.best(func(n *snap) (int, bool) { return -n.warm, common(n.declares, a.need) == len(n.declares) })
	case lineage:
		for at := s.w.snaps[a.of].parent; at >= 0; {
			i := slices.IndexFunc(s.w.snaps, func(n snap) bool { return n.id == s.w.snaps[at].id })
			ids = append(ids, s.w.snaps[i].id)
			at = s.w.snaps[i].parent
		}
	case revocation:
		bad := make([]bool, len(s.w.snaps))
		bad[a.of] = true
		for i, n := range s.w.snaps { // parents stand before their children
			bad[i] = bad[i] || n.parent >= 0 && bad[n.parent]
			if bad[i] {
				ids = append(ids, n.id)
			}
		}
	}
	return ids, time.Since(begin), nil
}

// best keeps the ten best of those that fit.
func (s scan) best(rate func(*snap) (rank int, fits bool)) (ids []ontology.SnapshotID) {
	var top []rated
	for i := range s.w.snaps {
		rank, fits := rate(&s.w.snaps[i])
		if !fits {
			continue
		}
		r := rated{&s.w.snaps[i], rank}
		if len(top) == 10 && compareRated(r, top[9]) >= 0 {
			continue
		}
		at := sort.Search(len(top), func(i int) bool { return compareRated(r, top[i]) < 0 })
		top = slices.Insert(top, at, r)
		top = top[:min(len(top), 10)]
	}
	for _, r := range top {
		ids = append(ids, r.s.id)
	}
	return ids
}

// common counts what two sorted sets share.
func common(a, b []uint16) (n int) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			n, i, j = n+1, i+1, j+1
		}
	}
	return n
}
