package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
)

// reapOptions are the flags of reap.
type reapOptions struct {
	all  bool
	json bool
	set  *config.Set
}

// newReapCmd makes "banyan reap"; runF replaces what it does, in tests.
func newReapCmd(a *app, runF func(context.Context, *reapOptions) error) *cobra.Command {
	o := &reapOptions{}
	cmd := &cobra.Command{
		Use:   "reap",
		Short: "Close warm parents that are idle past their time",
		Long:  "Close the warm parents that are idle past their time or, with --all, every one that no job uses. How many is printed.",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.set, err = a.settings(cmd); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return a.reap(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "every parent that no job uses")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func (a *app) reap(ctx context.Context, o *reapOptions) error {
	return a.using(ctx, o.set, func(b backend) error {
		n, err := b.Reap(ctx, o.all)
		if err != nil {
			return err
		}
		if o.json {
			return a.printJSON(map[string]int{"reaped": n})
		}
		return a.printf("%d\n", n)
	})
}
