package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	banyan "github.com/seed-ff860830/banyan"
)

// newDoctorCmd makes "banyan doctor"; runF replaces what it does, in tests.
func newDoctorCmd(a *app, runF func(context.Context, *showOptions) error) *cobra.Command {
	cmd := newShowCmd(a, "doctor", "Check what the engine stands on", a.doctor, runF)
	cmd.Long = `Check what the engine stands on: for each check that fails, what it costs and the command
that mends it. The exit code is 1 only if no rung works. Where standard output is no
terminal, each line has, separated by tabs: state, check, found, needed, costs, fix.`
	return cmd
}

func (a *app) doctor(ctx context.Context, o *showOptions) error {
	return a.using(ctx, o.set, func(b backend) error {
		rep, err := b.Doctor(ctx)
		if err != nil {
			return err
		}
		switch {
		case o.json:
			rep.Checks = list(rep.Checks).Items
			err = a.printJSON(rep)
		case a.tty:
			err = a.printf("%s", a.doctorText(rep))
		default:
			rows := make([][]string, 0, len(rep.Checks))
			for _, c := range rep.Checks {
				rows = append(rows, []string{c.State, c.Name, c.Found, c.Needed, c.Costs, c.Fix})
			}
			err = a.table(nil, rows)
		}
		if err == nil && !rep.OK {
			return exitError{1}
		}
		return err
	})
}

// doctorText writes a report for people.
func (a *app) doctorText(rep banyan.Report) string {
	styles := map[string]string{"ok": green, "warn": yellow, "fail": red}
	var b strings.Builder
	for _, c := range rep.Checks {
		state := cleanLine(c.State)
		pad := strings.Repeat(" ", max(0, 4-len(state)))
		if style, ok := styles[state]; ok {
			state = a.paint(style, state)
		}
		b.WriteString(state + pad + "  " + cleanLine(c.Name) + ": " + cleanLine(c.Found) + "\n")
		for _, more := range [][2]string{{"needed", c.Needed}, {"costs", c.Costs}, {"fix", c.Fix}} {
			if more[1] != "" {
				b.WriteString("      " + more[0] + ": " + cleanLine(more[1]) + "\n")
			}
		}
	}
	if rep.OK {
		b.WriteString("jobs can run here\n")
	} else {
		b.WriteString("no rung with walls works here\n")
	}
	return b.String()
}
