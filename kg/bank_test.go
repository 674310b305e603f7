package kg

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// TestBank puts, retires, prunes, imports and moves under many hands while
// readers check what must hold at every moment:
//
//   - the "money": a fixed number of quads is moved between two graphs, so their
//     sum never changes;
//   - a snapshot in the graph has all its statements;
//   - an imported graph is one of its two versions, never a mixture;
//   - what the index offers is really provided.
func TestBank(t *testing.T) {
	s := memory(t)
	const money = 60
	var qs []ttl.Quad
	for i := range money {
		qs = append(qs, quad(fmt.Sprint("coin", i), "is", "money", fmt.Sprint("account", i%2)))
	}
	add(t, s, qs...)

	rounds := 60
	if testing.Short() {
		rounds = 20
	}
	ctx, stop := context.WithCancel(context.Background())
	var writers, readers sync.WaitGroup
	write := func(f func(n int) error) {
		writers.Add(1)
		go func() {
			defer writers.Done()
			for n := range rounds {
				if err := f(n); err != nil {
					t.Errorf("round %d: %v", n, err)
					return
				}
			}
		}()
	}
	var checks atomic.Int64
	read := func(f func() error) {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for ctx.Err() == nil {
				if err := f(); err != nil {
					t.Error(err)
					return
				}
				checks.Add(1)
			}
		}()
	}
	for hand := range 2 {
		write(func(n int) error { return moveMoney(s, hand, n) })
		write(func(n int) error { return s.PutSnapshot(context.Background(), testSnapshot(hand*1000+n)) })
	}
	write(func(n int) error {
		id := snapID(n)
		if _, ok := s.Snapshot(id); !ok {
			return nil
		}
		return s.SetSnapshotState(context.Background(), id, ontology.StateRetired, time.Now())
	})
	write(func(n int) error { _, err := s.Prune(context.Background(), 5); return err })
	write(func(n int) error {
		_, _, err := s.ReplaceGraph(context.Background(), "http://example.org/versions", many(100+100*(n%2), fmt.Sprint("v", n%2, "x")))
		return err
	})
	write(func(n int) error {
		text := importHead + []string{"py:k0 bn:implies py:k1 .", "py:k1 bn:implies py:k2 ."}[n%2]
		_, err := s.ImportTurtle(context.Background(), strings.NewReader(text), ImportOptions{Name: "bank.ttl"})
		return err
	})
	for range 2 {
		read(func() error { return checkMoney(s, money) })
		read(func() error { return checkWhole(s) })
		read(func() error { return checkOffers(s) })
	}
	writers.Wait()
	stop()
	readers.Wait()
	if checks.Load() == 0 {
		t.Error("no reader came to its turn")
	}
	compareViews(t, s, []Lookup{{Runtime: "python", Rung: "forkserver", Need: py("numpy")}, {Runtime: "python", Need: py("k0", "m1")}})
	clean(t, s)
}

func moveMoney(s *Store, hand, n int) error {
	return s.Update(context.Background(), func(tx *Tx) error {
		for i := range 5 {
			coin := quad(fmt.Sprint("coin", (n*7+i+hand*11)%60), "is", "money", "")
			for q, err := range tx.Match(coinAnywhere(coin)) {
				if err != nil {
					return err
				}
				if err := tx.Delete(q); err != nil {
					return err
				}
				q.G = ex(fmt.Sprint("account", (n+i)%2))
				if err := tx.Add(q); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func coinAnywhere(q ttl.Quad) ttl.Quad { q.G = ttl.Term{}; return q }

func checkMoney(s *Store, money int64) error {
	return s.Read(context.Background(), func(r *ReadTx) error {
		a, err := r.Count(ttl.Quad{G: ex("account0")})
		if err != nil {
			return err
		}
		b, err := r.Count(ttl.Quad{G: ex("account1")})
		if err != nil {
			return err
		}
		if a+b != money {
			return fmt.Errorf("the accounts hold %d and %d, want %d together", a, b, money)
		}
		n, err := r.Count(ttl.Quad{P: ex("is"), O: ex("money")})
		if err == nil && n != money {
			return fmt.Errorf("there are %d coins, want %d", n, money)
		}
		return err
	})
}

// checkWhole looks at every snapshot of one view, and at the graph with two versions.
func checkWhole(s *Store) error {
	return s.Read(context.Background(), func(r *ReadTx) error {
		for q, err := range r.Match(ttl.Quad{P: iri(ontology.RDFType), O: iri(ontology.ClassWarmSnapshot)}) {
			if err != nil {
				return err
			}
			for p, want := range map[ontology.IRI]int64{ontology.PropProvides: 4, ontology.PropDeclares: 2, ontology.PropState: 1, ontology.PropSpecKey: 1} {
				n, err := r.Count(ttl.Quad{S: q.S, P: iri(p)})
				if err != nil {
					return err
				}
				if n != want {
					return fmt.Errorf("%s has %d values of %s, want %d", q.S.Value, n, p, want)
				}
			}
		}
		n := map[string]int{}
		for q, err := range r.Match(ttl.Quad{G: ex("versions")}) {
			if err != nil {
				return err
			}
			version, _, _ := strings.Cut(strings.TrimPrefix(q.S.Value, ex("").Value), "x")
			n[version]++
		}
		if n["v0"] != 0 && n["v1"] != 0 || n["v0"] != 0 && n["v0"] != 100 || n["v1"] != 0 && n["v1"] != 200 {
			return fmt.Errorf("the replaced graph is a mixture: %v", n)
		}
		return nil
	})
}

func checkOffers(s *Store) error {
	for _, c := range s.View().Supersets(Lookup{Runtime: "python", Rung: "forkserver", Need: py("numpy", "m3")}, 5) {
		sn, ok := s.Snapshot(c.ID)
		if ok && (len(sn.Provides) != 4 || sn.SpecKey != c.SpecKey) {
			return fmt.Errorf("the index offers %+v, which is %+v", c, sn)
		}
	}
	return nil
}
