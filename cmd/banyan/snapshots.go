package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/units"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
)

// lsOptions are the flags of snapshots ls.
type lsOptions struct {
	all   bool
	limit int
	json  bool
	quiet bool
	set   *config.Set
}

// The bounds of a listing: snapshots in all, and of one request.
const (
	maxListed = 100_000
	pageSize  = 1000
)

// newSnapshotsCmd makes "banyan snapshots" with what is below it; alone it
// lists.
func newSnapshotsCmd(a *app) *cobra.Command {
	cmd := newSnapshotsLsCmd(a, nil)
	cmd.Use, cmd.Aliases = "snapshots", []string{"snapshot"}
	cmd.Short = "Show the tree of snapshots"
	cmd.Args = unknown
	cmd.AddCommand(newSnapshotsLsCmd(a, nil), newSnapshotsShowCmd(a, nil), newSnapshotsLineageCmd(a, nil), newSnapshotsRmCmd(a, nil))
	return cmd
}

// newSnapshotsLsCmd makes "banyan snapshots ls"; runF replaces what it does,
// in tests.
func newSnapshotsLsCmd(a *app, runF func(context.Context, *lsOptions) error) *cobra.Command {
	o := &lsOptions{}
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the snapshots as a tree",
		Long: `List the snapshots, each under the one it was derived from. Where standard output is
no terminal, each line has, separated by tabs: id, derived from, state, rung, runtime,
need, resident bytes, age in seconds, forks.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.limit < 1 || o.limit > maxListed {
				return usage(cmd, "--limit %d is not between 1 and %d", o.limit, maxListed)
			}
			if o.json && o.quiet {
				return usage(cmd, "give either --json or --quiet")
			}
			if o.set, err = a.settings(cmd); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return a.listSnapshots(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.all, "all", false, "also those that are gone")
	f.IntVar(&o.limit, "limit", 10_000, "the most to list")
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print ids only")
	return cmd
}

func (a *app) listSnapshots(ctx context.Context, o *lsOptions) error {
	return a.using(ctx, o.set, func(b backend) error {
		page, err := collect(ctx, b, banyan.ListOptions{Live: !o.all}, o.limit)
		if err != nil {
			return err
		}
		switch {
		case o.json:
			return a.printJSON(page)
		case o.quiet:
			for _, s := range page.Items {
				if err := a.printf("%s\n", cleanLine(string(s.ID))); err != nil {
					return err
				}
			}
		case len(page.Items) == 0:
			if a.errTTY {
				a.hint(o.set, "there are no snapshots")
			}
		default:
			err = a.printTree(page.Items)
		}
		if page.NextCursor != nil {
			a.hint(o.set, "there are more than %d snapshots (--limit)", o.limit)
		}
		return err
	})
}

// collect joins the pages of a listing up to limit snapshots. NextCursor is
// set if there are more.
func collect(ctx context.Context, b backend, opt banyan.ListOptions, limit int) (banyan.SnapshotPage, error) {
	all := banyan.SnapshotPage{Items: []banyan.Snapshot{}}
	for {
		opt.Limit = min(pageSize, limit-len(all.Items))
		page, err := b.Snapshots(ctx, opt)
		if err != nil {
			return all, err
		}
		all.Items = append(all.Items, page.Items...)
		all.NextCursor = page.NextCursor
		if page.NextCursor == nil || len(all.Items) >= limit {
			return all, nil
		}
		// A page that brings nothing new would be asked for again for ever.
		if len(page.Items) == 0 || *page.NextCursor == opt.Cursor {
			return all, errs.New(errs.Unavailable, "the listing of snapshots does not come to an end")
		}
		opt.Cursor = *page.NextCursor
	}
}

// printTree prints snapshots as a tree on a terminal, else as they come.
func (a *app) printTree(all []banyan.Snapshot) error {
	if !a.tty {
		rows := make([][]string, 0, len(all))
		for _, s := range all {
			rows = append(rows, []string{
				string(s.ID), parent(s), s.State.String(), string(s.Rung), string(s.Runtime), short(s.Need),
				strconv.FormatInt(s.ResidentBytes, 10), strconv.FormatInt(a.age(s), 10), strconv.FormatInt(s.Forks, 10),
			})
		}
		return a.table(nil, rows)
	}
	header := []string{"SNAPSHOT", "STATE", "RUNG", "RUNTIME", "NEED", "RESIDENT", "AGE", "FORKS"}
	rows := make([][]string, 0, len(all))
	for _, n := range treeOf(all) {
		s := all[n.index]
		rows = append(rows, []string{
			n.lead + string(s.ID), s.State.String(), string(s.Rung), string(s.Runtime), short(s.Need),
			units.FormatSize(s.ResidentBytes), units.FormatAge(a.now().Sub(s.CreatedAt)), strconv.FormatInt(s.Forks, 10),
		})
	}
	return a.table(header, rows)
}

// age returns a snapshot's age in seconds; clocks that differ give no
// negative one.
func (a *app) age(s banyan.Snapshot) int64 {
	return max(0, int64(a.now().Sub(s.CreatedAt)/time.Second))
}

func parent(s banyan.Snapshot) string {
	if s.DerivedFrom == nil {
		return "-"
	}
	return string(*s.DerivedFrom)
}

// short writes a need in one cell.
func short(cs []ontology.Capability) string {
	if len(cs) == 0 {
		return "-"
	}
	names := make([]string, len(cs))
	for i, c := range cs {
		names[i] = c.Short()
	}
	return strings.Join(names, ",")
}
