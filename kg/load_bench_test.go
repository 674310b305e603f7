package kg

import (
	"context"
	"fmt"
	"iter"
	"syscall"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan/ttl"
)

// described yields n triples as a catalogue of things has them: each subject
// with eight statements, of which some share their objects with many others.
func described(n int) iter.Seq2[ttl.Triple, error] {
	p := make([]ttl.Term, 8)
	for i := range p {
		p[i] = ex(fmt.Sprint("p", i))
	}
	return func(yield func(ttl.Triple, error) bool) {
		for i := range n {
			s := i / 8
			t := ttl.Triple{S: ex(fmt.Sprint("thing/", s)), P: p[i%8]}
			switch i % 8 {
			case 0:
				t.O = ex(fmt.Sprint("class/", s%50))
			case 1:
				t.O = ttl.NewString(fmt.Sprint("the thing number ", s))
			case 2:
				t.O = integer(int64(s % 1000))
			default:
				t.O = ex(fmt.Sprint("thing/", (s*31+i*17)%(s+1)))
			}
			if !yield(t, nil) {
				return
			}
		}
	}
}

// cpuTime is what this process has used of the processors.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkLoad is a load of a million triples into an empty store on disk,
// all or nothing. The processors' time counts, since the writer, Badger's
// flushes and its compactions run side by side.
func BenchmarkLoad(b *testing.B) {
	const n = 1_000_000
	var used time.Duration
	for b.Loop() {
		s := onDisk(b, b.TempDir())
		before := cpuTime(b)
		if _, _, err := s.ReplaceGraph(context.Background(), "http://example.org/g", described(n)); err != nil {
			b.Fatal(err)
		}
		mustClose(b, s)
		used += cpuTime(b) - before
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "triples/s")
	b.ReportMetric(float64(n*b.N)/used.Seconds(), "triples/cpu-s")
}
