package rungtest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
)

// Bench measures a rung: what a job costs from a parent that is there, alone
// and with others, what it costs from one with heavy libraries, and what a
// parent costs. The clock is the caller's: from Fork to the end of Wait. Every
// job does work, and its output is checked.
func Bench(b *testing.B, factory func(b *testing.B) rungs.Rung) {
	Python(b)
	rung := factory(b)
	b.Cleanup(func() {
		if err := rung.Close(); err != nil {
			b.Error(err)
		}
	})
	if err := rung.Probe(b.Context()); err != nil {
		b.Skipf("rung %s cannot run here: %v", rung.Name(), err)
	}
	s := &suite{rung: rung, traits: rung.Traits(), parents: map[ontology.SpecKey]rungs.Parent{}}
	b.Cleanup(func() {
		for _, p := range s.parents {
			_ = p.Close("the benchmark is over")
		}
	})
	b.Run("Job", func(b *testing.B) { s.benchJobs(b, s.plain(b), "print(sum(range(1000)))", "499500\n") })
	b.Run("JobNumpy", func(b *testing.B) {
		RequireModule(b, "numpy")
		s.benchJobs(b, s.parent(b, Spec(b, "numpy")), "import numpy as np\nprint(int(np.arange(1000).sum()))", "499500\n")
	})
	b.Run("JobPandas", func(b *testing.B) {
		RequireModule(b, "pandas")
		s.benchJobs(b, s.parent(b, Spec(b, "pandas")), "import pandas as pd\nprint(pd.DataFrame({'a': range(1000)}).a.sum())", "499500\n")
	})
	for _, callers := range []int{2, 8} {
		b.Run(fmt.Sprintf("JobBy%d", callers), func(b *testing.B) { s.benchCallers(b, callers) })
	}
	b.Run("Boot", func(b *testing.B) { s.benchBoot(b) })
	if s.traits.Branch {
		b.Run("Branch", func(b *testing.B) { s.benchBranch(b) })
	}
}

// one runs a job and returns how long it took.
func one(b *testing.B, p rungs.Parent, code, want string) (total, forked time.Duration) {
	job := Job(code)
	begin := time.Now()
	c, err := p.Fork(b.Context(), job)
	if err != nil {
		b.Fatal(err)
	}
	r, err := c.Wait(b.Context())
	if err != nil || string(r.Stdout) != want {
		b.Fatalf("%v, %s", err, show(r))
	}
	return time.Since(begin), r.Fork
}

func (s *suite) benchJobs(b *testing.B, p rungs.Parent, code, want string) {
	var total, forks []time.Duration
	for b.Loop() {
		t, f := one(b, p, code, want)
		total, forks = append(total, t), append(forks, f)
	}
	report(b, "", total)
	report(b, "fork-", forks)
}

func (s *suite) benchCallers(b *testing.B, callers int) {
	p := s.plain(b)
	var mu sync.Mutex
	var total []time.Duration
	begin, n := time.Now(), 0
	for b.Loop() {
		n += callers
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				job := Job("print(sum(range(1000)))")
				at := time.Now()
				c, err := p.Fork(b.Context(), job)
				if err != nil {
					b.Error(err)
					return
				}
				if r, err := c.Wait(b.Context()); err != nil || r.Status != rungs.StatusOK {
					b.Errorf("%v, %s", err, show(r))
				}
				mu.Lock()
				total = append(total, time.Since(at))
				mu.Unlock()
			})
		}
		wg.Wait()
	}
	b.ReportMetric(float64(n)/time.Since(begin).Seconds(), "jobs/s")
	report(b, "", total)
}

func (s *suite) benchBoot(b *testing.B) {
	var total []time.Duration
	for b.Loop() {
		begin := time.Now()
		p := s.boot(b, Spec(b, "json", "re"))
		total = append(total, time.Since(begin))
		if err := p.Close("a benchmark"); err != nil {
			b.Fatal(err)
		}
	}
	report(b, "", total)
}

func (s *suite) benchBranch(b *testing.B) {
	trunk := s.plain(b)
	var total []time.Duration
	for b.Loop() {
		begin := time.Now()
		p, err := trunk.Branch(b.Context(), Spec(b, "colorsys"))
		if err != nil {
			b.Fatal(err)
		}
		total = append(total, time.Since(begin))
		if err := p.Close("a benchmark"); err != nil {
			b.Fatal(err)
		}
	}
	report(b, "", total)
}

// report gives the median and the 99th percentile in milliseconds.
func report(b *testing.B, prefix string, all []time.Duration) {
	if len(all) == 0 {
		return
	}
	slices.Sort(all)
	at := func(q float64) float64 {
		return float64(all[int(q*float64(len(all)-1))]) / float64(time.Millisecond)
	}
	b.ReportMetric(at(0.50), prefix+"p50-ms")
	b.ReportMetric(at(0.99), prefix+"p99-ms")
}
