package main

import (
	"context"

	"github.com/spf13/cobra"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/ontology"
)

// newBranchCmd makes "banyan branch"; runF replaces what it does, in tests.
func newBranchCmd(a *app, runF func(context.Context, *warmOptions) error) *cobra.Command {
	o := &warmOptions{}
	cmd := &cobra.Command{
		Use:               "branch SNAPSHOT",
		Short:             "Derive a snapshot that holds more",
		Long:              "Fork a snapshot, import more into the fork, and seal it: a snapshot of its own. Its id is printed.",
		Example:           "  banyan branch sn_01JE… --need scipy",
		Args:              between(1, 1, "one SNAPSHOT"),
		ValidArgsFunction: a.completeSnapshots,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.from = ontology.SnapshotID(args[0])
			if !cmd.Flags().Changed("need") && o.setup == "" {
				return usage(cmd, "there is nothing to add: give --need or --setup")
			}
			return a.warmWith(cmd, o, runF, func(b backend, req banyan.WarmRequest) (banyan.Snapshot, error) {
				return b.Branch(cmd.Context(), o.from, req)
			})
		},
	}
	o.addFlags(cmd)
	return cmd
}
