package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
)

// planOptions are the flags of plan.
type planOptions struct {
	job  jobOptions
	json bool
	set  *config.Set
}

// newPlanCmd makes "banyan plan"; runF replaces what it does, in tests.
func newPlanCmd(a *app, runF func(context.Context, *planOptions) error) *cobra.Command {
	o := &planOptions{}
	cmd := &cobra.Command{
		Use:     "plan [FILE|-]",
		Short:   "Say how a job would be run, and why",
		Long:    "Show which rung and snapshot a job would be given, by which route, and why. Nothing is run.",
		Example: "  banyan plan -c 'import pandas' --isolation container",
		Args:    between(0, 1, "one FILE, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := o.job.parse(cmd, args); err != nil {
				return err
			}
			if o.set, err = a.settings(cmd); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return a.planJob(cmd.Context(), o)
		},
	}
	o.job.addFlags(cmd)
	cmd.Flags().BoolVar(&o.json, "json", false, "print the plan as JSON")
	return cmd
}

func (a *app) planJob(ctx context.Context, o *planOptions) error {
	job, err := o.job.job(ctx, a)
	if err != nil {
		return err
	}
	return a.using(ctx, o.set, func(b backend) error {
		plan, err := b.Plan(ctx, job)
		if err != nil {
			return err
		}
		if o.json {
			return a.printJSON(plan)
		}
		return a.printf("%s", planText(plan))
	})
}

// planText explains a plan to people.
func planText(p planner.Plan) string {
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString(strings.TrimRight(cleanLine(fmt.Sprintf(format, args...)), " ") + "\n")
	}
	line("plan       %s on %s, about %s ms", route(p.Choice), p.Rung, millis(p.ExpectedMS))
	if len(p.Missing) > 0 {
		line("to add     %s", capabilities(p.Missing))
	}
	line("need       %s", needText(p.Need))
	if len(p.Fallbacks) > 0 {
		line("fallbacks  %s", joined(p.Fallbacks))
	}
	section := func(title string, n int) {
		if n > 0 {
			line("")
			line("%s", title)
		}
	}
	section("why", len(p.Why))
	for _, why := range p.Why {
		line("  - %s", why)
	}
	section("rungs (a lower score is better)", len(p.Rungs))
	for _, r := range p.Rungs {
		verdict := "score " + strconv.FormatFloat(r.Score, 'f', 1, 64)
		if r.LeftOut != "" {
			verdict = "left out: " + r.LeftOut
		}
		line("  %s %-11s %s", mark(r.Rung == p.Rung), r.Rung, verdict)
	}
	section("candidates", len(p.Candidates))
	for _, c := range p.Candidates {
		chosen := c.Snapshot == p.Snapshot && p.Snapshot != "" || c.Snapshot == p.Base && p.Base != ""
		line("  %s %s  %-6s  about %s ms  holds %s (%d beyond the need)",
			mark(chosen), c.Snapshot, c.Route, millis(c.ExpectedMS), capabilities(c.Holds), c.Extra)
	}
	return b.String()
}

// route says what the plan does.
func route(c planner.Choice) string {
	switch c.Route {
	case planner.RouteReuse:
		return fmt.Sprintf("fork the snapshot %s", c.Snapshot)
	case planner.RouteBranch:
		return fmt.Sprintf("branch the snapshot %s, then fork the branch", c.Base)
	case planner.RouteBoot:
		return "boot a new parent, then fork it"
	}
	return string(c.Route)
}

// needText says what the job needs.
func needText(n planner.Need) string {
	parts := []string{capabilities(n.Capabilities), "runtime " + string(n.Runtime), "isolation " + n.Isolation.String() + " or more", "match " + n.Match.String()}
	if n.Rung != "" {
		parts = append(parts, "rung "+string(n.Rung)+" only")
	}
	if n.Callbacks {
		parts = append(parts, "callbacks")
	}
	if n.Network {
		parts = append(parts, "network")
	}
	return strings.Join(parts, "; ")
}

func mark(chosen bool) string {
	if chosen {
		return "*"
	}
	return " "
}

// millis writes milliseconds with the digits that mean something.
func millis(ms float64) string {
	if ms < 10 {
		return strconv.FormatFloat(ms, 'f', 1, 64)
	}
	return strconv.FormatFloat(ms, 'f', 0, 64)
}

// capabilities writes capabilities as people do, "nothing" for none.
func capabilities(cs []ontology.Capability) string {
	if len(cs) == 0 {
		return "nothing"
	}
	names := make([]string, len(cs))
	for i, c := range cs {
		names[i] = c.Short()
	}
	return strings.Join(names, ", ")
}

func joined[T ~string](all []T) string {
	texts := make([]string, len(all))
	for i, s := range all {
		texts[i] = string(s)
	}
	return strings.Join(texts, ", ")
}
