// Command graph measures the planner's four questions at several sizes of the
// graph, each by what can answer it, in one run:
//
//   - index: the capability index, what the planner uses;
//   - SPARQL: the same question as SPARQL over the triples, through kg/sparql;
//   - SPARQL, no index: the same text while a statement outside the snapshots'
//     graph keeps the index from being used, so that the triples are joined;
//   - scan: a plain loop in Go over all snapshots held in a slice;
//   - goRDFlib and Oxigraph: other engines, given the same text and triples.
//
// The answers are compared: a peer that gives other snapshots is an error. Each
// peer has a budget of time for a question, and one that has no answer within
// it is stopped and said to be.
//
//	cd bench && go run ./graph [-sizes 1000,100000] [-full]
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/seed-ff860830/banyan/bench/peer"
)

type options struct {
	sizes              []int
	queries            int
	budget             time.Duration // for all runs of one question by one peer
	goRDFlib, oxigraph int           // the most snapshots that these are given
	dir                string
}

func main() {
	peer.Child()
	sizes := flag.String("sizes", "1000,100000", "numbers of snapshots")
	full := flag.Bool("full", false, "a million snapshots as well")
	o := options{}
	flag.IntVar(&o.queries, "queries", 200, "how many different needs are asked for")
	flag.DurationVar(&o.budget, "budget", 5*time.Second, "time for one question by one peer")
	flag.IntVar(&o.goRDFlib, "gordflib", 1000, "the most snapshots that goRDFlib is given")
	flag.IntVar(&o.oxigraph, "oxigraph", 100_000, "the most snapshots that Oxigraph is given: it holds them in memory, of which WebAssembly has 4 GB")
	flag.StringVar(&o.dir, "dir", os.TempDir(), "where the store lies for the run")
	flag.Parse()
	for s := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1000 {
			fmt.Fprintln(os.Stderr, "graph: a size is a number from 1000 up")
			os.Exit(2)
		}
		o.sizes = append(o.sizes, n)
	}
	if *full {
		o.sizes = append(o.sizes, 1_000_000)
	}
	if err := run(context.Background(), os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "graph:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, o options) error {
	fmt.Fprintf(out, "%s %s/%s, %d CPUs, %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), time.Now().UTC().Format("2006-01-02 15:04 UTC"))
	for _, n := range o.sizes {
		if err := size(ctx, out, o, n); err != nil {
			return fmt.Errorf("%d snapshots: %w", n, err)
		}
	}
	return nil
}

// size measures one size of the graph.
func size(ctx context.Context, out io.Writer, o options, n int) (err error) {
	dir, err := os.MkdirTemp(o.dir, "banyan-bench-*")
	if err != nil {
		return err
	}
	defer func() {
		if e := os.RemoveAll(dir); err == nil {
			err = e
		}
	}()
	w := makeWorld(n)
	fmt.Fprintf(out, "\n== %d snapshots, %d statements, %d of them bn:provides\n", n, w.statements(), w.provides())
	ours, err := loadOurs(ctx, out, w, dir)
	if err != nil {
		return err
	}
	defer ours.close()
	peers := []answerer{ours.index(), ours.sparql("SPARQL", false), ours.sparql("SPARQL, no index", true), scan{w}}
	others, err := startOthers(ctx, out, o, w, dir)
	for _, p := range others {
		defer p.close()
		peers = append(peers, p)
	}
	if err != nil {
		return err
	}
	for _, q := range w.questions(o.queries, ours.store.View()) {
		if err := ask(ctx, out, o, q, peers); err != nil {
			return err
		}
	}
	return nil
}
