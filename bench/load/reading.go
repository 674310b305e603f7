package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ttl"
)

// match reads a pattern to its end and returns how many quads it has.
func match(ctx context.Context, s *kg.Store, q ttl.Quad) (n int, err error) {
	for _, err := range s.Match(ctx, q) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// point is the pattern of a statement that is there.
func point(o options, i int) ttl.Quad {
	t := statement(int(mix(uint64(i))>>1)%(o.n/things), i%things)
	return ttl.Quad{S: t.S, P: t.P, O: t.O}
}

func reading(ctx context.Context, out io.Writer, o options, s *kg.Store) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "read\truns\tp50 µs\tp99 µs\trows each\t")
	about := func(i int) ttl.Quad { return ttl.Quad{S: point(o, i).S} }
	value := func(i int) ttl.Quad { q := point(o, i); return ttl.Quad{S: q.S, P: q.P} }
	for _, r := range []struct {
		name    string
		pattern func(int) ttl.Quad
		rows    int
	}{
		{"one statement, first time after opening", func(i int) ttl.Quad { return point(o, i) }, 1},
		{"one statement, again", func(i int) ttl.Quad { return point(o, i) }, 1},
		{"the value of a property", value, 1},
		{"all of a thing", about, things},
	} {
		times := make([]time.Duration, o.reads)
		for i := range times {
			begin := time.Now()
			n, err := match(ctx, s, r.pattern(i))
			times[i] = time.Since(begin)
			if err != nil {
				return err
			}
			if n != r.rows {
				return fmt.Errorf("%s: %d rows, want %d", r.name, n, r.rows)
			}
		}
		slices.Sort(times)
		fmt.Fprintf(t, "%s\t%d\t%.1f\t%.1f\t%d\t\n", r.name, o.reads, at(times, 0.5), at(times, 0.99), r.rows)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return scanning(ctx, out, o, s)
}

// scanning reads all statements of one predicate.
func scanning(ctx context.Context, out io.Writer, o options, s *kg.Store) error {
	begin := time.Now()
	n, err := match(ctx, s, ttl.Quad{P: ttl.NewIRI(ns + "p1"), G: ttl.NewIRI(string(graph))})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nscan of a predicate, terms and all: %d statements, %.0f k/s\n", n, rate(n, time.Since(begin)))
	return nil
}

func at(times []time.Duration, q float64) float64 {
	if len(times) == 0 {
		return 0
	}
	return float64(times[int(q*float64(len(times)-1))]) / float64(time.Microsecond)
}

// writing commits one thing after the other while readers read.
func writing(ctx context.Context, out io.Writer, o options, s *kg.Store) error {
	fmt.Fprintf(out, "\none writer, %d statements a commit, each on disk when it returns; readers take one statement after the other\n", things)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "readers\tcommits/s\tcommit p50 ms\tcommit p99 ms\treads/s\tread p50 µs\tread p99 µs\t")
	next := 0
	for _, readers := range []int{0, 8, 64} {
		var commits []time.Duration
		reads, err := amid(ctx, o, s, readers, func() error {
			for begin := time.Now(); time.Since(begin) < o.writing; next++ {
				at := time.Now()
				if err := s.Update(ctx, func(tx *kg.Tx) error { return put(tx, next) }); err != nil {
					return err
				}
				commits = append(commits, time.Since(at))
			}
			return nil
		})
		if err != nil {
			return err
		}
		slices.Sort(commits)
		slices.Sort(reads)
		fmt.Fprintf(t, "%d\t%.0f\t%.2f\t%.2f\t%.0f\t%.1f\t%.1f\t\n", readers, float64(len(commits))/o.writing.Seconds(), at(commits, 0.5)/1e3, at(commits, 0.99)/1e3,
			float64(len(reads))/o.writing.Seconds(), at(reads, 0.5), at(reads, 0.99))
	}
	return t.Flush()
}

func put(tx *kg.Tx, i int) error {
	for k := range things {
		t := statement(i, k)
		t.S = ttl.NewIRI(ns + fmt.Sprintf("new/%d", i))
		if err := tx.Add(ttl.Quad{S: t.S, P: t.P, O: t.O, G: ttl.NewIRI(string(graph) + "/new")}); err != nil {
			return err
		}
	}
	return nil
}

// amid runs fn while readers read, and returns what each read took.
func amid(ctx context.Context, o options, s *kg.Store, readers int, fn func() error) ([]time.Duration, error) {
	var stop atomic.Bool
	var wg sync.WaitGroup
	times, errs := make([][]time.Duration, readers), make([]error, readers)
	for r := range readers {
		wg.Go(func() {
			for i := r; !stop.Load() && errs[r] == nil; i += readers {
				begin := time.Now()
				_, errs[r] = match(ctx, s, point(o, i))
				times[r] = append(times[r], time.Since(begin))
			}
		})
	}
	err := fn()
	stop.Store(true)
	wg.Wait()
	for _, e := range errs {
		if err == nil {
			err = e
		}
	}
	return slices.Concat(times...), err
}
