package main

import (
	"context"
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/units"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
)

// jobOptions are the flags that describe a job, the same for run and plan.
type jobOptions struct {
	file      string // the positional argument; "" if there was none
	code      string
	hasCode   bool
	need      needFlag
	runtime   string
	rung      string
	isolation string
	match     string
	files     []string
	args      []string
	env       []string
	stdin     string
	timeout   string
	cpu       string
	memory    string
	pids      int64
	output    string
	artifacts []string
}

// addFlags adds the flags of a job to a command.
func (o *jobOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.code, "code", "c", "", "the code itself, in place of a file")
	o.need.add(f)
	f.StringVar(&o.runtime, "runtime", "", "runtime, such as python")
	f.StringVar(&o.rung, "rung", "", "run on this rung only")
	f.StringVar(&o.isolation, "isolation", "", "the least isolation that will do: none, process, wasm, container, microvm")
	f.StringVar(&o.match, "match", "", "snapshots that may serve: superset or exact")
	f.StringArrayVar(&o.files, "file", nil, "file for the work directory, PATH or PATH=NAME; repeatable")
	f.StringArrayVar(&o.args, "arg", nil, "argument of the program; repeatable")
	f.StringArrayVar(&o.env, "env", nil, "environment variable, NAME=VALUE; repeatable")
	f.StringVar(&o.stdin, "stdin", "", "file for the program's standard input, - for this one's (default: empty)")
	f.StringVar(&o.timeout, "timeout", "", "limit on wall time, such as 30s")
	f.StringVar(&o.cpu, "cpu", "", "limit on processor time (default: 30s, or --timeout where that is longer)")
	f.StringVar(&o.memory, "memory", "", "limit on memory, such as 512MiB")
	f.Int64Var(&o.pids, "pids", 0, "limit on processes and threads")
	f.StringVar(&o.output, "output", "", "limit on each of standard output and error, such as 1MiB")
	f.StringArrayVar(&o.artifacts, "artifacts", nil, "pattern of files to bring back, such as '*.png'; repeatable")
}

// parse takes what the command line gave.
func (o *jobOptions) parse(cmd *cobra.Command, args []string) error {
	o.hasCode = cmd.Flags().Changed("code")
	o.need.given = cmd.Flags().Changed("need")
	if len(args) == 1 {
		o.file = args[0]
	}
	switch {
	case o.hasCode && len(args) > 0:
		return usage(cmd, "give either a file or -c, not both; an argument of the program is --arg %s", shellQuote(args[0]))
	case !o.hasCode && len(args) == 0:
		return usage(cmd, "there is nothing to run: give a file, - for standard input, or -c CODE")
	case o.file == "-" && o.stdin == "-":
		return usage(cmd, "standard input cannot be both the code and the program's input")
	case cmd.Flags().Changed("pids") && o.pids < 1:
		return usage(cmd, "--pids %d is not above zero", o.pids)
	}
	return nil
}

// job makes the job, reading its files.
func (o *jobOptions) job(ctx context.Context, a *app) (banyan.Job, error) {
	job := banyan.Job{
		Runtime: ontology.RuntimeID(o.runtime), Rung: ontology.RungName(o.rung),
		Need: o.need.names(), Args: o.args, Artifacts: o.artifacts,
	}
	var err error
	steps := []func() error{
		func() error { return o.policies(&job) },
		func() error { return o.limits(&job.Limits) },
		func() error { job.Env, err = parseEnv(o.env); return err },
		func() error { job.Code, err = o.readCode(ctx, a); return err },
		func() error { job.Stdin, err = o.readStdin(ctx, a); return err },
		func() error { job.Files, err = readFiles(o.files); return err },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return banyan.Job{}, err
		}
	}
	for _, texts := range [][]string{o.args, o.artifacts, job.Need, {o.runtime, o.rung}} {
		for _, s := range texts {
			if !utf8.ValidString(s) {
				return banyan.Job{}, errs.New(errs.Invalid, "the argument %q is not UTF-8", s)
			}
		}
	}
	return job, nil
}

// policies reads the flags that are one of a few words.
func (o *jobOptions) policies(job *banyan.Job) error {
	if o.isolation != "" {
		level, err := ontology.ParseIsolation(o.isolation)
		if err != nil {
			return errs.New(errs.Invalid, "--isolation %q is not one of none, process, wasm, container, microvm", o.isolation)
		}
		job.Isolation = &level
	}
	if o.match != "" {
		policy, err := ontology.ParseMatchPolicy(o.match)
		if err != nil {
			return errs.New(errs.Invalid, "--match %q is neither superset nor exact", o.match)
		}
		job.Match = policy
	}
	return nil
}

// limits reads the limits that were given.
func (o *jobOptions) limits(l *banyan.Limits) error {
	for _, s := range []struct {
		flag, text string
		to         *int64
	}{{"timeout", o.timeout, &l.WallMS}, {"cpu", o.cpu, &l.CPUMS}} {
		if s.text == "" {
			continue
		}
		d, err := units.ParseDuration(s.text)
		if err != nil {
			return errs.New(errs.Invalid, "--%s: %v", s.flag, err)
		}
		*s.to = d.Milliseconds()
	}
	// Whoever allows a job five minutes does not mean thirty seconds of work.
	if o.cpu == "" && l.WallMS > rungs.DefaultCPU.Milliseconds() {
		l.CPUMS = l.WallMS
	}
	for _, s := range []struct {
		flag, text string
		to         *int64
	}{{"memory", o.memory, &l.MemoryBytes}, {"output", o.output, &l.OutputBytes}} {
		if s.text == "" {
			continue
		}
		n, err := units.ParseSize(s.text)
		if err != nil {
			return errs.New(errs.Invalid, "--%s: %v", s.flag, err)
		}
		*s.to = n
	}
	l.PIDs = o.pids
	return nil
}

// parseEnv reads NAME=VALUE pairs.
func parseEnv(pairs []string) (map[string]string, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	env := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, errs.New(errs.Invalid, "--env %q is not of the form NAME=VALUE", pair)
		}
		if !utf8.ValidString(pair) || strings.ContainsRune(pair, 0) {
			return nil, errs.New(errs.Invalid, "--env %q is not UTF-8 text", pair)
		}
		if _, twice := env[name]; twice {
			return nil, errs.New(errs.Invalid, "--env gives %q twice", name)
		}
		env[name] = value
	}
	return env, nil
}

// readFiles reads the files for the work directory; together they are bounded.
func readFiles(specs []string) ([]banyan.File, error) {
	var files []banyan.File
	left := int64(maxFiles)
	for _, spec := range specs {
		path, name := splitFile(spec)
		data, mode, err := readLocal(path, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(data))
		f := banyan.File{Path: name}
		if mode&0o111 != 0 {
			f.Mode = 0o755
		}
		if text := string(data); utf8.ValidString(text) {
			f.Text = &text
		} else {
			b64 := base64.StdEncoding.EncodeToString(data)
			f.Base64 = &b64
		}
		files = append(files, f)
	}
	return files, nil
}

// splitFile splits PATH=NAME at its last '='; without one the name is the
// path's last element.
func splitFile(spec string) (path, name string) {
	if i := strings.LastIndexByte(spec, '='); i > 0 && i < len(spec)-1 {
		return spec[:i], spec[i+1:]
	}
	return spec, spec[strings.LastIndexByte(spec, '/')+1:]
}
