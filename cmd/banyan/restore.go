package main

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
)

// restoreOptions are the flags of restore.
type restoreOptions struct {
	file  string
	force bool
	json  bool
	set   *config.Set
}

// newRestoreCmd makes "banyan restore"; runF replaces what it does, in tests.
func newRestoreCmd(a *app, runF func(context.Context, *restoreOptions) error) *cobra.Command {
	o := &restoreOptions{}
	cmd := &cobra.Command{
		Use:   "restore FILE|-",
		Short: "Make the store anew from a backup",
		Long: `Make the store in the data folder anew from what "banyan backup" wrote; no process may
have it open. The new store takes its place in one step, once the whole backup was found
good. With --force a store that is there, damaged or not, is moved aside and kept. Where
standard output is no terminal, the line has, separated by tabs: commit, triples, the
folder beside the store that the former one is in now, or -.`,
		Example: "  banyan restore --force graph.backup",
		Args:    between(1, 1, "one FILE"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			o.file = args[0]
			if o.set, err = a.settings(cmd); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return a.restore(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.force, "force", false, "move a store that is there aside")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// restore reads a backup into the data folder.
func (a *app) restore(ctx context.Context, o *restoreOptions) error {
	if err := needData(o.set); err != nil {
		return err
	}
	if err := offline(ctx, o.set, "restore"); err != nil {
		return err
	}
	src, err := a.openBackup(o.file)
	if err != nil {
		return err
	}
	defer src.Close()
	dir := o.set.String(config.Data)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return cannotWrite(dir, err)
	}
	if !o.force && storeIn(graphFolder(dir)) {
		return errs.New(errs.Conflict, "there is a store in %s already; with --force it is kept beside the new one", absolutePath(dir)).
			WithHint("banyan restore --data %s --force %s", shellQuote(absolutePath(dir)), shellQuote(o.file))
	}
	rep, err := kg.Restore(ctx, graphFolder(dir), src, kg.RestoreOptions{Force: o.force})
	var known *errs.Error
	if errors.As(err, &known) && known.Kind == errs.Conflict {
		return known.WithID(absolutePath(dir))
	}
	if err != nil {
		return err
	}
	aside := rep.Aside
	switch {
	case o.json:
		return a.printJSON(rep)
	case !a.tty && aside == "":
		aside = "-"
		fallthrough
	case !a.tty:
		return a.printf("%d\t%d\t%s\n", rep.Commit, rep.Triples, cleanLine(aside))
	}
	if err := a.printf("restored %s of commit %d\n", plural(rep.Triples, "triple", "triples"), rep.Commit); err != nil || aside == "" {
		return err
	}
	return a.printf("the former store is kept in %s beside it\n", cleanLine(aside))
}

// openBackup opens what a backup is read from.
func (a *app) openBackup(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(a.stdin), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, openError(path, err)
	}
	if st, err := f.Stat(); err != nil || st.IsDir() {
		f.Close()
		return nil, errs.New(errs.Invalid, "%s is a folder and no file", path)
	}
	return f, nil
}

// storeIn reports whether a folder holds anything to be lost: more than the
// file that says who has it open.
func storeIn(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() != "OWNER" })
}
