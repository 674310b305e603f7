package rungs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stubParent is a parent without a process: the registry never forks.
type stubParent struct {
	rungs.Parent
	name   string
	done   chan struct{}
	once   sync.Once
	first  sync.Once
	closed atomic.Int32
	reason string        // of the first Close
	block  chan struct{} // Close waits for it, if set
}

func newStub(name string) *stubParent { return &stubParent{name: name, done: make(chan struct{})} }

func (p *stubParent) Done() <-chan struct{} { return p.done }

func (p *stubParent) Close(reason string) error {
	if p.block != nil {
		<-p.block
	}
	p.first.Do(func() { p.reason = reason })
	p.closed.Add(1)
	p.die()
	return nil
}

func (p *stubParent) die() { p.once.Do(func() { close(p.done) }) }

// world counts what a registry makes and tells.
type world struct {
	t     *testing.T
	r     *rungs.Registry
	mu    sync.Mutex
	made  []*stubParent
	ready map[ontology.SnapshotID]int
	gone  map[ontology.SnapshotID]string
	order []ontology.SnapshotID // in which they went
}

func newWorld(t *testing.T, cfg rungs.RegistryConfig) *world {
	t.Helper()
	w := &world{t: t, ready: map[ontology.SnapshotID]int{}, gone: map[ontology.SnapshotID]string{}}
	onReady := cfg.OnReady
	cfg.OnReady = func(ctx context.Context, l rungs.Live) error {
		w.mu.Lock()
		w.ready[l.ID]++
		w.mu.Unlock()
		if onReady != nil {
			return onReady(ctx, l)
		}
		return nil
	}
	cfg.OnGone = func(l rungs.Live, reason string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if _, twice := w.gone[l.ID]; twice || w.ready[l.ID] != 1 {
			t.Errorf("snapshot %s went twice, or without having come", l.ID)
		}
		w.gone[l.ID] = reason
		w.order = append(w.order, l.ID)
	}
	r, err := rungs.NewRegistry(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w.r = r
	return w
}

func (w *world) boot(name string, takes time.Duration) func(context.Context) (rungs.Parent, error) {
	return func(ctx context.Context) (rungs.Parent, error) {
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		p := newStub(name)
		w.mu.Lock()
		w.made = append(w.made, p)
		w.mu.Unlock()
		return p, nil
	}
}

func key(name string) rungs.Key { return rungs.Key{Rung: "stub", Spec: ontology.SpecKey(name)} }

func (w *world) acquire(name string, from ontology.SnapshotID) *rungs.Lease {
	w.t.Helper()
	l, err := w.r.Acquire(w.t.Context(), key(name), rungs.Spec{Setup: name}, from, w.boot(name, 0))
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

func (w *world) reasonOf(id ontology.SnapshotID) string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gone[id]
}

func TestB29_OneBootForFiftyCallers(t *testing.T) {
	for name, reaper := range map[string]time.Duration{"alone": time.Hour, "with the reaper every 50 ms": 50 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, rungs.RegistryConfig{Tick: reaper, Idle: time.Nanosecond})
				defer w.r.Close()
				var wg sync.WaitGroup
				var fresh atomic.Int32
				for range 50 {
					wg.Go(func() {
						l, err := w.r.Acquire(t.Context(), key("k"), rungs.Spec{}, "", w.boot("k", time.Second))
						if err != nil {
							t.Error(err)
							return
						}
						defer l.Release()
						if l.Fresh() {
							fresh.Add(1)
						}
						time.Sleep(120 * time.Millisecond) // the job, over two rounds of the reaper
						select {
						case <-l.Parent().Done():
							t.Error("the parent vanished under a lease")
						default:
						}
					})
				}
				wg.Wait()
				if len(w.made) != 1 || fresh.Load() != 1 {
					t.Errorf("%d parents were made, %d callers were told so", len(w.made), fresh.Load())
				}
			})
		})
	}
}

func TestB29_FailingBootReachesEveryWaiterAndLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, rungs.RegistryConfig{MaxParents: 1})
		defer w.r.Close()
		var boots atomic.Int32
		fail := errs.New(errs.Invalid, "No module named 'nope'")
		bad := func(context.Context) (rungs.Parent, error) {
			boots.Add(1)
			time.Sleep(time.Second)
			return nil, fail
		}
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if _, err := w.r.Acquire(t.Context(), key("k"), rungs.Spec{}, "", bad); !errors.Is(err, fail) {
					t.Errorf("error %v", err)
				}
			})
		}
		wg.Wait()
		if boots.Load() != 1 || len(w.r.List()) != 0 || len(w.ready) != 0 {
			t.Errorf("%d boots, %d live, %d recorded", boots.Load(), len(w.r.List()), len(w.ready))
		}
		w.acquire("k", "").Release() // and the next try works
	})
}

// Real goroutines and real time, for the race detector.
func TestB29_CallersReaperAndDeathsRace(t *testing.T) {
	w := newWorld(t, rungs.RegistryConfig{MaxParents: 3, Idle: time.Microsecond, MaxAge: 3 * time.Millisecond, Tick: 200 * time.Microsecond})
	rounds := 200
	if testing.Short() {
		rounds = 40
	}
	var wg sync.WaitGroup
	for c := range 8 {
		wg.Go(func() {
			for i := range rounds {
				name := fmt.Sprint("k", (c+i)%5)
				l, err := w.r.Acquire(t.Context(), key(name), rungs.Spec{}, "", w.boot(name, time.Duration(i%3)*50*time.Microsecond))
				if errs.KindOf(err) == errs.Exhausted {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				p := l.Parent().(*stubParent)
				if i%7 == 0 {
					p.die()
				} else if p.closed.Load() != 0 && p.reason != rungs.ReasonDied {
					t.Errorf("a leased parent was closed: %s", p.reason)
				}
				if b, ok := w.r.Borrow(l.Live().ID); ok {
					b.Release()
				}
				l.Release()
				l.Release()
			}
		})
	}
	wg.Wait()
	w.r.Close()
	for _, p := range w.made {
		if p.closed.Load() == 0 {
			t.Error("a parent was never closed")
		}
	}
	if len(w.ready) != len(w.gone) || len(w.ready) != len(w.made) {
		t.Errorf("%d made, %d recorded, %d gone", len(w.made), len(w.ready), len(w.gone))
	}
}

func TestB35_CallerWhoHangsUpDoesNotStopTheBoot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, rungs.RegistryConfig{Idle: time.Minute, Tick: time.Second})
		defer w.r.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := w.r.Acquire(ctx, key("k"), rungs.Spec{}, "", w.boot("k", 2*time.Second))
		if errs.KindOf(err) != errs.Timeout {
			t.Errorf("error %v", err)
		}
		gone, hangUp := context.WithCancel(t.Context())
		hangUp()
		if _, err := w.r.Acquire(gone, key("k"), rungs.Spec{}, "", nil); errs.KindOf(err) != errs.Canceled {
			t.Errorf("error %v", err)
		}
		time.Sleep(2 * time.Second)
		live := w.r.List()
		if len(live) != 1 || live[0].Leases != 0 {
			t.Fatalf("live: %+v", live)
		}
		time.Sleep(2 * time.Minute)
		if got := w.reasonOf(live[0].ID); got != rungs.ReasonIdle {
			t.Errorf("it went because %q", got)
		}
	})
}

func TestB30_IdleCountsFromTheEndOfTheLastUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, rungs.RegistryConfig{Idle: 2 * time.Second, Tick: 100 * time.Millisecond})
		defer w.r.Close()
		l := w.acquire("k", "")
		id := l.Live().ID
		time.Sleep(6 * time.Second)
		if got := w.reasonOf(id); got != "" {
			t.Fatalf("a parent in use went: %s", got)
		}
		l.Release()
		time.Sleep(1900 * time.Millisecond)
		if got := w.reasonOf(id); got != "" {
			t.Errorf("it went too early: %s", got)
		}
		time.Sleep(300 * time.Millisecond)
		if got := w.reasonOf(id); got != rungs.ReasonIdle {
			t.Errorf("it went because %q", got)
		}
	})
}

func TestB30_PastItsAgeAParentTakesNoNewJobAndEndsWithItsLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, rungs.RegistryConfig{MaxAge: 3 * time.Second, Tick: time.Hour})
		defer w.r.Close()
		old := w.acquire("k", "")
		id := old.Live().ID
		time.Sleep(4 * time.Second)
		if _, ok := w.r.Borrow(id); ok {
			t.Error("an aged parent was lent")
		}
		next := w.acquire("k", "")
		if next.Live().ID == id || !next.Fresh() {
			t.Error("an aged parent was given out")
		}
		if got := w.reasonOf(id); got != "" {
			t.Errorf("it went in use: %s", got)
		}
		old.Release()
		if got := w.reasonOf(id); got != rungs.ReasonAge {
			t.Errorf("it went because %q", got)
		}
		next.Release()
	})
}

func TestB30_AClockStepReapsNothingInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var step atomic.Int64
		w := newWorld(t, rungs.RegistryConfig{
			Idle: time.Minute, MaxAge: 24 * time.Hour, Tick: time.Second,
			Now: func() time.Time { return time.Now().Add(time.Duration(step.Load())) },
		})
		defer w.r.Close()
		busy, idle := w.acquire("busy", ""), w.acquire("idle", "")
		idle.Release()
		step.Store(int64(time.Hour))
		time.Sleep(5 * time.Second)
		if w.reasonOf(busy.Live().ID) != "" || w.reasonOf(idle.Live().ID) != rungs.ReasonIdle {
			t.Errorf("gone: %v", w.gone)
		}
		step.Store(-int64(time.Hour))
		busy.Release()
		time.Sleep(5 * time.Second)
		if w.reasonOf(busy.Live().ID) != "" {
			t.Error("a step back reaped a parent")
		}
	})
}

func TestLeastRecentlyUsedIdleLeafIsEvicted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, rungs.RegistryConfig{MaxParents: 3})
		defer w.r.Close()
		trunk := w.acquire("trunk", "")
		branch := w.acquire("branch", trunk.Live().ID)
		trunk.Release()
		time.Sleep(time.Second)
		other := w.acquire("other", "")
		if _, err := w.r.Acquire(t.Context(), key("x"), rungs.Spec{}, "", w.boot("x", 0)); errs.KindOf(err) != errs.Exhausted || errs.HintOf(err) == "" {
			t.Fatalf("error %v; the trunk of a live branch must stay", err)
		}
		other.Release()
		time.Sleep(time.Second)
		branch.Release()
		x := w.acquire("x", "") // other was used before branch; trunk is no leaf
		if got := w.reasonOf(other.Live().ID); got != rungs.ReasonEvicted {
			t.Errorf("gone: %v", w.gone)
		}
		y := w.acquire("y", "")
		if got := w.reasonOf(branch.Live().ID); got != rungs.ReasonEvicted {
			t.Errorf("gone: %v", w.gone)
		}
		z := w.acquire("z", "")
		if got := w.reasonOf(trunk.Live().ID); got != rungs.ReasonEvicted {
			t.Errorf("gone: %v", w.gone)
		}
		for _, l := range []*rungs.Lease{x, y, z} {
			l.Release()
		}
	})
}

func TestAnEvictedParentIsClosedBeforeTheNextIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, rungs.RegistryConfig{MaxParents: 1})
		defer w.r.Close()
		w.acquire("a", "").Release()
		l, err := w.r.Acquire(t.Context(), key("b"), rungs.Spec{}, "", func(ctx context.Context) (rungs.Parent, error) {
			if w.made[0].closed.Load() == 0 {
				t.Error("two parents where one is allowed")
			}
			return w.boot("b", 0)(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		l.Release()
	})
}

func TestTheBaseOfABranchInTheMakingStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, rungs.RegistryConfig{MaxParents: 2, Idle: time.Second, Tick: time.Second})
		defer w.r.Close()
		base := w.acquire("base", "")
		base.Release()
		l, err := w.r.Acquire(t.Context(), key("b"), rungs.Spec{}, base.Live().ID, w.boot("b", time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		if got := w.reasonOf(base.Live().ID); got != "" {
			t.Errorf("the base went: %s", got)
		}
		if l.Live().DerivedFrom != base.Live().ID {
			t.Errorf("derived from %q", l.Live().DerivedFrom)
		}
		l.Release()
	})
}

func TestADeadParentIsDroppedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, rungs.RegistryConfig{MaxParents: 1})
		defer w.r.Close()
		l := w.acquire("k", "")
		l.Parent().(*stubParent).die()
		next := w.acquire("k", "") // also though the first has a lease still
		if got := w.reasonOf(l.Live().ID); got != rungs.ReasonDied {
			t.Errorf("it went because %q", got)
		}
		if next.Live().ID == l.Live().ID || len(w.r.List()) != 1 {
			t.Error("a dead parent was given out")
		}
		next.Parent().(*stubParent).die()
		synctest.Wait()
		if len(w.r.List()) != 0 {
			t.Error("a dead parent is listed")
		}
		l.Release()
		next.Release()
	})
}

func TestAParentThatCannotBeRecordedIsGivenToNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errs.New(errs.Unavailable, "the store is full")
		fails := true
		w := newWorld(t, rungs.RegistryConfig{OnReady: func(context.Context, rungs.Live) error {
			if fails {
				return full
			}
			return nil
		}})
		defer w.r.Close()
		if _, err := w.r.Acquire(t.Context(), key("k"), rungs.Spec{}, "", w.boot("k", 0)); !errors.Is(err, full) {
			t.Errorf("error %v", err)
		}
		if len(w.r.List()) != 0 || w.made[0].closed.Load() != 1 || len(w.gone) != 1 {
			t.Errorf("%d live, closed %d times, %d told", len(w.r.List()), w.made[0].closed.Load(), len(w.gone))
		}
		fails = false
		w.acquire("k", "").Release()
	})
}

func TestBootIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, rungs.RegistryConfig{BootTimeout: time.Second})
		defer w.r.Close()
		start := time.Now()
		_, err := w.r.Acquire(t.Context(), key("k"), rungs.Spec{}, "", w.boot("k", time.Hour))
		if errs.KindOf(err) != errs.Timeout || time.Since(start) != time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

func TestABootThatPanicsOrReturnsNothingIsAnError(t *testing.T) {
	w := newWorld(t, rungs.RegistryConfig{})
	defer w.r.Close()
	for _, boot := range []func(context.Context) (rungs.Parent, error){
		func(context.Context) (rungs.Parent, error) { panic("boom") },
		func(context.Context) (rungs.Parent, error) { return nil, nil },
	} {
		if _, err := w.r.Acquire(t.Context(), key("k"), rungs.Spec{}, "", boot); errs.KindOf(err) != errs.Internal || err == nil {
			t.Errorf("error %v", err)
		}
	}
	w.acquire("k", "").Release()
}

// A warm job must not wait while a parent is being made, recorded or closed:
// in the bubble, waiting for any of the three would be a deadlock.
func TestWarmJobsDoNotWaitForWarmUps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		w := newWorld(t, rungs.RegistryConfig{OnReady: func(_ context.Context, l rungs.Live) error {
			if l.Spec.Setup == "recording" {
				<-hold
			}
			return nil
		}})
		defer w.r.Close()
		id := w.acquire("warm", "").Live().ID
		closing := w.acquire("closing", "")
		closing.Parent().(*stubParent).block = hold
		w.r.Remove(closing.Live().ID)
		closing.Release() // closes it in the background
		var wg sync.WaitGroup
		wg.Go(func() {
			l, err := w.r.Acquire(t.Context(), key("recording"), rungs.Spec{Setup: "recording"}, "", w.boot("recording", 0))
			if err != nil {
				t.Error(err)
				return
			}
			l.Release()
		})
		wg.Go(func() {
			l, err := w.r.Acquire(t.Context(), key("making"), rungs.Spec{}, "", func(ctx context.Context) (rungs.Parent, error) {
				<-hold
				return w.boot("making", 0)(ctx)
			})
			if err != nil {
				t.Error(err)
				return
			}
			l.Release()
		})
		synctest.Wait() // all three hang now
		for range 100 {
			l, ok := w.r.Borrow(id)
			if !ok {
				t.Fatal("the warm parent is not there")
			}
			l.Release()
			w.acquire("warm", "").Release()
		}
		close(hold)
		wg.Wait()
	})
}

func TestCloseDrainsAndClosesLeavesBeforeTrunks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, rungs.RegistryConfig{Drain: 10 * time.Second})
		a := w.acquire("a", "")
		b := w.acquire("b", a.Live().ID)
		c := w.acquire("c", b.Live().ID)
		ids := []ontology.SnapshotID{c.Live().ID, b.Live().ID, a.Live().ID}
		a.Release()
		b.Release()
		closed := make(chan struct{})
		go func() { w.r.Close(); close(closed) }()
		time.Sleep(5 * time.Second)
		select {
		case <-closed:
			t.Fatal("Close did not wait for the lease")
		default:
		}
		if _, ok := w.r.Borrow(ids[0]); ok {
			t.Error("a lease while shutting down")
		}
		if _, err := w.r.Acquire(t.Context(), key("a"), rungs.Spec{}, "", nil); errs.KindOf(err) != errs.Unavailable {
			t.Errorf("Acquire while shutting down: %v", err)
		}
		c.Release()
		<-closed
		w.r.Close()
		if got := fmt.Sprint(w.order); got != fmt.Sprint(ids) {
			t.Errorf("closed in the order %s, want %v", got, ids)
		}
		if n := w.r.Reap(true); n != 0 || w.r.Remove(ids[0]) || len(w.r.List()) != 0 {
			t.Error("a closed registry still does something")
		}
	})
}

func TestCloseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, rungs.RegistryConfig{Drain: time.Second})
		l := w.acquire("k", "")
		booting := make(chan error, 1)
		go func() {
			_, err := w.r.Acquire(t.Context(), key("slow"), rungs.Spec{}, "", w.boot("slow", time.Hour))
			booting <- err
		}()
		synctest.Wait()
		start := time.Now()
		w.r.Close()
		if took := time.Since(start); took != time.Second {
			t.Errorf("Close took %v", took)
		}
		if err := <-booting; errs.KindOf(err) != errs.Unavailable {
			t.Errorf("the boot that Close ended: %v", err)
		}
		if got := w.reasonOf(l.Live().ID); got != rungs.ReasonShutdown {
			t.Errorf("it went because %q", got)
		}
		l.Release()
	})
}

func TestRemoveAndReapAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, rungs.RegistryConfig{})
		defer w.r.Close()
		busy, trunk := w.acquire("busy", ""), w.acquire("trunk", "")
		leaf := w.acquire("leaf", trunk.Live().ID)
		trunk.Release()
		leaf.Release()
		if n := w.r.Reap(false); n != 0 {
			t.Errorf("Reap(false) closed %d fresh parents", n)
		}
		if n := w.r.Reap(true); n != 2 || w.order[0] != leaf.Live().ID {
			t.Errorf("Reap(true) closed %d, in the order %v", n, w.order)
		}
		if !w.r.Remove(busy.Live().ID) || w.r.Remove("sn_nothing") {
			t.Error("Remove does not say what was there")
		}
		if _, ok := w.r.Borrow(busy.Live().ID); ok || w.reasonOf(busy.Live().ID) != "" {
			t.Error("a removed parent was lent, or closed in use")
		}
		busy.Release()
		if got := w.reasonOf(busy.Live().ID); got != rungs.ReasonRemoved {
			t.Errorf("it went because %q", got)
		}
		idle := w.acquire("idle", "")
		idle.Release()
		if !w.r.Remove(idle.Live().ID) || w.gone[idle.Live().ID] != rungs.ReasonRemoved {
			t.Error("an idle parent was not closed by Remove")
		}
	})
}

func TestRegistryConfigValidate(t *testing.T) {
	for name, cfg := range map[string]rungs.RegistryConfig{
		"MaxParents": {MaxParents: -1}, "Idle": {Idle: -1}, "MaxAge": {MaxAge: -1},
		"BootTimeout": {BootTimeout: -1}, "Tick": {Tick: -1}, "Drain": {Drain: -1},
	} {
		if _, err := rungs.NewRegistry(cfg); errs.KindOf(err) != errs.Invalid || !strings.Contains(errs.Public(err), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
