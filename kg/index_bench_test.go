package kg

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan/ontology"
)

// The sizes that the index is measured at. A million takes a gigabyte and some
// ten seconds to make.
var indexSizes = []int{1_000, 100_000, 1_000_000}

// benchCaps is how many capabilities there are; that many are drawn, Zipf 1.1.
const benchCaps = 2000

func capName(i int) ontology.Capability { return py(fmt.Sprintf("lib%04d", i))[0] }

// zipfNodes is what the store's reader would make of n snapshots that each
// provide as many capabilities as holds draws, and declare a share of them.
// Every eighth is derived from the one before, and every tenth is gone.
func zipfNodes(n int, holds func(*rand.Rand) int, share float64) *loaded {
	r := rand.New(rand.NewPCG(1, 2))
	z := rand.NewZipf(r, 1.1, 1, benchCaps-1)
	all := &loaded{whole: true, nodes: make([]*node, n)}
	for i := range benchCaps {
		all.names = append(all.names, capName(i))
	}
	key := &shardKey{"python", "forkserver"}
	for i := range all.nodes {
		held := map[uint32]struct{}{}
		for want := holds(r); len(held) < want; {
			held[uint32(z.Uint64())] = struct{}{}
		}
		provides := make([]uint32, 0, len(held))
		for c := range held {
			provides = append(provides, c)
		}
		slices.Sort(provides)
		var declares []uint32
		for _, c := range provides {
			if r.Float64() < share {
				declares = append(declares, c)
			}
		}
		sn := Snapshot{
			ID: snapID(i), SpecKey: "key", WarmMillis: float64(r.IntN(2000)), ResidentBytes: int64(r.IntN(1 << 30)),
			CreatedAt: time.Unix(1.8e9, 0), Node: "bench",
		}
		if i%8 == 7 {
			sn.DerivedFrom = snapID(i - 1)
		}
		if i%10 == 9 {
			sn.State = ontology.StateRetired
		}
		all.nodes[i] = newNode(&sn, kindIRI<<kindShift|ID(i+1), declares, provides)
		all.nodes[i].shard = key
	}
	return all
}

func indexOf(all *loaded) *catalogueState {
	c := newCatalogueState()
	c.adopt(all, &declared{}, 1)
	return c
}

// ask measures answers: b.Loop runs over the questions, and besides each is
// asked several times and counted with its best time, so that what else the
// machine does is left out; of these p50 and p99 are told.
func ask(b *testing.B, questions int, answer func(i int)) {
	b.Helper()
	best := make([]time.Duration, questions)
	for i := range best {
		best[i] = time.Hour
		for range 5 {
			began := time.Now()
			answer(i)
			best[i] = min(best[i], time.Since(began))
		}
	}
	slices.Sort(best)
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		answer(i % questions)
		i++
	}
	b.ReportMetric(float64(best[questions/2].Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(best[questions*99/100].Nanoseconds())/1e3, "p99-µs")
}

// drawing is one way to draw what is asked for.
type drawing struct {
	name string
	k    int
	draw func(r *rand.Rand, some []ontology.Capability) []ontology.Capability
}

// some draws capabilities of one snapshot.
func some(size int) func(*rand.Rand, []ontology.Capability) []ontology.Capability {
	return func(r *rand.Rand, of []ontology.Capability) (out []ontology.Capability) {
		for _, i := range r.Perm(len(of))[:min(size, len(of))] {
			out = append(out, of[i])
		}
		return out
	}
}

// commonest draws from the most frequent ones.
func commonest(size, of int) func(*rand.Rand, []ontology.Capability) []ontology.Capability {
	return func(r *rand.Rand, _ []ontology.Capability) (out []ontology.Capability) {
		for _, i := range r.Perm(of)[:size] {
			out = append(out, capName(i))
		}
		return out
	}
}

func with(first func(*rand.Rand, []ontology.Capability) []ontology.Capability, c ontology.Capability) func(*rand.Rand, []ontology.Capability) []ontology.Capability {
	return func(r *rand.Rand, of []ontology.Capability) []ontology.Capability { return append(first(r, of), c) }
}

// drawings are the distributions of needs: parts of what some snapshot
// provides, and those that are hard on an index.
var drawings = []drawing{
	{"need=1", 10, some(1)},
	{"need=5", 10, some(5)},
	{"need=10", 10, some(10)},
	{"need=20", 10, some(20)},
	{"common=5", 10, commonest(5, 8)},
	{"common=10", 10, commonest(10, 20)},
	{"common=40", 10, commonest(40, 60)},
	{"common=4+rare", 10, with(commonest(4, 8), capName(benchCaps-1))},
	{"unknown", 10, with(commonest(4, 8), py("nobody")[0])},
	{"empty", 10, some(0)},
	{"need=5/k=1000", 1000, some(5)},
	{"common=5/k=1000", 1000, commonest(5, 8)},
}

func (d drawing) lookups(v *View, nodes []*node) []Lookup {
	r := rand.New(rand.NewPCG(3, 4))
	out := make([]Lookup, 200)
	for i := range out {
		of := v.syms.list(nodes[r.IntN(len(nodes))].provides)
		out[i] = Lookup{Runtime: "python", Rung: "forkserver", Need: d.draw(r, of)}
	}
	return out
}

// scanSupersets and scanBases are the naive answers: every node is looked at.
func scanSupersets(v *View, nodes []*node, l Lookup, k int) []Candidate {
	need, all := v.syms.find(l.Need)
	if !all {
		return nil
	}
	best := newTop(k)
	for _, n := range nodes {
		if n.forkable() && subset(need, n.provides) {
			best.offer(rated{n, len(n.declares) - common(n.declares, need)}, compareExtra)
		}
	}
	return v.candidates(best.items)
}

func scanBases(v *View, nodes []*node, l Lookup, k int) []Candidate {
	closure, _ := v.syms.find(l.Need)
	best := newTop(k)
	for _, n := range nodes {
		if n.forkable() && subset(n.declares, closure) {
			best.offer(rated{node: n}, func(a, b rated) int { return compareSaved(a.node, b.node) })
		}
	}
	return v.candidates(best.items)
}

// benchIndex asks an index all questions, and beside it the scan.
func benchIndex(b *testing.B, name string, all *loaded, scan bool) {
	c := indexOf(all)
	v := c.view.Load()
	nodes := c.order
	for _, d := range drawings {
		ls := d.lookups(v, nodes)
		b.Run(name+"/supersets/"+d.name, func(b *testing.B) {
			ask(b, len(ls), func(i int) { v.Supersets(ls[i], d.k) })
		})
		b.Run(name+"/bases/"+d.name, func(b *testing.B) {
			ask(b, len(ls), func(i int) { v.Bases(ls[i], d.k) })
		})
		if !scan || d.k != 10 {
			continue
		}
		ls = ls[:20]
		b.Run(name+"/supersets/"+d.name+"/scan", func(b *testing.B) {
			ask(b, len(ls), func(i int) { scanSupersets(v, nodes, ls[i], d.k) })
		})
		b.Run(name+"/bases/"+d.name+"/scan", func(b *testing.B) {
			ask(b, len(ls), func(i int) { scanBases(v, nodes, ls[i], d.k) })
		})
	}
}

// BenchmarkIndex asks for the ten cheapest supersets and best bases, with some
// 20 capabilities a snapshot of which a third are declared.
func BenchmarkIndex(b *testing.B) {
	for _, n := range indexSizes {
		benchIndex(b, fmt.Sprintf("n=%d", n), zipfNodes(n, tenToThirty, 1./3), true)
	}
}

// BenchmarkIndexObserved is BenchmarkIndex where snapshots report every module
// that they loaded.
func BenchmarkIndexObserved(b *testing.B) {
	benchIndex(b, "n=100000", zipfNodes(100_000, func(r *rand.Rand) int { return 200 + r.IntN(201) }, 1./20), false)
}

// BenchmarkIndexDeclaredAll is BenchmarkIndex where all that is provided was
// declared, so that nearly no snapshot is a base.
func BenchmarkIndexDeclaredAll(b *testing.B) {
	benchIndex(b, "n=1000000", zipfNodes(1_000_000, tenToThirty, 1), false)
}

// BenchmarkIndexHeap tells what a snapshot takes in memory.
func BenchmarkIndexHeap(b *testing.B) {
	for _, n := range indexSizes[1:] {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			var c *catalogueState
			var before, after runtime.MemStats
			for b.Loop() {
				c = nil //nolint:ineffassign,wastedassign // lets the last round go before memory is read
				runtime.GC()
				runtime.ReadMemStats(&before)
				c = indexOf(zipfNodes(n, tenToThirty, 1./3))
				runtime.GC()
				runtime.ReadMemStats(&after)
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "B/snapshot")
			runtime.KeepAlive(c)
		})
	}
}

// BenchmarkIndexRebuild makes the index anew of nodes in memory.
func BenchmarkIndexRebuild(b *testing.B) {
	for _, n := range indexSizes {
		all := zipfNodes(n, tenToThirty, 1./3)
		pairs := 0
		for _, n := range all.nodes {
			pairs += len(n.provides)
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for b.Loop() {
				for _, n := range all.nodes {
					n.mark = 0
				}
				indexOf(all)
			}
			b.ReportMetric(float64(pairs), "pairs")
		})
	}
}

// BenchmarkIndexPut is what a put costs the index, beside the disk: on the
// average, at p99.9, and the longest.
func BenchmarkIndexPut(b *testing.B) {
	for _, c := range []struct{ base, puts, holds int }{{0, 10_000, 20}, {0, 10_000, 250}, {1_000_000, 100_000, 20}} {
		b.Run(fmt.Sprintf("n=%d/holds=%d", c.base, c.holds), func(b *testing.B) {
			base := zipfNodes(c.base, tenToThirty, 1./3)
			snaps := zipfSnapshots(c.puts, func(*rand.Rand) int { return c.holds / 2 })
			var took []time.Duration
			for b.Loop() {
				b.StopTimer()
				for _, n := range base.nodes {
					n.mark = 0
				}
				s := indexOf(base)
				b.StartTimer()
				for i, sn := range snaps {
					sn.ID = snapID(c.base + i)
					began := time.Now()
					s.apply([]change{{put: sn, iri: ID(c.base + i + 1)}}, 1)
					took = append(took, time.Since(began))
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(len(took)), "µs/put")
			b.ReportMetric(float64(took[len(took)*999/1000].Microseconds()), "p99.9-µs")
			b.ReportMetric(float64(took[len(took)-1].Microseconds()), "max-µs")
		})
	}
}

// BenchmarkLoadSnapshots reads the snapshots' graph, as Open does, and makes
// the index; the statements of bn:provides in a second are told.
func BenchmarkLoadSnapshots(b *testing.B) {
	s := benchDisk(b)
	const n = 4000
	pairs := 0
	for from := range n / batch {
		err := s.writeSnapshots(b.Context(), func(t *Tx) (to []change, err error) {
			for i, sn := range zipfSnapshots(batch, func(*rand.Rand) int { return 10 }) {
				sn.ID = snapID(from*batch + i)
				pairs += len(sn.Provides)
				for _, q := range sn.quads() {
					if err := t.add(q); err != nil {
						return nil, err
					}
				}
				if to, err = t.changed(to, sn); err != nil {
					return nil, err
				}
			}
			return to, nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if err := s.reload(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(pairs)*float64(b.N)/b.Elapsed().Seconds(), "provides/s")
	b.ReportMetric(float64(s.Triples())*float64(b.N)/b.Elapsed().Seconds(), "triples/s")
}

// BenchmarkLineage asks for the ancestors of the last, and the descendants of
// the first, of 200 snapshots in a line, among a million.
func BenchmarkLineage(b *testing.B) {
	const depth = 200
	all := zipfNodes(1_000_000, func(*rand.Rand) int { return 1 }, 1)
	for i, n := range all.nodes {
		n.parent = ""
		if i%depth > 0 {
			n.parent = all.nodes[i-1].id
		}
	}
	slices.SortFunc(all.nodes, func(a, b *node) int { return cmp.Compare(a.id, b.id) })
	c := indexOf(all)
	b.Run("ancestors", func(b *testing.B) {
		ask(b, 200, func(i int) {
			if got := len(c.ancestors(snapID(i*4000 + depth - 1))); got != depth-1 {
				b.Fatalf("%d ancestors", got)
			}
		})
	})
	b.Run("descendants", func(b *testing.B) {
		ask(b, 200, func(i int) {
			if got := len(c.descendants(snapID(i * 4000))); got != depth-1 {
				b.Fatalf("%d descendants", got)
			}
		})
	})
}
