package rungs_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
)

// machine drives a registry in virtual time and knows what must be true of it.
type machine struct {
	*world
	cfg    rungs.RegistryConfig
	leases []*rungs.Lease
	killed map[ontology.SnapshotID]bool
	base   map[ontology.SnapshotID]ontology.SnapshotID
}

var errBoot = errors.New("boot fails")

// pick draws a live snapshot, "" if there is none.
func (m *machine) pick(t *rapid.T, what string) ontology.SnapshotID {
	ids := []ontology.SnapshotID{""}
	for _, l := range m.r.List() {
		ids = append(ids, l.ID)
	}
	return rapid.SampledFrom(ids).Draw(t, what)
}

func (m *machine) acquireOne(t *rapid.T) {
	name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "key")
	from := m.pick(t, "from")
	takes := rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute}).Draw(t, "takes")
	fails := rapid.IntRange(0, 4).Draw(t, "fails") == 0
	before := map[rungs.Key]rungs.Live{}
	for _, l := range m.r.List() {
		before[rungs.Key{Rung: l.Rung, Spec: l.Key}] = l
	}
	booted := false
	l, err := m.r.Acquire(context.Background(), key(name), rungs.Spec{}, from, func(ctx context.Context) (rungs.Parent, error) {
		booted = true
		if fails {
			return nil, errBoot
		}
		return m.boot(name, takes)(ctx)
	})
	switch {
	case err == nil:
		m.leases = append(m.leases, l)
		if l.Fresh() {
			m.base[l.Live().ID] = from
		}
		if old, ok := before[key(name)]; ok && !l.Fresh() && old.Created.Before(time.Now().Add(-m.cfg.MaxAge)) {
			t.Fatalf("a parent of age %v was given out", time.Since(old.Created))
		}
	case errs.KindOf(err) == errs.Exhausted:
		for _, live := range m.r.List() {
			if live.Leases == 0 && live.ID != from && !m.trunk(live.ID) {
				t.Fatalf("exhausted although %s is idle and a leaf", live.ID)
			}
		}
	case !errors.Is(err, errBoot) || !booted:
		t.Fatalf("Acquire: %v", err)
	}
	if err == nil && l.Fresh() != booted {
		t.Fatalf("fresh is %v, booted %v", l.Fresh(), booted)
	}
}

func (m *machine) trunk(id ontology.SnapshotID) bool {
	return slices.ContainsFunc(m.r.List(), func(l rungs.Live) bool { return l.DerivedFrom == id })
}

func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"acquire": m.acquireOne,
		"borrow": func(t *rapid.T) {
			id := m.pick(t, "id")
			if l, ok := m.r.Borrow(id); ok {
				m.leases = append(m.leases, l)
				if age := time.Since(l.Live().Created); age >= m.cfg.MaxAge {
					t.Fatalf("a parent of age %v was lent", age)
				}
			}
		},
		"release": func(t *rapid.T) {
			if len(m.leases) == 0 {
				t.Skip("no lease")
			}
			i := rapid.IntRange(0, len(m.leases)-1).Draw(t, "lease")
			m.leases[i].Release()
			m.leases[i].Release()
			m.leases = slices.Delete(m.leases, i, i+1)
		},
		"wait": func(t *rapid.T) {
			time.Sleep(time.Duration(rapid.IntRange(1, 400).Draw(t, "seconds")) * time.Second)
		},
		"reap": func(t *rapid.T) {
			all := rapid.Bool().Draw(t, "all")
			before := len(m.r.List())
			if n := m.r.Reap(all); n != before-len(m.r.List()) {
				t.Fatalf("Reap says %d, %d went", n, before-len(m.r.List()))
			}
		},
		"remove": func(t *rapid.T) {
			if id := m.pick(t, "id"); id != "" && !m.r.Remove(id) {
				t.Fatalf("%s was listed and is not there", id)
			}
		},
		"die": func(t *rapid.T) {
			if id := m.pick(t, "id"); id != "" {
				m.killed[id] = true
				i := slices.IndexFunc(m.r.List(), func(l rungs.Live) bool { return l.ID == id })
				m.r.List()[i].Parent.(*stubParent).die()
			}
		},
		"": m.check,
	}
}

// check states the invariants, when all goroutines have come to rest.
func (m *machine) check(t *rapid.T) {
	synctest.Wait()
	live := m.r.List()
	if len(live) > m.cfg.MaxParents {
		t.Fatalf("%d live parents, at most %d allowed", len(live), m.cfg.MaxParents)
	}
	held := map[ontology.SnapshotID]int{}
	for _, l := range m.leases {
		held[l.Live().ID]++
		p := l.Parent().(*stubParent)
		if p.closed.Load() > 0 && !m.killed[l.Live().ID] {
			t.Fatalf("a leased parent was closed: %s", p.reason)
		}
	}
	listed := map[ontology.SnapshotID]bool{}
	for _, l := range live {
		listed[l.ID] = true
		if l.Leases != held[l.ID] {
			t.Fatalf("%s has %d leases, want %d", l.ID, l.Leases, held[l.ID])
		}
		if m.killed[l.ID] || l.Parent.(*stubParent).closed.Load() > 0 {
			t.Fatalf("%s is listed although it has ended", l.ID)
		}
		if l.DerivedFrom != m.base[l.ID] {
			t.Fatalf("%s derives from %q", l.ID, l.DerivedFrom)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(m.ready)) {
		if _, gone := m.gone[id]; gone == listed[id] {
			t.Fatalf("%s: listed %v, told to be gone %v", id, listed[id], gone)
		}
	}
	closed := 0
	for _, p := range m.made {
		closed += int(min(p.closed.Load(), 1))
	}
	if closed+len(live) != len(m.made) {
		t.Fatalf("%d made, %d live, %d closed", len(m.made), len(live), closed)
	}
}

func TestRegistryKeepsItsInvariants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The wrapper hides t.Deadline, which may not be called in a bubble.
		rapid.Check(struct{ testing.TB }{t}, func(rt *rapid.T) {
			cfg := rungs.RegistryConfig{MaxParents: 3, Idle: 5 * time.Minute, MaxAge: 20 * time.Minute, Tick: 30 * time.Second, Drain: time.Second}
			m := &machine{world: newWorld(t, cfg), cfg: cfg, killed: map[ontology.SnapshotID]bool{}, base: map[ontology.SnapshotID]ontology.SnapshotID{}}
			defer func() {
				m.r.Close()
				for _, l := range m.leases {
					l.Release()
				}
				if len(m.gone) != len(m.ready) {
					t.Errorf("%d came, %d went", len(m.ready), len(m.gone))
				}
			}()
			rt.Repeat(m.actions())
		})
	})
}
