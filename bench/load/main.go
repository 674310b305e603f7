// Command load measures the store: loading, reopening, reading, and reading
// while it is written, beside goRDFlib's store on the same database engine and
// beside Oxigraph, which from npm is in memory only. All load the same
// statements in the same run; the peers fewer, where they would take too long.
//
//	cd bench && go run ./load [-n 1000000] [-peers 200000]
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
)

type options struct {
	n, peers int
	dir      string
	reads    int
	writing  time.Duration
}

func main() {
	o := options{}
	flag.IntVar(&o.n, "n", 1_000_000, "statements")
	flag.IntVar(&o.peers, "peers", 200_000, "the most statements that a peer is given")
	flag.IntVar(&o.reads, "reads", 2000, "reads of each sort")
	flag.DurationVar(&o.writing, "writing", 2*time.Second, "how long is written under each number of readers")
	flag.StringVar(&o.dir, "dir", os.TempDir(), "where the stores lie for the run")
	flag.Parse()
	if o.n < things || o.peers < 0 || o.reads < 1 {
		fmt.Fprintln(os.Stderr, "load: -n must be at least 25, -reads 1")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, o options) (err error) {
	dir, err := os.MkdirTemp(o.dir, "banyan-bench-*")
	if err != nil {
		return err
	}
	defer func() {
		if e := os.RemoveAll(dir); err == nil {
			err = e
		}
	}()
	fmt.Fprintf(out, "%s %s/%s, %d CPUs, %s\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), time.Now().UTC().Format("2006-01-02 15:04 UTC"))
	if err := loading(ctx, out, o, dir); err != nil {
		return err
	}
	s, err := reopened(ctx, out, dir)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // the folder goes with the run
	if err := reading(ctx, out, o, s); err != nil {
		return err
	}
	return writing(ctx, out, o, s)
}

const graph = ontology.IRI("http://example.org/graph")

func open(ctx context.Context, dir string) (*kg.Store, error) {
	return kg.Open(ctx, kg.Config{Dir: filepath.Join(dir, "store"), Logger: slog.New(slog.DiscardHandler)})
}

// reopened opens the store that was loaded.
func reopened(ctx context.Context, out io.Writer, dir string) (*kg.Store, error) {
	begin := time.Now()
	s, err := open(ctx, dir)
	if err == nil {
		fmt.Fprintf(out, "\nopened again, checked, in %.2f s\n", time.Since(begin).Seconds())
	}
	return s, err
}

// size is how many bytes a folder holds on disk.
func size(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += onDisk(info)
		}
		return err
	})
	return n, err
}
