package kg

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// zipfSnapshots makes snapshots over 2,000 capabilities, Zipf 1.1, each with
// the number of capabilities that holds draws: declared and, with as many
// again, provided.
func zipfSnapshots(n int, holds func(*rand.Rand) int) []Snapshot {
	r := rand.New(rand.NewPCG(1, 2))
	z := rand.NewZipf(r, 1.1, 1, 1999)
	names := make([]ontology.Capability, 2000)
	for i := range names {
		names[i] = py(fmt.Sprint("lib", i))[0]
	}
	out := make([]Snapshot, n)
	for i := range out {
		sn := Snapshot{
			ID: snapID(i), Rung: "forkserver", Runtime: "python", SpecKey: "key", State: ontology.StateLive,
			WarmMillis: float64(r.IntN(2000)), ResidentBytes: int64(r.IntN(1 << 30)), CreatedAt: time.Unix(1.8e9, 0), Node: "bench",
		}
		k := holds(r)
		for range k {
			sn.Declares = append(sn.Declares, names[z.Uint64()])
		}
		sn.Declares = ontology.SortCapabilities(sn.Declares)
		sn.Provides = append(sn.Provides, sn.Declares...)
		for range k {
			sn.Provides = append(sn.Provides, names[z.Uint64()])
		}
		sn.Provides = ontology.SortCapabilities(sn.Provides)
		out[i] = sn
	}
	return out
}

func tenToThirty(r *rand.Rand) int { return 10 + r.IntN(21) }

func benchDisk(b *testing.B) *Store {
	s := onDisk(b, b.TempDir())
	b.Cleanup(func() { mustClose(b, s) })
	return s
}

func BenchmarkPutSnapshot(b *testing.B) {
	for _, holds := range []int{10, 250} {
		b.Run(fmt.Sprintf("holds=%d/disk", 2*holds), func(b *testing.B) {
			s := benchDisk(b)
			snaps := zipfSnapshots(256, func(*rand.Rand) int { return holds })
			i := 0
			for b.Loop() {
				sn := snaps[i%len(snaps)]
				sn.ID = snapID(i)
				i++
				if err := s.PutSnapshot(context.Background(), sn); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMatch(b *testing.B) {
	s := benchDisk(b)
	if _, _, err := s.ReplaceGraph(context.Background(), "http://example.org/g", many(100_000, "s")); err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 6))
	run := func(name string, pattern func() ttl.Quad) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, err := range s.Match(context.Background(), pattern()) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
	point := func() ttl.Quad {
		i := r.IntN(100_000)
		return ttl.Quad{S: ex(fmt.Sprint("s", i)), P: ex("p"), O: ex(fmt.Sprint("o", i%10))}
	}
	run("spo", point)
	run("spog", func() ttl.Quad { q := point(); q.G = ex("g"); return q })
	run("s", func() ttl.Quad { return ttl.Quad{S: point().S} })
	run("po-10000-rows", func() ttl.Quad { q := point(); q.S = ttl.Term{}; return q })
}

func BenchmarkReplaceGraph(b *testing.B) {
	for _, n := range []int{100, 20_000} {
		b.Run(fmt.Sprintf("triples=%d", n), func(b *testing.B) {
			s := benchDisk(b)
			for b.Loop() {
				if _, _, err := s.ReplaceGraph(context.Background(), "http://example.org/g", many(n, "s")); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "triples/s")
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	s := onDisk(b, dir)
	for _, sn := range zipfSnapshots(1000, tenToThirty) {
		mustPut(b, s, sn)
	}
	mustClose(b, s)
	b.ResetTimer()
	for b.Loop() {
		mustClose(b, onDisk(b, dir))
	}
}
