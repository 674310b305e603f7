package banyan

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/seed-ff860830/banyan/internal/buildinfo"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
)

// Status returns the engine's state.
func (e *Engine) Status(ctx context.Context) (Status, error) {
	all, err := e.Rungs(ctx)
	if err != nil {
		return Status{}, err
	}
	return Status{
		Version: buildinfo.Version(), Node: e.cfg.Node, StartedAt: e.startedAt.UTC(), Rungs: all,
		Parents: len(e.registry.List()), Running: int(e.running.Load()), Runs: e.runs.Load(),
		Triples: e.store.Triples(), Draining: e.closing.Load(),
		Backup: e.backups.status(),
	}, nil
}

// Rungs returns what each rung offers and whether it can run here, by rank.
func (e *Engine) Rungs(_ context.Context) ([]RungStatus, error) {
	parents := map[ontology.RungName]int{}
	for _, l := range e.registry.List() {
		parents[l.Rung]++
	}
	now := time.Now()
	probes := *e.probes.Load()
	out := make([]RungStatus, 0, len(e.rungs))
	for _, n := range e.rungNames() {
		name := ontology.RungName(n)
		t := e.rungs[name].Traits()
		reward, open, forkMS, _ := e.learned.facts(name, now)
		s := RungStatus{
			Rung: name, Rank: t.Rank, Isolation: t.Isolation, Languages: t.Languages, Callbacks: t.Callbacks,
			ThirdParty: t.ThirdParty, WarmFork: t.WarmFork, Available: probes[name] == nil,
			Reward: reward, BreakerOpen: open, Parents: parents[name], ForkMS: forkMS,
		}
		if err := probes[name]; err != nil {
			s.Reason, s.Fix = errs.Public(err), errs.HintOf(err)
		}
		out = append(out, s)
	}
	return out, nil
}

// probe asks every rung whether it can run here, and writes the answer into
// the graph where it changed.
func (e *Engine) probe(ctx context.Context) error {
	before := e.probes.Load()
	found := make(map[ontology.RungName]error, len(e.rungs))
	var failed []error
	for name, r := range e.rungs {
		err := r.Probe(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		found[name] = err
		if before == nil || ((*before)[name] == nil) != (err == nil) {
			failed = append(failed, e.store.PutRung(ctx, publishedFacts(r, err)))
		}
	}
	e.probes.Store(&found)
	return errors.Join(failed...)
}

// publishedFacts are a rung's facts in the graph's words.
func publishedFacts(r rungs.Rung, unavailable error) kg.RungFacts {
	t := r.Traits()
	f := kg.RungFacts{Name: r.Name(), Rank: t.Rank, Isolation: t.Isolation, WarmFork: t.WarmFork, Available: unavailable == nil}
	if unavailable != nil {
		f.Reason = errs.Public(unavailable)
	}
	return f
}

// Doctor checks what the engine stands on. The report is OK if any rung with
// walls works.
func (e *Engine) Doctor(ctx context.Context) (Report, error) {
	if err := e.probe(ctx); err != nil {
		return Report{}, err
	}
	all, err := e.Rungs(ctx)
	if err != nil {
		return Report{}, err
	}
	report := Report{Checks: []Check{{Name: "store", State: "ok", Found: fmt.Sprintf("%d triples", e.store.Triples())}}}
	if e.backups != nil {
		report.Checks = append(report.Checks, e.backups.check())
	}
	for _, s := range all {
		report.Checks = append(report.Checks, rungCheck(s))
		report.OK = report.OK || s.Available && s.Isolation > ontology.IsolationNone
	}
	for _, rt := range e.store.Runtimes() {
		report.Checks = append(report.Checks, e.runtimeCheck(rt.ID))
	}
	return report, nil
}

func rungCheck(s RungStatus) Check {
	c := Check{Name: "rung " + string(s.Rung), State: "ok", Found: "can run here; isolation " + s.Isolation.String()}
	switch {
	case !s.Available:
		c.State, c.Found, c.Fix = "warn", s.Reason, s.Fix
		c.Costs = "no job can run on the rung " + string(s.Rung)
	case s.BreakerOpen != "":
		c.State, c.Found = "warn", s.BreakerOpen
		c.Costs = "jobs go to the next rung for a while"
	case s.Isolation == ontology.IsolationNone:
		c.State, c.Found = "warn", "allowed; it has no walls"
		c.Costs = "a job that asks for isolation none sees all that the daemon sees"
	}
	return c
}

// runtimeCheck tells whether a runtime's executable is there.
func (e *Engine) runtimeCheck(id ontology.RuntimeID) Check {
	c := Check{Name: "runtime " + string(id), State: "ok"}
	rt, err := e.runtime(id)
	if err != nil {
		c.State, c.Found = "fail", errs.Public(err)
		return c
	}
	path, err := exec.LookPath(rt.Executable)
	if err != nil {
		c.State, c.Found, c.Needed = "warn", rt.Executable+" is not there", rt.Executable
		c.Costs = "no job can use the runtime " + string(id)
		if strings.Contains(rt.Executable, "python3") {
			c.Fix = "apt-get install python3"
		}
		return c
	}
	c.Found = path
	return c
}
