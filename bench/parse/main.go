// Command parse measures how fast Banyan's RDF reader is beside other Go
// readers: the same bytes, the same process, one core, in turns.
//
//	cd bench && go run ./parse [-triples 200000] [-rounds 7]
//
// Each reader hands out or stores every statement, and a run that gives another
// number of statements than the corpus has is an error. goRDFlib has no
// streaming form, so its figure has the insertion into its own graph in it.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/seed-ff860830/banyan/ttl"
	"github.com/seed-ff860830/banyan/ttl/ttltest"
)

// peer is one reader under measurement. read returns how many statements it
// found.
type peer struct {
	name string
	read func(doc []byte, f ttl.Format) (int, error)
}

// figure is what the rounds of one peer gave.
type figure struct {
	times  []time.Duration
	allocs uint64 // of the last round
	bytes  uint64
	err    error
}

func main() {
	triples := flag.Int("triples", 200_000, "about how many statements the corpus has")
	rounds := flag.Int("rounds", 7, "how often each reader runs; the median counts")
	flag.Parse()
	if *triples < 1 || *rounds < 1 {
		fmt.Fprintln(os.Stderr, "parse: -triples and -rounds must be at least 1")
		os.Exit(2)
	}
	if err := run(os.Stdout, *triples, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "parse:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, n, rounds int) error {
	runtime.GOMAXPROCS(1)
	corpus := ttltest.Corpus(n)
	fmt.Fprintf(out, "%s %s/%s, 1 core of %d, %d rounds, median\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), rounds)
	for _, f := range []ttl.Format{ttl.Turtle, ttl.NTriples} {
		var doc bytes.Buffer
		if err := ttltest.Write(&doc, f, corpus); err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s: %d triples, %.1f MB\n", f, len(corpus), float64(doc.Len())/1e6)
		figures := measure(doc.Bytes(), f, len(corpus), rounds)
		if err := report(out, figures, len(corpus), doc.Len()); err != nil {
			return err
		}
		if err := figures[0].err; err != nil {
			return err
		}
	}
	return nil
}

// measure runs the peers in turns, so that a slow minute of the machine falls
// on all of them.
func measure(doc []byte, f ttl.Format, want, rounds int) []figure {
	figures := make([]figure, len(peers))
	for range rounds {
		for i, p := range peers {
			if figures[i].err != nil {
				continue
			}
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			n, err := p.read(doc, f)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if err == nil && n != want {
				err = fmt.Errorf("%d statements, want %d", n, want)
			}
			figures[i].err = err
			figures[i].times = append(figures[i].times, took)
			figures[i].allocs = after.Mallocs - before.Mallocs
			figures[i].bytes = after.TotalAlloc - before.TotalAlloc
		}
	}
	return figures
}

func report(out io.Writer, figures []figure, triples, size int) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "reader\tk triples/s\tMB/s\tallocs/triple\tB/triple\tbanyan is faster by\t")
	ours := median(figures[0].times)
	for i, f := range figures {
		if f.err != nil {
			fmt.Fprintf(w, "%s\tfailed: %v\t\t\t\t\t\n", peers[i].name, f.err)
			continue
		}
		m := median(f.times)
		fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%.2f\t%.0f\t%.1fx\t\n", peers[i].name, float64(triples)/m.Seconds()/1e3, float64(size)/m.Seconds()/1e6,
			float64(f.allocs)/float64(triples), float64(f.bytes)/float64(triples), m.Seconds()/ours.Seconds())
	}
	return w.Flush()
}

func median(ts []time.Duration) time.Duration {
	ts = slices.Sorted(slices.Values(ts))
	return ts[len(ts)/2]
}
