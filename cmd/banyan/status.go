package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
)

// showOptions are the flags of the commands that only show something.
type showOptions struct {
	json bool
	set  *config.Set
}

// newShowCmd makes a command without arguments that shows something.
func newShowCmd(a *app, use, about string, run, runF func(context.Context, *showOptions) error) *cobra.Command {
	o := &showOptions{}
	cmd := &cobra.Command{
		Use: use, Short: about, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.set, err = a.settings(cmd); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return run(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// newStatusCmd makes "banyan status"; runF replaces what it does, in tests.
func newStatusCmd(a *app, runF func(context.Context, *showOptions) error) *cobra.Command {
	return newShowCmd(a, "status", "Show the state of the engine", a.status, runF)
}

func (a *app) status(ctx context.Context, o *showOptions) error {
	return a.using(ctx, o.set, func(b backend) error {
		st, err := b.Status(ctx)
		if err != nil {
			return err
		}
		if o.json {
			st.Rungs = list(st.Rungs).Items
			return a.printJSON(st)
		}
		return a.pairs(statusPairs(st))
	})
}

func statusPairs(st banyan.Status) [][2]string {
	all := [][2]string{
		{"version", st.Version},
		{"node", st.Node},
		{"started_at", st.StartedAt.UTC().Format(time.RFC3339)},
		{"parents", strconv.Itoa(st.Parents)},
		{"running", strconv.Itoa(st.Running)},
		{"runs", strconv.FormatInt(st.Runs, 10)},
		{"triples", strconv.FormatInt(st.Triples, 10)},
		{"draining", strconv.FormatBool(st.Draining)},
	}
	if b := st.Backup; b != nil {
		all = append(all, [2]string{"backup", backupState(b)})
	}
	for _, r := range st.Rungs {
		all = append(all, [2]string{"rung " + string(r.Rung), rungState(r)})
	}
	return all
}

// backupState says in a few words how the scheduled backups do.
func backupState(b *banyan.BackupStatus) string {
	last := "none yet"
	if !b.LastAt.IsZero() {
		last = "last at " + b.LastAt.UTC().Format(time.RFC3339)
	}
	if b.Failed != "" {
		return fmt.Sprintf("failing: %s (%s)", b.Failed, last)
	}
	return fmt.Sprintf("%s, %d kept", last, b.Kept)
}

// rungState says in a few words whether a rung works.
func rungState(r banyan.RungStatus) string {
	switch {
	case !r.Available:
		return "not available: " + r.Reason
	case r.BreakerOpen != "":
		return "resting: " + r.BreakerOpen
	}
	return "available"
}
