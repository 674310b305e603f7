package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write docs/CLI.md anew")

const cliDoc = "../../docs/CLI.md"

const cliDocHead = `# The command line

Made from the command tree by ` + "`go test ./cmd/banyan -run TestCLIPage -update`" + `; do not edit. Exit codes and the output of
` + "`--json`" + ` are described in [CLI_JSON.md](CLI_JSON.md).

Every setting has a variable ` + "`BANYAN_…`" + `, most have a flag, and each may be a line ` + "`key: value`" + ` of the configuration file
(` + "`$XDG_CONFIG_HOME/banyan/config.yaml`" + `, ` + "`~/.config/banyan/config.yaml`" + `, or ` + "`/etc/banyan/config.yaml`" + ` for the
superuser); a flag goes before the environment, which goes before the file. ` + "`banyan config`" + ` shows each with its origin.
`

// TestCLIPage holds docs/CLI.md to the command tree.
func TestCLIPage(t *testing.T) {
	var b strings.Builder
	b.WriteString(cliDocHead)
	root := newRootCmd(newTestApp(t).app)
	b.WriteString("\n## Flags of every command\n\n")
	writeFlags(&b, root.PersistentFlags())
	writeCommands(&b, root)
	got := b.String()
	if *update {
		if err := os.WriteFile(cliDoc, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(cliDoc)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/CLI.md is not current; run: go test ./cmd/banyan -run TestCLIPage -update (-page +commands):\n%s", diff)
	}
}

func writeCommands(b *strings.Builder, parent *cobra.Command) {
	cmds := slices.Clone(parent.Commands())
	slices.SortFunc(cmds, func(x, y *cobra.Command) int { return strings.Compare(x.Name(), y.Name()) })
	for _, cmd := range cmds {
		if cmd.Name() == "help" || cmd.Name() == "completion" || cmd.Hidden {
			continue
		}
		fmt.Fprintf(b, "\n## `%s`\n\n", strings.TrimSuffix(cmd.UseLine(), " [flags]"))
		about := cmd.Long
		if about == "" {
			about = cmd.Short + "."
		}
		b.WriteString(about + "\n")
		if cmd.Example != "" {
			b.WriteString("\n```sh\n" + strings.ReplaceAll(strings.TrimPrefix(cmd.Example, "  "), "\n  ", "\n") + "\n```\n")
		}
		if cmd.LocalNonPersistentFlags().HasAvailableFlags() {
			b.WriteString("\n")
			writeFlags(b, cmd.LocalNonPersistentFlags())
		}
		writeCommands(b, cmd)
	}
}

func writeFlags(b *strings.Builder, flags *pflag.FlagSet) {
	b.WriteString("| flag | means |\n|---|---|\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Hidden {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", name, strings.ReplaceAll(f.Usage, "|", `\|`))
	})
}
