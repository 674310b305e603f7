package server_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan"
)

// BenchmarkStreamRows is the streaming of 100,000 rows of three columns over
// HTTP, client and server in one process. live-MB is how far what lives on the
// heap grew while the answers were read.
func BenchmarkStreamRows(b *testing.B) {
	const rows = 100_000
	r := startGraph(b, func(c *banyan.Config) { c.MaxQueryRows = rows })
	for from := 0; from < rows; from += 5000 {
		var text strings.Builder
		text.WriteString("INSERT DATA {")
		for i := from; i < from+5000; i++ {
			fmt.Fprintf(&text, "<http://e/row/%d> <http://e/value> \"the value of row %d\" .\n", i, i)
		}
		text.WriteString("}")
		r.mustUpdate(text.String())
	}
	for _, f := range []struct{ name, accept, encoding string }{
		{"json", "application/sparql-results+json", "identity"},
		{"tsv", "text/tab-separated-values", "identity"},
		{"csv", "text/csv", "identity"},
		{"xml", "application/sparql-results+xml", "identity"},
		{"json-gzip", "application/sparql-results+json", "gzip"},
	} {
		b.Run(f.name, func(b *testing.B) {
			stop := make(chan struct{})
			peak := watchHeap(stop)
			var bytes int64
			b.ReportAllocs()
			for b.Loop() {
				req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, r.url+"/sparql?query="+url.QueryEscape("SELECT ?s ?p ?o { ?s ?p ?o . FILTER(?p = <http://e/value>) }"), nil)
				if err != nil {
					b.Fatal(err)
				}
				req.Header.Set("Accept", f.accept)
				req.Header.Set("Accept-Encoding", f.encoding)
				res, err := r.client.Do(req)
				if err != nil {
					b.Fatal(err)
				}
				bytes, err = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
				if err != nil || res.StatusCode != http.StatusOK {
					b.Fatal(res.Status, err)
				}
			}
			close(stop)
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(float64(bytes)/(1<<20), "MB/answer")
			b.ReportMetric(float64(<-peak)/(1<<20), "live-MB")
		})
	}
}

// watchHeap looks at what each garbage collection left, until it is stopped;
// then it tells by how many bytes that grew at most.
func watchHeap(stop <-chan struct{}) <-chan uint64 {
	runtime.GC()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	before := live[0].Value.Uint64()
	out := make(chan uint64, 1)
	go func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		var peak uint64
		for {
			select {
			case <-stop:
				out <- peak
				return
			case <-tick.C:
				metrics.Read(live)
				if now := live[0].Value.Uint64(); now > before {
					peak = max(peak, now-before)
				}
			}
		}
	}()
	return out
}
