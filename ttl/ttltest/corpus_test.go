package ttltest_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/seed-ff860830/banyan/ttl"
	"github.com/seed-ff860830/banyan/ttl/ttltest"
)

// TestCorpus holds the benchmarks to what they say of their input.
func TestCorpus(t *testing.T) {
	const n = 20_000
	ts := ttltest.Corpus(n)
	if len(ts) < n || len(ts) > n+32 || !slices.Equal(ts, ttltest.Corpus(n)) {
		t.Fatalf("%d statements, or not the same ones again", len(ts))
	}
	seen := make(map[ttl.Triple]bool, len(ts))
	literals := 0
	for _, x := range ts {
		if seen[x] {
			t.Fatalf("%v comes twice", x)
		}
		seen[x] = true
		if x.O.Kind == ttl.Literal {
			literals++
		}
	}
	if share := float64(literals) / float64(len(ts)); share < 0.25 || share > 0.40 {
		t.Errorf("%.0f %% of the objects are literals", 100*share)
	}
	for _, f := range []ttl.Format{ttl.Turtle, ttl.NTriples} {
		var doc bytes.Buffer
		if err := ttltest.Write(&doc, f, ts); err != nil {
			t.Fatal(err)
		}
		i := 0
		for x, err := range ttl.NewReader(&doc, ttl.Options{Format: f}).All() {
			if err != nil || x != ts[i] {
				t.Fatalf("%v: statement %d is %v, %v; want %v", f, i, x, err, ts[i])
			}
			i++
		}
	}
}
