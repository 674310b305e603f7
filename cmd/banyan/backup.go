package main

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/units"
	"github.com/seed-ff860830/banyan/kg"
)

// backupOptions are the flags of backup.
type backupOptions struct {
	file  string
	force bool
	json  bool
	set   *config.Set
}

// newBackupCmd makes "banyan backup"; runF replaces what it does, in tests.
func newBackupCmd(a *app, runF func(context.Context, *backupOptions) error) *cobra.Command {
	o := &backupOptions{}
	cmd := &cobra.Command{
		Use:   "backup FILE|-",
		Short: "Back the store up, also while it serves",
		Long: `Write all graphs, as they stand at one commit, to a file that "banyan restore" reads.
The file is there wholly or not at all, and only its owner may read it. With - the backup
goes to standard output. Where standard output is no terminal, the line has, separated by
tabs: commit, triples, bytes, SHA-256.`,
		Example: "  banyan backup graph.backup",
		Args:    between(1, 1, "one FILE"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			o.file = args[0]
			switch {
			case o.file == "-" && o.json:
				return usage(cmd, "standard output cannot be both the backup and JSON")
			case o.file == "-" && a.tty:
				return usage(cmd, "a backup is nothing for a terminal: give a file")
			}
			if o.set, err = a.settings(cmd); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return a.backup(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.force, "force", false, "replace a file that is there")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// backup writes a backup and says what it holds.
func (a *app) backup(ctx context.Context, o *backupOptions) error {
	if o.file != "-" {
		// A file in the way is found out before an engine is started.
		if _, err := writable(o.file, o.force); err != nil {
			return err
		}
	}
	return a.using(ctx, o.set, func(b backend) (err error) {
		var rep kg.BackupReport
		fill := func(w io.Writer) error {
			buf := bufio.NewWriterSize(w, 256<<10)
			if rep, err = b.Backup(ctx, buf); err != nil {
				return err
			}
			return buf.Flush()
		}
		if o.file == "-" {
			if err := fill(a.stdout); err != nil {
				return err
			}
			fmt.Fprintln(a.stderr, backupText(rep))
			return nil
		}
		if err := writeWhole(o.file, o.force, fill); err != nil {
			return err
		}
		switch {
		case o.json:
			return a.printJSON(rep)
		case !a.tty:
			return a.printf("%d\t%d\t%d\t%s\n", rep.Commit, rep.Triples, rep.Bytes, cleanLine(rep.SHA256))
		}
		return a.printf("%s\n", backupText(rep))
	})
}

// backupText says what a backup holds.
func backupText(rep kg.BackupReport) string {
	return fmt.Sprintf("%s, %s, commit %d", plural(rep.Triples, "triple", "triples"), units.FormatSize(rep.Bytes), rep.Commit)
}
