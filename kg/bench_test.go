package kg

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
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

func benchView(snaps []Snapshot) *View {
	c := newCatalogueState()
	c.adopt(loadedOf(snaps), &declared{}, 1)
	return c.view.Load()
}

// loadedOf is what the store's reader would make of snapshots.
func loadedOf(snaps []Snapshot) *loaded {
	seen := map[ontology.Capability]bool{}
	for _, sn := range snaps {
		for _, c := range slices.Concat(sn.Declares, sn.Provides) {
			seen[c] = true
		}
	}
	all := &loaded{whole: true, names: slices.Sorted(maps.Keys(seen))}
	syms := numberAll(all.names)
	for i := range snaps {
		n := newNode(&snaps[i], kindIRI<<kindShift|ID(i+1), syms.intern(snaps[i].Declares), syms.intern(snaps[i].Provides))
		n.shard = &shardKey{snaps[i].Runtime, snaps[i].Rung}
		all.nodes = append(all.nodes, n)
	}
	return all
}

// needs draws what is asked for: a part of what some snapshot provides.
func needs(snaps []Snapshot, size int) []Lookup {
	r := rand.New(rand.NewPCG(3, 4))
	out := make([]Lookup, 200)
	for i := range out {
		from := snaps[r.IntN(len(snaps))].Provides
		l := Lookup{Runtime: "python", Rung: "forkserver"}
		for range min(size, len(from)) {
			l.Need = append(l.Need, from[r.IntN(len(from))])
		}
		out[i] = l
	}
	return out
}

func BenchmarkSupersets(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		snaps := zipfSnapshots(n, tenToThirty)
		v := benchView(snaps)
		for _, size := range []int{1, 5, 10} {
			ls := needs(snaps, size)
			b.Run(fmt.Sprintf("n=%d/need=%d", n, size), func(b *testing.B) {
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					v.Supersets(ls[i%len(ls)], 10)
					i++
				}
			})
		}
	}
}

func BenchmarkBases(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		snaps := zipfSnapshots(n, func(r *rand.Rand) int { return 1 + r.IntN(8) })
		v := benchView(snaps)
		for _, size := range []int{5, 20} {
			ls := needs(snaps, size)
			b.Run(fmt.Sprintf("n=%d/need=%d", n, size), func(b *testing.B) {
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					v.Bases(ls[i%len(ls)], 10)
					i++
				}
			})
		}
	}
}

func BenchmarkIndexRebuild(b *testing.B) {
	for _, c := range []struct{ n, holds int }{{1_000, 20}, {100_000, 20}, {10_000, 250}} {
		snaps := zipfSnapshots(c.n, func(*rand.Rand) int { return c.holds })
		b.Run(fmt.Sprintf("n=%d/holds=%d", c.n, 2*c.holds), func(b *testing.B) {
			for b.Loop() {
				benchView(snaps)
			}
		})
	}
}

// BenchmarkIndexPut is what a put costs the index, beside the disk.
func BenchmarkIndexPut(b *testing.B) {
	for _, c := range []struct{ n, holds int }{{10_000, 20}, {10_000, 250}} {
		snaps := zipfSnapshots(c.n, func(*rand.Rand) int { return c.holds })
		b.Run(fmt.Sprintf("n=%d/holds=%d", c.n, 2*c.holds), func(b *testing.B) {
			for b.Loop() {
				s := newCatalogueState()
				for i := range snaps {
					s.apply([]change{{put: snaps[i], iri: ID(i + 1)}}, 1)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(c.n), "µs/put")
		})
	}
}

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
