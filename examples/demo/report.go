package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
)

// sample is one run: its wall time and the memory that was its own.
type sample struct {
	wall   time.Duration
	memory int64
}

// runCold runs the same script as a fresh process without any walls, as one
// would without Banyan.
func (s *show) runCold(ctx context.Context) error {
	s.head("Cold: a fresh interpreter each time, without walls")
	script, err := filepath.Abs(filepath.Join(s.o.dir, "analysis.py"))
	if err != nil {
		return err
	}
	for range s.o.cold {
		cmd := exec.CommandContext(ctx, python(), "-I", script)
		cmd.Dir = filepath.Join(s.o.dir, "data")
		cmd.Env = []string{"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "OPENBLAS_NUM_THREADS=1"}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		began := time.Now()
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("cold run: %w\n%s", err, stderr.String())
		}
		took := time.Since(began)
		usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		if !ok {
			return fmt.Errorf("cold run: no resource usage on this platform")
		}
		s.cold = append(s.cold, sample{wall: took, memory: usage.Maxrss << 10})
	}
	s.say("%d runs, median %.0f ms", len(s.cold), millis(quantile(s.cold, 0.5)))
	return nil
}

// tree prints the snapshots as the graph has them, each under the one it was
// derived from.
func (s *show) tree(ctx context.Context) error {
	s.head("The tree, out of the graph")
	page, err := s.eng.Snapshots(ctx, banyan.ListOptions{Live: true})
	if err != nil {
		return err
	}
	children := map[ontology.SnapshotID][]banyan.Snapshot{}
	for _, snap := range page.Items {
		var from ontology.SnapshotID
		if snap.DerivedFrom != nil {
			from = *snap.DerivedFrom
		}
		children[from] = append(children[from], snap)
	}
	var draw func(from ontology.SnapshotID, depth int)
	draw = func(from ontology.SnapshotID, depth int) {
		for _, snap := range children[from] {
			need := make([]string, len(snap.Need))
			for i, c := range snap.Need {
				need[i] = c.Short()
			}
			s.say("%s%s  %s on %s  %s  (%d capabilities seen, forked %d×)", strings.Repeat("   └─ ", depth),
				snap.ID, snap.Runtime, snap.Rung, strings.Join(need, " "), len(snap.Provides), snap.Forks)
			draw(snap.ID, depth+1)
		}
	}
	draw("", 0)
	return nil
}

// table prints cold beside warm.
func (s *show) table(context.Context) error {
	s.head("Cold beside warm: the same analysis, the same minute")
	w := tabwriter.NewWriter(s.out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\truns\tp50 ms\tp99 ms\tmemory MB\t")
	row := func(name string, all []sample) {
		fmt.Fprintf(w, "%s\t%d\t%.1f\t%.1f\t%.1f\t\n", name, len(all), millis(quantile(all, 0.5)), millis(quantile(all, 0.99)), float64(medianMemory(all))/1e6)
	}
	row("cold process", s.cold)
	row("warm fork, walled", s.warm)
	fmt.Fprintf(w, "ratio\t\t%.1f\t\t%.1f\t\n",
		millis(quantile(s.cold, 0.5))/millis(quantile(s.warm, 0.5)),
		float64(medianMemory(s.cold))/float64(max(1, medianMemory(s.warm))))
	if err := w.Flush(); err != nil {
		return err
	}
	s.say("p99 of fewer than 100 runs is the slowest of them. Memory: of a cold process, its peak resident set, shared")
	s.say("library pages included; of a fork, the peak that its cgroup was charged, which leaves out what it shares.")
	return nil
}

// plan prints why the next such job would run as it would.
func (s *show) plan(ctx context.Context) error {
	s.head("Why: the plan of one more such job")
	p, err := s.eng.Plan(ctx, s.job)
	if err != nil {
		return err
	}
	s.say("%s by %s, expected %.1f ms until the code starts", p.Rung, p.Route, p.ExpectedMS)
	for _, why := range p.Why {
		s.say("  - %s", why)
	}
	return nil
}

// walls names what the result says was in force.
func walls(e rungs.Enforced) []string {
	out := slices.Clone(e.Namespaces)
	for i := range out {
		out[i] += " namespace"
	}
	for _, w := range []struct {
		name string
		up   bool
	}{
		{"own uid", e.UID},
		{"no capabilities", e.Capabilities},
		{"no_new_privs", e.NoNewPrivs},
		{"seccomp", e.Seccomp},
		{"landlock", e.Landlock},
		{"narrow root", e.Root == "narrow"},
		{"memory by " + e.Memory, e.Memory != ""},
		{"pids by " + e.PIDs, e.PIDs != ""},
		{"files by " + e.Files, e.Files != ""},
	} {
		if w.up {
			out = append(out, w.name)
		}
	}
	return out
}

// quantile returns the q-quantile of the wall times, by nearest rank.
func quantile(all []sample, q float64) time.Duration {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b sample) int { return int(a.wall - b.wall) })
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)].wall
}

func medianMemory(all []sample) int64 {
	if len(all) == 0 {
		return 0
	}
	m := make([]int64, len(all))
	for i, s := range all {
		m[i] = s.memory
	}
	slices.Sort(m)
	return m[len(m)/2]
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
