package main

import (
	"context"

	"github.com/spf13/cobra"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
	"github.com/seed-ff860830/banyan/ontology"
)

// exportOptions are the flags of export.
type exportOptions struct {
	graph  string
	format string
	set    *config.Set
}

// newExportCmd makes "banyan export"; runF replaces what it does, in tests.
func newExportCmd(a *app, runF func(context.Context, *exportOptions) error) *cobra.Command {
	o := &exportOptions{}
	cmd := &cobra.Command{
		Use:     "export",
		Short:   "Write the graph, or one of its graphs, to standard output",
		Example: "  banyan export --format nquads >graph.nq",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			switch o.format {
			case "turtle", "ntriples", "nquads":
			default:
				return usage(cmd, "--format %q is not one of turtle, ntriples, nquads", o.format)
			}
			if o.set, err = a.settings(cmd); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return a.export(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.graph, "graph", "", "IRI of the one graph to write (default: all)")
	cmd.Flags().StringVar(&o.format, "format", "turtle", "turtle, ntriples or nquads; only nquads keeps apart which graph a triple is in")
	return cmd
}

func (a *app) export(ctx context.Context, o *exportOptions) error {
	return a.using(ctx, o.set, func(b backend) error {
		return b.Export(ctx, a.stdout, banyan.ExportOptions{Graph: ontology.IRI(o.graph), Format: o.format})
	})
}
