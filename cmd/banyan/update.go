package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
)

// updateOptions are the flags of update.
type updateOptions struct {
	text    sparqlText
	timeout string
	json    bool
	set     *config.Set

	within time.Duration // timeout, parsed; 0 for none
}

// newUpdateCmd makes "banyan update"; runF replaces what it does, in tests.
func newUpdateCmd(a *app, runF func(context.Context, *updateOptions) error) *cobra.Command {
	o := &updateOptions{}
	cmd := &cobra.Command{
		Use:   "update [UPDATE|-]",
		Short: "Change the graph in SPARQL",
		Long: `Run a SPARQL 1.1 update, all of it or nothing. Without GRAPH it changes the unnamed
graph. The graphs that Banyan keeps itself cannot be changed. Where standard output is no
terminal, the line has, separated by tabs: operations, statements inserted, statements
deleted, graphs cleared; a statement counts whether or not it was there.`,
		Example: `  banyan update 'PREFIX bn: <https://seed-ff860830.github.io/banyan/ns#>
  PREFIX py: <https://seed-ff860830.github.io/banyan/py/>
  PREFIX bundle: <https://seed-ff860830.github.io/banyan/bundle/>
  INSERT DATA { GRAPH <http://example.org/mine> { bundle:mine a bn:Bundle ; bn:implies py:numpy } }'`,
		Args: between(0, 1, "one UPDATE"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := o.text.parse(cmd, args, "update"); err != nil {
				return err
			}
			if o.within, err = positiveDuration(cmd, "timeout", o.timeout); err != nil {
				return err
			}
			if o.set, err = a.settings(cmd); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return a.update(cmd.Context(), o)
		},
	}
	o.text.addFlags(cmd, "update")
	cmd.Flags().StringVar(&o.timeout, "timeout", "", "limit on the time, such as 10s; the engine's own holds as well")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// update changes the graph and prints how much.
func (a *app) update(ctx context.Context, o *updateOptions) error {
	request, err := o.text.read(ctx, a)
	if err != nil {
		return err
	}
	return a.using(ctx, o.set, func(b backend) error {
		// The bound is the engine's to keep: a client that hung up would not
		// know whether the change was made.
		rep, err := b.Update(ctx, request, banyan.UpdateOptions{Timeout: o.within})
		if err != nil {
			return o.text.pointAt(err, request)
		}
		switch {
		case o.json:
			return a.printJSON(rep)
		case !a.tty:
			return a.printf("%d\t%d\t%d\t%d\n", rep.Operations, rep.Inserted, rep.Deleted, rep.Cleared)
		}
		cleared := ""
		if rep.Cleared > 0 {
			cleared = fmt.Sprintf(", %s cleared", count(rep.Cleared, "graph", "graphs"))
		}
		return a.printf("%s: %s inserted, %d deleted%s\n", count(rep.Operations, "operation", "operations"),
			count(rep.Inserted, "statement", "statements"), rep.Deleted, cleared)
	})
}
