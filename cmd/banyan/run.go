package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/artifacts"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
)

// runOptions are the flags of run.
type runOptions struct {
	job          jobOptions
	artifactsDir string
	json         bool
	set          *config.Set
}

const runExample = `  banyan run -c 'print(6*7)'
  banyan run analysis.py --file data.csv --artifacts '*.png' --artifacts-dir out
  banyan run - --need numpy,pandas --timeout 10s --memory 256MiB <job.py`

// newRunCmd makes "banyan run"; runF replaces what it does, in tests.
func newRunCmd(a *app, runF func(context.Context, *runOptions) error) *cobra.Command {
	o := &runOptions{}
	cmd := &cobra.Command{
		Use:   "run [FILE|-]",
		Short: "Plan and execute a job",
		Long: `Run a program in a fork of a warm parent. Standard output, standard error and the
exit code are the program's own; 124 means that its time ran out, 137 that it was
killed, for its memory or otherwise.`,
		Example: runExample,
		Args:    between(0, 1, "one FILE, or - for standard input (an argument of the program is --arg)"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := o.job.parse(cmd, args); err != nil {
				return err
			}
			if len(o.job.artifacts) > 0 && o.artifactsDir == "" && !o.json {
				return usage(cmd, "--artifacts needs --artifacts-dir DIR to write to, or --json")
			}
			if o.set, err = a.settings(cmd); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return a.runJob(cmd.Context(), o)
		},
	}
	o.job.addFlags(cmd)
	cmd.Flags().StringVar(&o.artifactsDir, "artifacts-dir", "", "folder that the files brought back are written to")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the result as JSON")
	return cmd
}

// runJob executes the job and gives its output, files and exit code on.
func (a *app) runJob(ctx context.Context, o *runOptions) error {
	job, err := o.job.job(ctx, a)
	if err != nil {
		return err
	}
	return a.using(ctx, o.set, func(b backend) error {
		res, err := b.Execute(ctx, job)
		if err != nil {
			return err
		}
		if err := a.printResult(res, o.json); err != nil {
			return err
		}
		if o.artifactsDir != "" {
			if err := writeArtifacts(o.artifactsDir, res.Artifacts); err != nil {
				return err
			}
		}
		if !o.json {
			a.explainEnd(res)
		}
		if code := exitCode(res); code != 0 {
			return exitError{code}
		}
		return nil
	})
}

// printResult writes the job's own bytes, or the whole result as JSON.
func (a *app) printResult(res *banyan.Result, asJSON bool) error {
	if asJSON {
		return a.printJSON(res)
	}
	for _, s := range []struct {
		w    io.Writer
		text string
		b64  *string
	}{{a.stdout, res.Stdout, res.StdoutBase64}, {a.stderr, res.Stderr, res.StderrBase64}} {
		data, err := streamBytes(s.text, s.b64)
		if err != nil {
			return err
		}
		if _, err := s.w.Write(data); err != nil {
			return wrote(err)
		}
	}
	return nil
}

// streamBytes returns a stream as the job wrote it.
func streamBytes(text string, b64 *string) ([]byte, error) {
	if b64 == nil {
		return []byte(text), nil
	}
	data, err := base64.StdEncoding.DecodeString(*b64)
	if err != nil {
		return nil, errs.Wrap(errs.Unavailable, err, "the result's output cannot be decoded")
	}
	return data, nil
}

// exitCode is the process's exit code for a job's outcome. A job that did not
// end well never gives 0.
func exitCode(res *banyan.Result) int {
	switch res.Status {
	case rungs.StatusOK:
		return 0
	case rungs.StatusTimeout:
		return 124
	case rungs.StatusMemory, rungs.StatusKilled, rungs.StatusOutput:
		return 137
	}
	if code := res.ExitCode & 0xff; code != 0 {
		return code
	}
	return 1
}

// explainEnd says on a terminal what the exit code alone leaves open. Where
// standard error is read by a program it stays the job's own.
func (a *app) explainEnd(res *banyan.Result) {
	if !a.errTTY {
		return
	}
	say := func(format string, args ...any) {
		fmt.Fprintf(a.stderr, "banyan: "+format+"\n", args...)
	}
	switch res.Status {
	case rungs.StatusTimeout:
		say("the job's time ran out (--timeout)")
	case rungs.StatusMemory:
		say("the job was killed for its memory (--memory)")
	case rungs.StatusOutput:
		say("the job was killed for its output (--output)")
	case rungs.StatusKilled:
		say("the job was killed")
	}
	if res.Truncated.Stdout || res.Truncated.Stderr {
		say("the output was cut at its limit (--output)")
	}
	for _, s := range res.Skipped {
		say("not brought back: %s", cleanLine(s))
	}
	for _, s := range res.Enforced.Missing {
		say("a wall was missing: %s", cleanLine(s))
	}
}

// writeArtifacts writes the files that a job left behind.
func writeArtifacts(dir string, from []banyan.Artifact) error {
	files := make([]artifacts.File, 0, len(from))
	for _, f := range from {
		data, err := base64.StdEncoding.DecodeString(f.Base64)
		if err != nil || len(data) != f.Bytes {
			return errs.New(errs.Unavailable, "the artifact %q did not arrive whole", f.Path)
		}
		files = append(files, artifacts.File{Path: f.Path, Data: data})
	}
	return artifacts.Write(dir, files)
}
