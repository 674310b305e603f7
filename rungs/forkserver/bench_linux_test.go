package forkserver

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan/rungs"
)

// BenchmarkFork measures a job on a warm parent with numpy and pandas, from
// Fork to Wait's return, one after the other and with a pause between: the
// first write to a control group after a quiet spell waits for the kernel.
func BenchmarkFork(b *testing.B) {
	r := newRung(b)
	p := boot(b, r, specOf("", "numpy", "pandas"))
	for _, bc := range []struct {
		name  string
		pause time.Duration
	}{{"busy", 0}, {"quiet", 100 * time.Millisecond}} {
		b.Run(bc.name, func(b *testing.B) {
			var all, fork []time.Duration
			for b.Loop() {
				if bc.pause > 0 {
					time.Sleep(bc.pause)
				}
				begin := time.Now()
				c, err := p.Fork(context.Background(), jobOf("print(1)"))
				if err != nil {
					b.Fatal(err)
				}
				res, err := c.Wait(context.Background())
				if err != nil || res.Status != rungs.StatusOK {
					b.Fatal(res, err)
				}
				all = append(all, time.Since(begin))
				fork = append(fork, res.Fork)
			}
			slices.Sort(all)
			slices.Sort(fork)
			ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
			b.ReportMetric(ms(all[0]), "min-ms")
			b.ReportMetric(ms(all[len(all)/2]), "p50-ms")
			b.ReportMetric(ms(all[len(all)*99/100]), "p99-ms")
			b.ReportMetric(ms(fork[len(fork)/2]), "fork-p50-ms")
		})
	}
}
