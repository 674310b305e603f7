package main

import (
	"context"

	"github.com/spf13/cobra"
)

// newConfigCmd makes "banyan config"; runF replaces what it does, in tests.
func newConfigCmd(a *app, runF func(context.Context, *showOptions) error) *cobra.Command {
	cmd := newShowCmd(a, "config", "Show each setting and where it came from", a.showConfig, runF)
	cmd.Long = `Show each setting with its value and origin. A flag goes before the environment, which
goes before the configuration file, which goes before the default.`
	return cmd
}

func (a *app) showConfig(_ context.Context, o *showOptions) error {
	if o.json {
		return a.printJSON(list(o.set.Values()))
	}
	var rows [][]string
	for _, v := range o.set.Values() {
		rows = append(rows, []string{string(v.Key), v.Value, v.Origin})
	}
	return a.table([]string{"SETTING", "VALUE", "ORIGIN"}, rows)
}
