package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-ff860830/banyan/cmd/banyan/internal/client"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/sock"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/units"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
)

// fsckOptions are the flags of fsck.
type fsckOptions struct {
	full    bool
	timeout string
	json    bool
	set     *config.Set

	within time.Duration
}

// fsckTime bounds a check that the user did not bound.
const fsckTime = 24 * time.Hour

// newFsckCmd makes "banyan fsck"; runF replaces what it does, in tests.
func newFsckCmd(a *app, runF func(context.Context, *fsckOptions) error) *cobra.Command {
	o := &fsckOptions{}
	cmd := &cobra.Command{
		Use:   "fsck",
		Short: "Check the store",
		Long: `Check the store in the data folder, which no process may have open. Every file is read
and its checksums are compared; with --full every row is counted and followed as well.
Nothing is changed. The exit code is 0 only if all was looked at and found good, and 5 if
the store is damaged or could not be looked at. Where standard output is no terminal, the
first line has, separated by tabs: verdict, commit, triples, bytes; each further one: ok or
bad, check, place, what was found.`,
		Example: "  banyan fsck --full",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.within, err = positiveDuration(cmd, "timeout", o.timeout); err != nil {
				return err
			}
			if o.set, err = a.settings(cmd); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return a.fsck(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.full, "full", false, "read every row as well")
	f.StringVar(&o.timeout, "timeout", "", "limit on the time, after which the store counts as one that cannot be read (default: 24h)")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// fsck checks and prints.
func (a *app) fsck(ctx context.Context, o *fsckOptions) error {
	if err := needData(o.set); err != nil {
		return err
	}
	if err := offline(ctx, o.set, "fsck"); err != nil {
		return a.notChecked(err)
	}
	dir := o.set.String(config.Data)
	bound := o.within
	if bound == 0 {
		bound = fsckTime
	}
	rep, err := fsckInChild(ctx, graphFolder(dir), !o.full, bound, a.logger(o.set, "off"))
	switch errs.KindOf(err) {
	case errs.Conflict:
		return a.notChecked(errs.New(errs.Conflict, "%s: %s", absolutePath(dir), errs.Public(err)).WithHint("%s", "stop that process, then: banyan fsck"))
	case errs.NotFound:
		return errs.New(errs.NotFound, "there is no store in %s", absolutePath(dir)).WithHint("banyan --data DIR fsck")
	}
	if err != nil {
		return err
	}
	if o.json {
		err = a.printJSON(rep)
	} else {
		err = a.printFsck(rep)
	}
	if err == nil && !rep.Clean() {
		err = exitError{errs.Corrupt.ExitCode()}
	}
	return err
}

// notChecked says why a store was not looked at. Whoever asks whether it is
// sound must not take that for a yes, nor for a fault of the command.
func (a *app) notChecked(err error) error {
	a.printError(err)
	return exitError{errs.Corrupt.ExitCode()}
}

// offline refuses where a daemon serves the data folder, and names it.
func offline(ctx context.Context, set *config.Set, verb string) error {
	path := absolutePath(sock.Path(set.String(config.Data)))
	if _, err := sock.Owner(path); err != nil {
		return nil
	}
	c, err := probe(ctx, client.Config{URL: client.UnixURL(path)})
	if c == nil || err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // nothing was sent
	return errs.New(errs.Conflict, "the daemon at %s has the store open", c.Name()).WithHint("stop the daemon, then: banyan %s", verb)
}

// printFsck prints a verdict and what led to it.
func (a *app) printFsck(rep kg.FsckReport) error {
	if !a.tty {
		if err := a.printf("%s\t%d\t%d\t%d\n", rep.Verdict, rep.Commit, rep.Triples, rep.Bytes); err != nil {
			return err
		}
	}
	rows := make([][]string, 0, len(rep.Checks))
	for _, c := range rep.Checks {
		state := "ok"
		if !c.OK {
			state = "bad"
		}
		rows = append(rows, []string{state, c.Check, c.Place, c.Detail})
	}
	if err := a.table([]string{"STATE", "CHECK", "PLACE", "FOUND"}, rows); err != nil {
		return err
	}
	if a.tty {
		style := green
		if !rep.Clean() {
			style = red
		}
		if err := a.printf("%s: commit %d, %s, %s\n", a.paint(style, string(rep.Verdict)), rep.Commit,
			plural(rep.Triples, "triple", "triples"), units.FormatSize(rep.Bytes)); err != nil {
			return err
		}
	}
	if !rep.Clean() {
		fmt.Fprintln(a.stderr, "Try: "+restoreHint)
	}
	return nil
}

// plural writes how many there are of a thing that may be very many.
func plural(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatUint(n, 10) + " " + many
}
