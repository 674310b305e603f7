package rungtest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
)

// registryCases are about a rung's parents in a registry, as the engine holds
// them.
var registryCases = []testCase{
	{"B29_OneParentForManyCallers", nil, b29},
	{"B29_FailingSpecLeavesNothing", nil, b29Fails},
	{"B30_BusyParentIsNotReaped", nil, b30},
}

// register returns a registry that the case closes.
func register(t *testing.T, cfg rungs.RegistryConfig) *rungs.Registry {
	t.Helper()
	r, err := rungs.NewRegistry(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// booter counts the boots of a spec.
func (s *suite) booter(spec rungs.Spec, boots *atomic.Int32) func(context.Context) (rungs.Parent, error) {
	return func(ctx context.Context) (rungs.Parent, error) {
		boots.Add(1)
		return s.rung.Boot(ctx, spec)
	}
}

func (s *suite) key(spec rungs.Spec) rungs.Key {
	return rungs.Key{Rung: s.rung.Name(), Spec: spec.Key()}
}

func b29(t *testing.T, s *suite) {
	for name, cfg := range map[string]rungs.RegistryConfig{
		"alone":                       {},
		"with the reaper every 50 ms": {Tick: 50 * time.Millisecond, Idle: 50 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			before := steady(t)
			r := register(t, cfg)
			spec := Spec(t)
			spec.Setup = "import time; time.sleep(1); warm = 'yes'"
			var boots atomic.Int32
			var all, leases sync.WaitGroup
			leases.Add(pick(50, 10)) // nobody gives a lease back before all have one
			for i := range pick(50, 10) {
				all.Go(func() {
					l, err := r.Acquire(t.Context(), s.key(spec), spec, "", s.booter(spec, &boots))
					leases.Done()
					if err != nil {
						t.Errorf("acquire: %v", err)
						return
					}
					defer l.Release()
					leases.Wait()
					c, err := l.Parent().Fork(t.Context(), Job(fmt.Sprintf("print(warm, %d)", i)))
					if err != nil {
						t.Errorf("fork: %v", err)
						return
					}
					if res, err := c.Wait(t.Context()); err != nil || string(res.Stdout) != fmt.Sprintf("yes %d\n", i) {
						t.Errorf("%v, %s", err, show(res))
					}
				})
			}
			all.Wait()
			if n := boots.Load(); n != 1 {
				t.Errorf("%d parents were made", n)
			}
			r.Close()
			settled(t, before)
		})
	}
}

func b29Fails(t *testing.T, s *suite) {
	s.plain(t)
	before := steady(t)
	r := register(t, rungs.RegistryConfig{})
	spec := Spec(t)
	spec.Setup = "import time; time.sleep(0.3); raise ValueError('never works')"
	var boots, failed atomic.Int32
	var all sync.WaitGroup
	n := pick(50, 10)
	for range n {
		all.Go(func() {
			_, err := r.Acquire(t.Context(), s.key(spec), spec, "", s.booter(spec, &boots))
			if errs.KindOf(err) == errs.Invalid && strings.Contains(errs.Public(err), "never works") {
				failed.Add(1)
			} else {
				t.Errorf("error %v", err)
			}
		})
	}
	all.Wait()
	if int(failed.Load()) != n || int(boots.Load()) >= n {
		t.Errorf("%d of %d failed, in %d boots", failed.Load(), n, boots.Load())
	}
	if live := r.List(); len(live) != 0 {
		t.Errorf("%d parents are left", len(live))
	}
	settled(t, before)
}

func b30(t *testing.T, s *suite) {
	r := register(t, rungs.RegistryConfig{Tick: 20 * time.Millisecond, Idle: 40 * time.Millisecond, MaxAge: 300 * time.Millisecond})
	spec := Spec(t)
	var boots atomic.Int32
	l, err := r.Acquire(t.Context(), s.key(spec), spec, "", s.booter(spec, &boots))
	if err != nil {
		t.Fatal(err)
	}
	c := fork(t, l.Parent(), Job("import time\ntime.sleep(1)\nprint('ok')"))
	eventually(t, "the parent is too old for a new job", func() bool {
		b, ok := r.Borrow(l.Live().ID)
		if ok {
			b.Release()
		}
		return !ok
	})
	next, err := r.Acquire(t.Context(), s.key(spec), spec, "", s.booter(spec, &boots))
	if err != nil {
		t.Fatal(err)
	}
	if next.Live().ID == l.Live().ID || boots.Load() != 2 {
		t.Error("a parent past its age was given out")
	}
	next.Release()
	wantOutput(t, wait(t, c), "ok\n")
	parent := l.Parent()
	l.Release()
	eventually(t, "the old parent goes with its last job", func() bool {
		select {
		case <-parent.Done():
			return true
		default:
			return false
		}
	})
}
