package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/units"
	"github.com/seed-ff860830/banyan/ontology"
)

// warmOptions are the flags of warm and branch.
type warmOptions struct {
	from    ontology.SnapshotID // of branch
	need    needFlag
	runtime string
	rung    string
	setup   string
	json    bool
	set     *config.Set
}

// newWarmCmd makes "banyan warm"; runF replaces what it does, in tests.
func newWarmCmd(a *app, runF func(context.Context, *warmOptions) error) *cobra.Command {
	o := &warmOptions{}
	cmd := &cobra.Command{
		Use:     "warm",
		Short:   "Make a snapshot ahead of time",
		Long:    "Make a snapshot that holds what is needed, or find the one that is there. Its id is printed.",
		Example: "  banyan warm --need numpy,pandas",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.warmWith(cmd, o, runF, func(b backend, req banyan.WarmRequest) (banyan.Snapshot, error) {
				return b.Warm(cmd.Context(), req)
			})
		},
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&o.runtime, "runtime", "", "runtime, such as python")
	cmd.Flags().StringVar(&o.rung, "rung", "", "the rung to make it on (default: the best)")
	return cmd
}

func (o *warmOptions) addFlags(cmd *cobra.Command) {
	o.need.add(cmd.Flags())
	cmd.Flags().Lookup("need").Usage = "modules to hold, such as numpy,pandas@1.5.3; repeatable"
	cmd.Flags().StringVar(&o.setup, "setup", "", "file with code that is run in the parent after the imports")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the snapshot as JSON")
}

// warmWith does what warm and branch share: make is the one call they differ in.
func (a *app) warmWith(
	cmd *cobra.Command, o *warmOptions, runF func(context.Context, *warmOptions) error,
	make func(backend, banyan.WarmRequest) (banyan.Snapshot, error),
) (err error) {
	o.need.given = cmd.Flags().Changed("need")
	if o.set, err = a.settings(cmd); err != nil {
		return err
	}
	if runF != nil {
		return runF(cmd.Context(), o)
	}
	req := banyan.WarmRequest{Runtime: ontology.RuntimeID(o.runtime), Need: o.need.names(), Rung: ontology.RungName(o.rung)}
	if o.setup != "" {
		data, _, err := readLocal(o.setup, maxCode)
		if err != nil {
			return err
		}
		if req.Setup, err = text(data, o.setup, ""); err != nil {
			return err
		}
	}
	return a.using(cmd.Context(), o.set, func(b backend) error {
		s, err := make(b, req)
		if err != nil {
			return err
		}
		return a.printMade(s, o.json)
	})
}

// printMade prints the id of a snapshot that was asked for; on a terminal, what
// became of it as well.
func (a *app) printMade(s banyan.Snapshot, asJSON bool) error {
	if asJSON {
		return a.printJSON(s)
	}
	if a.errTTY {
		did := "was there already"
		if s.Created {
			did = "made in " + millis(s.WarmMS) + " ms"
		}
		fmt.Fprintf(a.stderr, "banyan: %s on %s, %s resident\n", did, cleanLine(string(s.Rung)), units.FormatSize(s.ResidentBytes))
	}
	return a.printf("%s\n", cleanLine(string(s.ID)))
}
