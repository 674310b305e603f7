package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
	"github.com/seed-ff860830/banyan/rungs"
)

// options are what the flags set.
type options struct {
	forks, cold int
	dir         string
}

// defaultPython is the interpreter that examples/python-science.ttl declares;
// BANYAN_PYTHON names another.
const defaultPython = "/usr/bin/python3"

func python() string { return cmp.Or(os.Getenv("BANYAN_PYTHON"), defaultPython) }

// runtime is the one that examples/python-science.ttl declares.
const runtime = ontology.RuntimeID("python-science")

// show is one demo on its way: its engine, its job and what it has measured.
type show struct {
	o      options
	out    io.Writer
	eng    *banyan.Engine
	job    banyan.Job
	cold   []sample
	warm   []sample
	forks  []sample // of the warm runs, the forks alone
	forked banyan.Result
}

// demo runs the whole show in a data folder of its own, which it removes.
func demo(ctx context.Context, out io.Writer, o options) (err error) {
	dir, err := os.MkdirTemp("", "banyan-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	eng, err := banyan.Open(ctx, banyan.Config{Dir: dir})
	if err != nil {
		return explain(err)
	}
	defer func() { err = errors.Join(err, eng.Close()) }()
	s := &show{o: o, out: out, eng: eng}
	for _, step := range []func(context.Context) error{
		s.declare, s.runCold, s.firstRun, s.fork, s.branch, s.tree, s.table, s.plan,
	} {
		if err := step(ctx); err != nil {
			return explain(err)
		}
	}
	return nil
}

// declare imports the declarations and reads the job.
func (s *show) declare(ctx context.Context) error {
	name := filepath.Join(s.o.dir, "python-science.ttl")
	declarations, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	// The file declares the distribution's interpreter; cold and warm have to
	// run on the same one.
	text := strings.ReplaceAll(string(declarations), strconv.Quote(defaultPython), strconv.Quote(python()))
	rep, err := s.eng.Import(ctx, strings.NewReader(text), banyan.ImportOptions{Name: name})
	if err != nil {
		return err
	}
	s.head("Declarations")
	s.say("imported %s: %d triples, %d runtime, %d modules, %d bundle", filepath.Base(name), rep.Triples, rep.Runtimes, rep.Capabilities, rep.Bundles)
	code, err := os.ReadFile(filepath.Join(s.o.dir, "analysis.py"))
	if err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(s.o.dir, "data", "river-levels.csv"))
	if err != nil {
		return err
	}
	csv := string(data)
	s.job = banyan.Job{
		Runtime: runtime, Code: string(code), Need: []string{"bundle:science"},
		Files: []banyan.File{{Path: "river-levels.csv", Text: &csv}},
	}
	return nil
}

// firstRun runs the job while nothing is warm: the plan boots a parent.
func (s *show) firstRun(ctx context.Context) error {
	s.head("First run: nothing is warm yet")
	res, err := s.execute(ctx, s.job)
	if err != nil {
		return err
	}
	s.say("route %s on %s, snapshot %s: %.0f ms, of which the parent's boot took %.0f", res.Plan.Route, res.Plan.Rung, res.Plan.Snapshot, res.Timings.Total, res.Timings.Warm)
	s.say("\nThe job's answer:\n%s", indent(res.Stdout))
	return nil
}

// fork runs the same job again and again, each in a fork of its own.
func (s *show) fork(ctx context.Context) error {
	s.head(fmt.Sprintf("%d forks of that parent", s.o.forks))
	for range s.o.forks {
		began := time.Now()
		res, err := s.execute(ctx, s.job)
		if err != nil {
			return err
		}
		if res.Plan.Route != planner.RouteReuse {
			return fmt.Errorf("a run went by route %s; the warm parent was there", res.Plan.Route)
		}
		s.warm = append(s.warm, sample{wall: time.Since(began), memory: res.Usage.PeakMemoryBytes})
		s.forks = append(s.forks, sample{wall: time.Duration(res.Timings.Fork * float64(time.Millisecond))})
		s.forked = *res
	}
	s.say("every one reused the parent; walls in force: %s", strings.Join(walls(s.forked.Enforced), ", "))
	s.say("the fork with all its walls: median %.1f ms; nearly all the rest of a job's time is the analysis itself", millis(quantile(s.forks, 0.5)))
	return nil
}

// branch grows a snapshot out of the parent and runs a job in it.
func (s *show) branch(ctx context.Context) error {
	s.head("A branch: the same parent with SciPy's statistics")
	began := time.Now()
	snap, err := s.eng.Branch(ctx, s.forked.Plan.Snapshot, banyan.WarmRequest{Need: []string{"scipy.stats"}})
	if err != nil {
		return err
	}
	s.say("%s derived from %s in %.0f ms", snap.ID, *snap.DerivedFrom, float64(time.Since(began).Milliseconds()))
	res, err := s.execute(ctx, banyan.Job{Runtime: runtime, Need: []string{"bundle:science", "scipy.stats"}, Code: branchCode})
	if err != nil {
		return err
	}
	s.say("a job in it (route %s, %.1f ms): %s", res.Plan.Route, res.Timings.Total, strings.TrimSpace(res.Stdout))
	return nil
}

// branchCode is the job that needs the branch.
const branchCode = `import numpy as np
from scipy import stats
x = np.arange(200) % 17
print("Spearman's rho of x and x squared:", round(stats.spearmanr(x, x ** 2)[0], 3))
`

// execute runs a job that has to end well.
func (s *show) execute(ctx context.Context, j banyan.Job) (*banyan.Result, error) {
	res, err := s.eng.Execute(ctx, j)
	if err != nil {
		return nil, err
	}
	if res.Status != rungs.StatusOK {
		return nil, fmt.Errorf("the job ended as %s:\n%s", res.Status, res.Stderr)
	}
	return res, nil
}

// explain adds an error's hint and parts to its text.
func explain(err error) error {
	var e *banyan.Error
	if !errors.As(err, &e) {
		return err
	}
	text := err.Error()
	for _, p := range e.Parts {
		text += "\n  " + p.Pointer + ": " + p.Detail
	}
	if hint := banyan.HintOf(err); hint != "" {
		text += "\nTry: " + hint
	}
	return errors.New(text)
}

func (s *show) head(title string) { fmt.Fprintf(s.out, "\n== %s\n", title) }

func (s *show) say(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ")
}
