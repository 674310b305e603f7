package main

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
	"github.com/seed-ff860830/banyan/ontology"
)

// snapshotOptions are the flags of the commands about named snapshots.
type snapshotOptions struct {
	ids  []ontology.SnapshotID
	json bool
	set  *config.Set
}

// newSnapshotCmd makes a command about snapshots named by their ids.
func newSnapshotCmd(a *app, use, about string, most int, run, runF func(context.Context, *snapshotOptions) error) *cobra.Command {
	o := &snapshotOptions{}
	want := "one SNAPSHOT"
	if most > 1 {
		want = "at least one SNAPSHOT"
	}
	cmd := &cobra.Command{
		Use: use, Short: about, Args: between(1, most, want), ValidArgsFunction: a.completeSnapshots,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			for _, arg := range args {
				o.ids = append(o.ids, ontology.SnapshotID(arg))
			}
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

// newSnapshotsShowCmd makes "banyan snapshots show".
func newSnapshotsShowCmd(a *app, runF func(context.Context, *snapshotOptions) error) *cobra.Command {
	return newSnapshotCmd(a, "show SNAPSHOT", "Show one snapshot", 1, a.showSnapshot, runF)
}

// newSnapshotsLineageCmd makes "banyan snapshots lineage".
func newSnapshotsLineageCmd(a *app, runF func(context.Context, *snapshotOptions) error) *cobra.Command {
	return newSnapshotCmd(a, "lineage SNAPSHOT", "Show what a snapshot was derived from and what from it", 1, a.showLineage, runF)
}

// newSnapshotsRmCmd makes "banyan snapshots rm".
func newSnapshotsRmCmd(a *app, runF func(context.Context, *snapshotOptions) error) *cobra.Command {
	cmd := newSnapshotCmd(a, "rm SNAPSHOT…", "End live snapshots; their nodes stay in the graph", 1000, a.removeSnapshots, runF)
	cmd.Long = "End live snapshots. What was branched from them lives on, and their nodes stay in the graph as retired."
	return cmd
}

func (a *app) showSnapshot(ctx context.Context, o *snapshotOptions) error {
	return a.using(ctx, o.set, func(b backend) error {
		s, err := b.Snapshot(ctx, o.ids[0])
		if err != nil {
			return err
		}
		if o.json {
			return a.printJSON(s)
		}
		expires := "-"
		if s.ExpiresAt != nil {
			expires = s.ExpiresAt.UTC().Format(time.RFC3339)
		}
		return a.pairs([][2]string{
			{"id", string(s.ID)},
			{"derived_from", parent(s)},
			{"state", s.State.String()},
			{"rung", string(s.Rung)},
			{"runtime", string(s.Runtime)},
			{"need", short(s.Need)},
			{"provides", a.provides(s.Provides)},
			{"spec_key", string(s.SpecKey)},
			{"warm_ms", millis(s.WarmMS)},
			{"resident_bytes", strconv.FormatInt(s.ResidentBytes, 10)},
			{"created_at", s.CreatedAt.UTC().Format(time.RFC3339)},
			{"expires_at", expires},
			{"node", s.Node},
			{"pid", strconv.Itoa(s.PID)},
			{"children", strconv.Itoa(s.Children)},
			{"forks", strconv.FormatInt(s.Forks, 10)},
		})
	})
}

// maxShownProvides is how many capabilities a terminal is shown.
const maxShownProvides = 24

// provides writes what a snapshot was observed to hold. One import of pandas
// loads some six hundred modules, which nobody reads off a terminal.
func (a *app) provides(all []ontology.Capability) string {
	if a.tty && len(all) > maxShownProvides {
		return strconv.Itoa(len(all)) + " capabilities (--json lists them)"
	}
	return short(all)
}

func (a *app) showLineage(ctx context.Context, o *snapshotOptions) error {
	return a.using(ctx, o.set, func(b backend) error {
		l, err := b.Lineage(ctx, o.ids[0])
		if err != nil {
			return err
		}
		if o.json {
			return a.printJSON(l)
		}
		all := make([]banyan.Snapshot, 0, len(l.Ancestors)+1+len(l.Descendants))
		for i := range l.Ancestors { // nearest first; the tree wants the trunk first
			all = append(all, l.Ancestors[len(l.Ancestors)-1-i])
		}
		return a.printTree(append(append(all, l.Snapshot), l.Descendants...))
	})
}

// removeSnapshots stops at the first that cannot be removed.
func (a *app) removeSnapshots(ctx context.Context, o *snapshotOptions) error {
	return a.using(ctx, o.set, func(b backend) error {
		removed := []ontology.SnapshotID{}
		var err error
		for _, id := range o.ids {
			if err = b.Remove(ctx, id); err != nil {
				break
			}
			removed = append(removed, id)
			if o.json {
				continue
			}
			if err = a.printf("%s\n", cleanLine(string(id))); err != nil {
				break
			}
		}
		if o.json {
			if perr := a.printJSON(list(removed)); err == nil {
				err = perr
			}
		}
		return err
	})
}

// pairs prints names and values, aligned on a terminal.
func (a *app) pairs(all [][2]string) error {
	rows := make([][]string, 0, len(all))
	for _, p := range all {
		rows = append(rows, p[:])
	}
	if a.tty {
		return a.table([]string{"NAME", "VALUE"}, rows)
	}
	return a.table(nil, rows)
}

// completeSnapshots offers the ids of live snapshots to a shell. It asks a
// running daemon only, and gives up before a person would notice.
func (a *app) completeSnapshots(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), 200*time.Millisecond)
	defer cancel()
	set, err := a.settings(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	b, err := a.daemon(ctx, set)
	if err != nil || b == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer func() { _ = b.Close() }() // it only gives connections back
	page, err := b.Snapshots(ctx, banyan.ListOptions{Limit: pageSize, Live: true})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []string
	for _, s := range page.Items {
		if s.ID.Valid() {
			ids = append(ids, string(s.ID)+"\t"+cleanLine(short(s.Need)))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
