package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
)

// A store whose files are damaged can make the database panic in a goroutine
// of its own, loop, or ask for all memory there is. So a store is checked by a
// child process: whatever becomes of that is a verdict.

// childName is the hidden command that checks a store and prints the outcome
// as JSON.
const childName = "fsck-child"

// The bounds of a child: how long the check before an opening may take, and
// how much is read of what the child says, in bytes.
const (
	openCheckTime = 10 * time.Minute
	maxChildJSON  = 4 << 20
	maxChildTrace = 64 << 10
)

// checked is what a child prints: one of the two.
type checked struct {
	Report *kg.FsckReport `json:"report,omitempty"`
	Error  *childError    `json:"error,omitempty"`
}

// childError is an error on its way from the child.
type childError struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// graphFolder is the store's folder within the data folder.
func graphFolder(data string) string { return filepath.Join(data, "graph") }

// newFsckChildCmd makes the hidden command. It ends when its standard input
// does, which is when its parent dies.
func newFsckChildCmd(a *app) *cobra.Command {
	var quick bool
	cmd := &cobra.Command{
		Use: childName + " DIR", Hidden: true, Args: between(1, 1, "one DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := context.WithCancel(cmd.Context())
			defer cancel()
			go func() {
				_, _ = io.Copy(io.Discard, a.stdin)
				cancel()
			}()
			rep, err := kg.Fsck(ctx, args[0], kg.FsckOptions{Quick: quick})
			out := checked{Report: &rep}
			if err != nil {
				out = checked{Error: &childError{errs.KindOf(err).String(), sentence(err), errs.HintOf(err)}}
			}
			return a.printJSON(out)
		},
	}
	cmd.Flags().BoolVar(&quick, "quick", false, "leave out what reads every row")
	return cmd
}

// fsckInChild checks the store in a folder. What a child that died left on
// standard error goes to the log.
func fsckInChild(ctx context.Context, dir string, quick bool, bound time.Duration, log *slog.Logger) (kg.FsckReport, error) {
	args := []string{os.Args[0], childName, dir}
	if quick {
		args = append(args, "--quick")
	}
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	out, trace, err := runChild(ctx, args)
	rep, verr := childVerdict(ctx, out, err)
	if err != nil {
		log.DebugContext(ctx, "the check of the store died", "error", err, "trace", string(trace))
	}
	return rep, verr
}

// childVerdict is what a check came to, by what the child printed and how it
// ended. A child that did not live to tell is the verdict that the store cannot
// be read.
func childVerdict(ctx context.Context, out []byte, ended error) (kg.FsckReport, error) {
	var got checked
	said := ended == nil && json.Unmarshal(out, &got) == nil && (got.Report != nil) != (got.Error != nil)
	switch {
	case said && got.Report != nil:
		return *got.Report, nil
	case said:
		e := errs.New(errs.ParseKind(got.Error.Kind), "%s", got.Error.Message)
		e.Hint = got.Error.Hint
		return kg.FsckReport{}, e
	case errors.Is(ctx.Err(), context.Canceled):
		return kg.FsckReport{}, errs.Wrap(errs.Canceled, ctx.Err(), "interrupted")
	case errors.Is(ended, errNoChild):
		return kg.FsckReport{}, errs.Wrap(errs.Internal, ended, "the check of the store could not be started")
	}
	how := "the process that read it died"
	if ctx.Err() != nil {
		how = "its reading came to no end"
	}
	return kg.FsckReport{
		Verdict: kg.FsckUnreadable, Hint: restoreHint,
		Checks: []kg.FsckCheck{{Check: "read", Detail: "the database could not be read: " + how}},
	}, nil
}

// restoreHint is what helps with a damaged store, as a command.
const restoreHint = "banyan restore --force BACKUP"

// errNoChild says that no child could be started at all, which says nothing of
// the store.
var errNoChild = errors.New("no child process")

// runChild runs this program with other arguments and returns what it printed.
func runChild(ctx context.Context, args []string) (out, trace []byte, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, errors.Join(errNoChild, err)
	}
	stdout, stderr := &headBuffer{most: maxChildJSON}, &headBuffer{most: maxChildTrace}
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = args
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = time.Second
	alive, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, errors.Join(errNoChild, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, errors.Join(errNoChild, err, alive.Close())
	}
	err = cmd.Wait() // it closes the pipe as well
	return stdout.b.Bytes(), stderr.b.Bytes(), err
}

// headBuffer keeps the first bytes that are written to it.
type headBuffer struct {
	b    bytes.Buffer
	most int
}

// Write implements io.Writer; it never fails, so that the child is not stopped
// by what it says.
func (h *headBuffer) Write(p []byte) (int, error) {
	h.b.Write(p[:min(len(p), h.most-h.b.Len())])
	return len(p), nil
}

// soundStore refuses to go on with a store that is damaged. One that is not
// there yet is sound.
func soundStore(ctx context.Context, set *config.Set, log *slog.Logger) error {
	dir := graphFolder(set.String(config.Data))
	if !storeIn(dir) {
		return nil // made by the engine, which also says why it cannot be
	}
	rep, err := fsckInChild(ctx, dir, true, openCheckTime, log)
	if err != nil || rep.Clean() {
		return err
	}
	return damaged(rep)
}

// damaged is the error of a store that is not to be opened.
func damaged(rep kg.FsckReport) error {
	e := errs.New(errs.Corrupt, "the store is damaged and is not opened").WithHint("%s", restoreHint)
	for _, c := range rep.Checks {
		if !c.OK {
			e.Parts = append(e.Parts, errs.Part{Pointer: c.Place, Detail: c.Check + ": " + c.Detail})
		}
	}
	return e
}
