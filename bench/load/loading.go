package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/tggo/goRDFlib/store/badgerstore"
	"github.com/tggo/goRDFlib/term"

	"github.com/seed-ff860830/banyan/bench/peer"
	"github.com/seed-ff860830/banyan/ttl"
)

// loaded is how a load went.
type loaded struct {
	name      string
	n         int
	wall, cpu time.Duration
	rss, disk int64 // zero: not known, or none
}

func loading(ctx context.Context, out io.Writer, o options, dir string) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "load by\tstatements\tk/s\tk/s of one CPU\tpeak RSS MB\tdisk MB\t")
	few := min(o.n, o.peers)
	var left []string
	for _, load := range []func() (loaded, error){
		func() (loaded, error) { return loadOurs(ctx, o.n, dir) },
		func() (loaded, error) { return loadBadger(few, dir) },
		func() (loaded, error) { return loadOxigraph(ctx, few, dir) },
	} {
		l, err := load()
		if err != nil {
			if l.name == "" {
				return err
			}
			left = append(left, fmt.Sprintf("%s is left out: %v", l.name, err))
			continue
		}
		fmt.Fprintf(t, "%s\t%d\t%.0f\t%s\t%s\t%s\t\n", l.name, l.n, rate(l.n, l.wall), known(rate(l.n, l.cpu), l.cpu > 0), known(float64(l.rss)/1e6, l.rss > 0), known(float64(l.disk)/1e6, l.disk > 0))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, why := range left {
		fmt.Fprintln(out, why)
	}
	return nil
}

func rate(n int, d time.Duration) float64 { return float64(n) / max(d.Seconds(), 1e-9) / 1e3 }

func known(v float64, ok bool) string {
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.0f", v)
}

func loadOurs(ctx context.Context, n int, dir string) (l loaded, err error) {
	s, err := open(ctx, dir)
	if err != nil {
		return l, err
	}
	cpu, begin := cpuTime(), time.Now()
	added, _, err := s.ReplaceGraph(ctx, graph, statements(n))
	if err != nil {
		return l, errors.Join(err, s.Close())
	}
	if err := s.Close(); err != nil { // what is written late is the load's too
		return l, err
	}
	l = loaded{name: "banyan", n: added, wall: time.Since(begin), cpu: cpuTime() - cpu, rss: peakRSS()}
	l.disk, err = size(filepath.Join(dir, "store"))
	return l, err
}

// loadBadger is goRDFlib's store on Badger, in batches of 1,000.
func loadBadger(n int, dir string) (l loaded, err error) {
	if n == 0 {
		return loaded{name: "goRDFlib on Badger"}, errors.New("-peers is 0")
	}
	at := filepath.Join(dir, "gordflib")
	s, err := badgerstore.New(badgerstore.WithDir(at), badgerstore.WithLogger(nil))
	if err != nil {
		return l, err
	}
	cpu, begin := cpuTime(), time.Now()
	batch := make([]term.Quad, 0, 1000)
	for t, err := range statements(n) {
		if err != nil {
			return l, errors.Join(err, s.Close())
		}
		o := term.Term(term.NewURIRefUnsafe(t.O.Value))
		if t.O.Kind == ttl.Literal {
			o = term.NewLiteral(t.O.Value, term.WithDatatype(term.NewURIRefUnsafe(t.O.DatatypeIRI())))
		}
		batch = append(batch, term.Quad{Triple: term.Triple{Subject: term.NewURIRefUnsafe(t.S.Value), Predicate: term.NewURIRefUnsafe(t.P.Value), Object: o}})
		if len(batch) == cap(batch) {
			s.AddN(batch)
			batch = batch[:0]
		}
	}
	s.AddN(batch)
	if got := s.Len(nil); got != n {
		return l, errors.Join(fmt.Errorf("goRDFlib's store holds %d statements, not %d", got, n), s.Close())
	}
	if err := s.Close(); err != nil {
		return l, err
	}
	l = loaded{name: "goRDFlib on Badger", n: n, wall: time.Since(begin), cpu: cpuTime() - cpu}
	l.disk, err = size(at)
	return l, errors.Join(err, os.RemoveAll(at))
}

// loadOxigraph has Oxigraph read N-Quads, so it parses too.
func loadOxigraph(ctx context.Context, n int, dir string) (l loaded, err error) {
	l.name = "Oxigraph in memory"
	if n == 0 {
		return l, errors.New("-peers is 0")
	}
	if err := peer.InstallOxigraph(); err != nil {
		return l, err
	}
	file := filepath.Join(dir, "load.nq")
	if err := write(file, n); err != nil {
		return loaded{}, err
	}
	p, err := peer.StartOxigraph()
	if err != nil {
		return l, err
	}
	defer p.Close()
	r, err := p.Ask(ctx, peer.Request{Op: peer.OpLoad, File: file})
	if err != nil {
		return l, err
	}
	if r.Error != "" {
		return l, errors.New(r.Error)
	}
	return loaded{name: l.name, n: n, wall: time.Duration(r.Nanos), rss: r.RSS}, os.Remove(file)
}

func write(file string, n int) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := ttl.NewWriter(f, ttl.WriterOptions{Format: ttl.NQuads})
	for t, err := range statements(n) {
		if err == nil {
			err = w.Write(t)
		}
		if err != nil {
			return err
		}
	}
	return w.Close()
}

func cpuTime() time.Duration {
	u := usage()
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func peakRSS() int64 { return usage().Maxrss << 10 }

func usage() (u syscall.Rusage) {
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail for oneself
	return u
}

// onDisk counts blocks, for Badger's files are mapped larger than they are.
func onDisk(info os.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512
	}
	return info.Size()
}
