package results_test

import (
	"bytes"
	"io"
	"strconv"
	"testing"

	"github.com/seed-ff860830/banyan/kg/sparql/results"
	"github.com/seed-ff860830/banyan/ttl"
)

// thousand is an answer of 1,000 rows as questions about snapshots give them.
func thousand() *results.Set {
	s := &results.Set{Vars: []string{"snapshot", "label", "warm", "extra"}}
	for i := range 1000 {
		n := strconv.Itoa(i)
		s.Rows = append(s.Rows, []ttl.Term{
			ttl.NewIRI("https://example.org/snapshot/" + n), ttl.NewString("snapshot <" + n + ">"), ttl.NewTyped(n, ttl.XSDInteger), {},
		})
	}
	return s
}

func BenchmarkWrite(b *testing.B) {
	set := thousand()
	for _, f := range results.Formats() {
		b.Run(f.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := set.Write(io.Discard, f); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/row")
		})
	}
}

func BenchmarkRead(b *testing.B) {
	set := thousand()
	for _, f := range results.Formats() {
		b.Run(f.String(), func(b *testing.B) {
			var doc bytes.Buffer
			if err := set.Write(&doc, f); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(doc.Len()))
			for b.Loop() {
				if _, err := results.Read(bytes.NewReader(doc.Bytes()), f, results.Limits{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/row")
		})
	}
}
