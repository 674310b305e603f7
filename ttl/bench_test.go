package ttl_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/seed-ff860830/banyan/ttl"
	"github.com/seed-ff860830/banyan/ttl/ttltest"
)

const benchTriples = 100_000

// BenchmarkReaderDistinct is the worst case: no term but the predicate comes
// twice, so that nothing the reader keeps is of use.
func BenchmarkReaderDistinct(b *testing.B) {
	var doc bytes.Buffer
	for i := range benchTriples {
		fmt.Fprintf(&doc, "<http://example.org/resource/%d> <http://example.org/says> \"The text of the statement number %d\" .\n", i, i)
	}
	for _, f := range []ttl.Format{ttl.Turtle, ttl.NTriples} {
		b.Run(f.String(), func(b *testing.B) { benchRead(b, doc.Bytes(), f, benchTriples) })
	}
}

// benchRead reads a document of n triples again and again.
func benchRead(b *testing.B, doc []byte, f ttl.Format, n int) {
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		got, err := count(bytes.NewReader(doc), ttl.Options{Format: f})
		if got != n || err != nil {
			b.Fatalf("%d triples, %v; want %d", got, err, n)
		}
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds()/1e3, "ktriples/s")
}

func BenchmarkReader(b *testing.B) {
	triples := ttltest.Corpus(benchTriples)
	for _, f := range []ttl.Format{ttl.Turtle, ttl.NTriples} {
		b.Run(f.String(), func(b *testing.B) {
			var doc bytes.Buffer
			if err := ttltest.Write(&doc, f, triples); err != nil {
				b.Fatal(err)
			}
			benchRead(b, doc.Bytes(), f, len(triples))
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
