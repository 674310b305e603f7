package ttl_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/seed-ff860830/banyan/ttl"
	"github.com/seed-ff860830/banyan/ttl/ttltest"
)

const benchTriples = 100_000

func BenchmarkReader(b *testing.B) {
	triples := ttltest.Corpus(benchTriples)
	for _, f := range []ttl.Format{ttl.Turtle, ttl.NTriples} {
		b.Run(f.String(), func(b *testing.B) {
			var doc bytes.Buffer
			if err := ttltest.Write(&doc, f, triples); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(doc.Len()))
			b.ReportAllocs()
			for b.Loop() {
				n, r := 0, ttl.NewReader(bytes.NewReader(doc.Bytes()), ttl.Options{Format: f})
				for {
					_, err := r.Read()
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				if n != len(triples) {
					b.Fatalf("%d triples, want %d", n, len(triples))
				}
			}
			b.ReportMetric(float64(len(triples)*b.N)/b.Elapsed().Seconds()/1e3, "ktriples/s")
		})
	}
}

func BenchmarkWriter(b *testing.B) {
	triples := ttltest.Corpus(benchTriples)
	for _, f := range []ttl.Format{ttl.Turtle, ttl.NTriples} {
		b.Run(f.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := ttltest.Write(io.Discard, f, triples); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(triples)*b.N)/b.Elapsed().Seconds()/1e3, "ktriples/s")
		})
	}
}
