package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// newRungsCmd makes "banyan rungs"; runF replaces what it does, in tests.
func newRungsCmd(a *app, runF func(context.Context, *showOptions) error) *cobra.Command {
	cmd := newShowCmd(a, "rungs", "List the ways to run a job, and which work here", a.listRungs, runF)
	cmd.Long = `List the rungs of the ladder, the cheapest first. Where standard output is no terminal,
each line has, separated by tabs: rung, rank, isolation, languages, warm forks, live
parents, reward, milliseconds of a fork, state.`
	return cmd
}

func (a *app) listRungs(ctx context.Context, o *showOptions) error {
	return a.using(ctx, o.set, func(b backend) error {
		all, err := b.Rungs(ctx)
		if err != nil {
			return err
		}
		if o.json {
			return a.printJSON(list(all))
		}
		rows := make([][]string, 0, len(all))
		for _, r := range all {
			languages := strings.Join(r.Languages, ",")
			if languages == "" {
				languages = "-"
			}
			rows = append(rows, []string{
				string(r.Rung), strconv.Itoa(r.Rank), r.Isolation.String(), languages, yesNo(r.WarmFork), strconv.Itoa(r.Parents),
				strconv.FormatFloat(r.Reward, 'f', 2, 64), strconv.FormatFloat(r.ForkMS, 'f', 2, 64), rungState(r),
			})
		}
		return a.table([]string{"RUNG", "RANK", "ISOLATION", "LANGUAGES", "WARM", "PARENTS", "REWARD", "FORK MS", "STATE"}, rows)
	})
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
