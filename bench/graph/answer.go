package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/seed-ff860830/banyan/ontology"
)

// answerer is whoever answers the questions. The time is the answer's own,
// without what brings it here.
type answerer interface {
	name() string
	answer(ctx context.Context, f form, a asked) ([]ontology.SnapshotID, time.Duration, error)
}

// errStopped says that there was no answer within the budget.
var errStopped = errors.New("no answer within the budget")

// ask puts one question to all peers and writes the table. The cases go round
// by round until the budget is used up, at least one.
func ask(ctx context.Context, out io.Writer, o options, q question, peers []answerer) error {
	fmt.Fprintf(out, "\n%s\n", q.title)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "by\truns\tp50 µs\tp99 µs\tp50 to index\t")
	want := make([][]ontology.SnapshotID, len(q.cases))
	var index float64
	for i, p := range peers {
		times, err := measure(ctx, o, q, p, want, i == 0)
		if errors.Is(err, errStopped) && len(times) == 0 {
			fmt.Fprintf(t, "%s\tstopped after %v\t\t\t\t\n", p.name(), o.budget)
			continue
		}
		if err != nil && !errors.Is(err, errStopped) {
			return fmt.Errorf("%s, %s: %w", q.title, p.name(), err)
		}
		slices.Sort(times)
		p50, p99 := at(times, 0.5), at(times, 0.99)
		if i == 0 {
			index = p50
		}
		fmt.Fprintf(t, "%s\t%d\t%.1f\t%.1f\t%.1f\t\n", p.name(), len(times), p50, p99, p50/max(index, 0.05))
	}
	return t.Flush()
}

func measure(ctx context.Context, o options, q question, p answerer, want [][]ontology.SnapshotID, first bool) (times []time.Duration, err error) {
	begin := time.Now()
	for i, a := range q.cases {
		left := o.budget - time.Since(begin)
		if left <= 0 {
			return times, nil
		}
		bound, cancel := context.WithTimeout(ctx, left)
		got, took, err := p.answer(bound, q.form, a)
		cancel()
		if err != nil {
			return times, err
		}
		if q.form == lineage || q.form == revocation {
			slices.Sort(got)
		}
		if first {
			want[i] = got
		} else if !slices.Equal(got, want[i]) {
			return nil, fmt.Errorf("case %d has the answer %v, the index's is %v\n%s", i, got, want[i], a.text)
		}
		times = append(times, took)
	}
	return times, nil
}

func at(times []time.Duration, q float64) float64 {
	if len(times) == 0 {
		return 0
	}
	return float64(times[int(q*float64(len(times)-1))]) / float64(time.Microsecond)
}
