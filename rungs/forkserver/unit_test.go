package forkserver

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
)

// Whatever is taken and given back in whatever order, no id is out twice, and
// an id that came back is the last to go out again.
func TestUserIDsAreHeldByOneAtATime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, 8).Draw(t, "count")
		u := newUIDs(1000, count)
		u.claim = func(int, int) (bool, error) { return true, nil }
		var out []int
		last := map[int]int{} // when an id was given back
		for now := range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(out) > 0 && rapid.Bool().Draw(t, "give") {
				i := rapid.IntRange(0, len(out)-1).Draw(t, "which")
				u.give(out[i])
				last[out[i]] = now + 1
				out = append(out[:i], out[i+1:]...)
				continue
			}
			id, err := u.take()
			if len(out) == count {
				if errs.KindOf(err) != errs.Exhausted {
					t.Fatalf("take of none: %v", err)
				}
				continue
			}
			if err != nil || id < 1000 || id >= 1000+count {
				t.Fatalf("take: %d, %v", id, err)
			}
			for _, o := range out {
				if o == id {
					t.Fatalf("%d is out twice", id)
				}
			}
			for other := 1000; other < 1000+count; other++ {
				if free := !contains(out, other); free && other != id && last[other] < last[id] {
					t.Fatalf("%d went out, which came back after %d", id, other)
				}
			}
			out = append(out, id)
		}
		if u.held() != len(out) {
			t.Fatalf("held %d, out %d", u.held(), len(out))
		}
	})
}

func contains(ids []int, id int) bool {
	for _, x := range ids {
		if x == id {
			return true
		}
	}
	return false
}

func TestConfigIsChecked(t *testing.T) {
	for name, tc := range map[string]struct {
		cfg  Config
		says string
	}{
		"defaults":   {Config{}, ""},
		"no spares":  {Config{Spares: -1}, ""},
		"root":       {Config{UIDBase: 1}, "UIDBase"},
		"high":       {Config{UIDBase: 1 << 31}, "UIDBase"},
		"range":      {Config{UIDBase: 1<<31 - 10, UIDCount: 100}, "UIDCount"},
		"no uids":    {Config{UIDCount: -1}, "UIDCount"},
		"children":   {Config{MaxChildren: -1}, "MaxChildren"},
		"spares":     {Config{Spares: 1000}, "Spares"},
		"fork time":  {Config{ForkTimeout: -time.Second}, "ForkTimeout"},
		"boot time":  {Config{BootTimeout: -time.Second}, "BootTimeout"},
		"two faults": {Config{UIDBase: 1, MaxChildren: -1}, "UIDBase"},
	} {
		t.Run(name, func(t *testing.T) {
			err := tc.cfg.Validate()
			if tc.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if errs.KindOf(err) != errs.Invalid || !strings.Contains(errs.Public(err), tc.says) {
				t.Errorf("error %v", err)
			}
			if _, err := New(tc.cfg); err == nil {
				t.Error("New takes it")
			}
		})
	}
}

func TestABranchHoldsBothSpecs(t *testing.T) {
	m := func(names ...string) (ms []rungs.Module) {
		for _, n := range names {
			ms = append(ms, rungs.Module{ImportName: n})
		}
		return ms
	}
	for name, tc := range map[string]struct{ base, add, want rungs.Spec }{
		"new module":  {rungs.Spec{Modules: m("a")}, rungs.Spec{Modules: m("b")}, rungs.Spec{Modules: m("a", "b")}},
		"both again":  {rungs.Spec{Modules: m("a")}, rungs.Spec{Modules: m("a", "b", "b")}, rungs.Spec{Modules: m("a", "b")}},
		"set-up":      {rungs.Spec{Setup: "x = 1"}, rungs.Spec{Setup: "y = 2"}, rungs.Spec{Setup: "x = 1\ny = 2"}},
		"same set-up": {rungs.Spec{Setup: "x = 1"}, rungs.Spec{Setup: "x = 1"}, rungs.Spec{Setup: "x = 1"}},
		"nothing":     {rungs.Spec{Modules: m("a"), Setup: "x"}, rungs.Spec{}, rungs.Spec{Modules: m("a"), Setup: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			before := append([]rungs.Module(nil), tc.base.Modules...)
			if diff := cmp.Diff(tc.want, merge(tc.base, tc.add)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, tc.base.Modules); diff != "" {
				t.Errorf("the base changed: %s", diff)
			}
		})
	}
}
