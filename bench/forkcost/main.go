// Command forkcost measures, in one run, what a warm fork costs beside what it
// is made of and what it replaces:
//
//   - bare: os.fork, os._exit and os.waitpid in a Python process that holds the
//     same modules, which is the least any fork server of that process can take;
//   - warm: a job "print(1)" on a parent of the forkserver rung, from the call of
//     Fork to the end of Wait, with all walls up and its output read;
//   - cold: python3 -c "import …", from start to end.
//
// The three take turns, so that a disturbance of the machine hits all of them.
// Memory is what a process alone has written (Private_Dirty in /proc), the same
// for both: of the forks of the parent, those kept ready included, the mean; of
// a cold process, itself; both wait after their imports.
//
// It needs root, as the rung does.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/forkserver"
)

type options struct {
	python  string
	modules []string
	n, cold int
	pause   time.Duration
	spares  int
}

func main() {
	python := flag.String("python", "/usr/bin/python3", "the interpreter")
	modules := flag.String("modules", "numpy,pandas", "what the parent holds, comma-separated")
	n := flag.Int("n", 200, "jobs")
	cold := flag.Int("cold", 10, "cold starts")
	pause := flag.Duration("pause", 20*time.Millisecond, "between two jobs; 0 measures a busy parent")
	spares := flag.Int("spares", 0, "forks kept ready; 0 is the rung's default, -1 none")
	flag.Parse()
	o := options{*python, strings.Split(*modules, ","), *n, *cold, *pause, *spares}
	if err := run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "forkcost:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	rung, err := forkserver.New(forkserver.Config{Python: o.python, Spares: o.spares, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer func() { _ = rung.Close() }() // the process ends
	spec := rungs.Spec{Runtime: rungs.Runtime{ID: "python", Language: "python", Executable: o.python, Namespace: ontology.PythonNS}}
	for _, m := range o.modules {
		spec.Modules = append(spec.Modules, rungs.Module{Capability: ontology.Capability(string(ontology.PythonNS) + m), ImportName: m})
	}
	parent, err := rung.Boot(ctx, spec)
	if err != nil {
		return err
	}
	defer func() { _ = parent.Close("measured") }() // always nil
	bare, err := startBare(o)
	if err != nil {
		return err
	}
	defer bare.close()
	var bares, warms, forks, colds samples
	for i := range o.n {
		d, err := bare.cycle()
		if err != nil {
			return err
		}
		time.Sleep(o.pause)
		total, fork, err := job(ctx, parent)
		if err != nil {
			return err
		}
		time.Sleep(o.pause)
		bares, warms, forks = append(bares, d), append(warms, total), append(forks, fork)
		if o.cold > 0 && i%max(o.n/o.cold, 1) == 0 {
			d, err := cold(o)
			if err != nil {
				return err
			}
			colds = append(colds, d)
		}
	}
	childBytes, err := ownOfJob(ctx, parent)
	if err != nil {
		return err
	}
	coldBytes, err := ownOfCold(o)
	if err != nil {
		return err
	}
	return table(o, bares, forks, warms, colds, childBytes, coldBytes)
}

func job(ctx context.Context, p rungs.Parent) (total, fork time.Duration, err error) {
	begin := time.Now()
	c, err := p.Fork(ctx, rungs.Job{ID: ontology.NewRunID(), Code: "print(1)"})
	if err != nil {
		return 0, 0, err
	}
	r, err := c.Wait(ctx)
	if err != nil {
		return 0, 0, err
	}
	if r.Status != rungs.StatusOK || string(r.Stdout) != "1\n" {
		return 0, 0, fmt.Errorf("a job ended with %s: %s", r.Status, r.Stderr)
	}
	return time.Since(begin), r.Fork, nil
}

func cold(o options) (time.Duration, error) {
	begin := time.Now()
	err := exec.Command(o.python, "-c", "import "+strings.Join(o.modules, ", ")).Run()
	return time.Since(begin), err
}

// ownOfJob is the mean of what the forks of a parent have written each, while
// one of them runs a job that waits.
func ownOfJob(ctx context.Context, p rungs.Parent) (int64, error) {
	c, err := p.Fork(ctx, rungs.Job{ID: ontology.NewRunID(), Code: "print(1, flush=True)\nimport time\ntime.sleep(600)"})
	if err != nil {
		return 0, err
	}
	time.Sleep(200 * time.Millisecond)
	var sum, n int64
	for _, pid := range childrenOf(p.Stats().PID) {
		if private, err := rollup(pid, "Private_Dirty:"); err == nil {
			sum, n = sum+private, n+1
		}
	}
	c.Kill("measured")
	_, err = c.Wait(ctx)
	return sum / max(n, 1), err
}

func childrenOf(pid int) []int {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	var pids []int
	for _, f := range strings.Fields(string(b)) {
		if n, err := strconv.Atoi(f); err == nil {
			pids = append(pids, n)
		}
	}
	return pids
}

// ownOfCold is what a cold process has written after its imports.
func ownOfCold(o options) (int64, error) {
	cmd := exec.Command(o.python, "-c", "import "+strings.Join(o.modules, ", ")+"\nprint(1, flush=True)\ninput()")
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	if _, err := out.Read(make([]byte, 8)); err != nil {
		return 0, err
	}
	own, err := rollup(cmd.Process.Pid, "Private_Dirty:")
	_ = in.Close()
	_ = cmd.Wait() // ends with EOFError, as it is meant to
	return own, err
}

// rollup reads one figure of /proc/<pid>/smaps_rollup, in bytes.
func rollup(pid int, name string) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name {
			kb, err := strconv.ParseInt(f[1], 10, 64)
			return kb << 10, err
		}
	}
	return 0, fmt.Errorf("no %s in smaps_rollup", name)
}

type samples []time.Duration

func (s samples) at(q float64) time.Duration { return s[int(q*float64(len(s)-1))] }

func table(o options, bare, fork, warm, cold samples, childBytes, coldBytes int64) error {
	fmt.Printf("%s, %d CPUs, parent holds %s, %d jobs, pause %v\n\n", runtime.GOARCH, runtime.NumCPU(), strings.Join(o.modules, ", "), o.n, o.pause)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tmin ms\tp50 ms\tp99 ms\tmin / bare\tp50 / bare\t")
	for _, s := range []samples{bare, fork, warm, cold} {
		slices.Sort(s)
	}
	for _, row := range []struct {
		name string
		s    samples
	}{{"bare fork, exit, wait", bare}, {"warm: Fork to user code", fork}, {"warm: Fork to result", warm}, {"cold: start to end", cold}} {
		if len(row.s) == 0 {
			continue
		}
		fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t\n", row.name, ms(row.s[0]), ms(row.s.at(0.5)), ms(row.s.at(0.99)),
			ms(row.s[0])/ms(bare[0]), ms(row.s.at(0.5))/ms(bare.at(0.5)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Printf("\nmemory written by it alone: a child %.2f MB, a cold process %.1f MB: %.0f to 1\n", mb(childBytes), mb(coldBytes), float64(coldBytes)/float64(max(childBytes, 1)))
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
func mb(n int64) float64         { return float64(n) / 1e6 }
