package forkserver

import (
	"cmp"
	"context"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
)

// probeAgain is how long a failed probe counts: what was missing may have been
// mended. A good one counts for ever.
const probeAgain = 30 * time.Second

// Probe returns nil if the rung can run here. It tries: a parent is booted with
// all its walls, and one job is run in a fork of it.
func (r *Rung) Probe(ctx context.Context) error {
	r.trial.Lock()
	defer r.trial.Unlock()
	if !r.probed.IsZero() && (r.probe == nil || time.Since(r.probed) < probeAgain) {
		return r.probe
	}
	err := r.try(ctx)
	if ctx.Err() != nil {
		return contextError(ctx) // says nothing of the machine
	}
	r.probed, r.probe = time.Now(), err
	return err
}

func (r *Rung) try(ctx context.Context) error {
	spec := rungs.Spec{Runtime: rungs.Runtime{
		ID: "python", Language: "python", Namespace: ontology.PythonNS,
		Executable: cmp.Or(r.cfg.Python, "python3"),
	}}
	p, err := r.Boot(ctx, spec)
	if err != nil {
		return err
	}
	defer func() { _ = p.Close("the probe is over") }()
	c, err := p.Fork(ctx, rungs.Job{ID: ontology.NewRunID(), Code: "print(6 * 7)"})
	if err != nil {
		return err
	}
	res, err := c.Wait(ctx)
	if err != nil {
		return err
	}
	if res.Status != rungs.StatusOK || string(res.Stdout) != "42\n" {
		return errs.New(errs.Unavailable, "a trial job ended with status %s and exit code %d", res.Status, res.ExitCode)
	}
	return nil
}
