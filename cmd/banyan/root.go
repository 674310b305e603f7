package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
)

const rootLong = `Banyan runs code snippets in sandboxes that start warm: a runtime is booted once,
the heavy libraries are imported once, and each job is a copy-on-write fork.

Without a daemon every command works in its own process, but nothing stays warm.
Settings come from flags, BANYAN_… variables, and the configuration file, in this
order; "banyan config" shows each with its origin.`

// newRootCmd makes the command tree.
func newRootCmd(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "banyan",
		Short:         "Warm, forked sandboxes for code",
		Long:          rootLong,
		Args:          unknown,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usage(cmd, "%v", err) })
	flags := root.PersistentFlags()
	flags.StringVar(&a.configFile, "config", "", "configuration file (default: banyan/config.yaml in the user's configuration folder)")
	addSettings(flags, config.URL, config.Data, config.TokenFile, config.LogLevel)
	root.AddCommand(
		newServeCmd(a, nil), newRunCmd(a, nil), newPlanCmd(a, nil), newWarmCmd(a, nil), newBranchCmd(a, nil),
		newSnapshotsCmd(a), newImportCmd(a, nil), newExportCmd(a, nil),
		newQueryCmd(a, nil), newUpdateCmd(a, nil), newStatusCmd(a, nil), newDoctorCmd(a, nil),
		newFsckCmd(a, nil), newFsckChildCmd(a), newBackupCmd(a, nil), newRestoreCmd(a, nil),
		newRungsCmd(a, nil), newReapCmd(a, nil), newConfigCmd(a, nil), newVersionCmd(a),
	)
	root.SetHelpCommand(newHelpCmd())
	strictCompletion(root)
	return root
}

// strictCompletion makes a shell that cobra's completion does not know an
// error; as it is, that prints help and ends well.
func strictCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.Args = unknown
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}

// newHelpCmd is cobra's help but for a topic that is not there, which is an
// error.
func newHelpCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show what a command does",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || found == nil {
				return unknown(cmd.Root(), args)
			}
			if len(rest) > 0 {
				return unknown(found, rest)
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

// absolutePath returns a path that another working directory does not change.
func absolutePath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
