package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
	"github.com/seed-ff860830/banyan/internal/errs"
)

// app is what every command shares: the streams, the environment, and the way
// to an engine. It is used by one goroutine.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) string
	tty, errTTY    bool // standard output, standard error is a terminal
	root           bool // the user is the superuser
	now            func() time.Time
	open           func(context.Context, *config.Set, *slog.Logger) (engine, error)
	tcp            string // where a daemon is looked for that nobody named
	configFile     string // --config
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// settings resolves every setting for a command, its flags included.
func (a *app) settings(cmd *cobra.Command) (*config.Set, error) {
	flags := map[config.Key]string{}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if key, ok := f.Annotations[settingMark]; ok {
			flags[config.Key(key[0])] = f.Value.String()
		}
	})
	return config.Load(config.Source{Flags: flags, Env: a.env, File: a.configFile, Root: a.root})
}

// settingMark marks the flags that are settings, and names the setting.
const settingMark = "banyan-setting"

// addSettings adds a flag for each key.
func addSettings(flags *pflag.FlagSet, keys ...config.Key) {
	for _, k := range keys {
		switch k {
		case config.AllowLocal, config.AllowDegraded, config.Hints:
			flags.Bool(k.Flag(), false, config.Help(k))
		default:
			flags.String(k.Flag(), "", config.Help(k))
		}
		// The flag was added in the line above, so this cannot fail.
		_ = flags.SetAnnotation(k.Flag(), settingMark, []string{string(k)})
	}
}

// finish prints what went wrong and returns the exit code.
func (a *app) finish(ctx context.Context, err error) int {
	if err == nil {
		return 0
	}
	if sig, ok := signalOf(ctx); ok {
		fmt.Fprintf(a.stderr, "banyan: interrupted (%s)\n", sig)
		return 128 + int(sig)
	}
	var exit exitError
	if errors.As(err, &exit) {
		return exit.code
	}
	a.printError(err)
	return errs.KindOf(err).ExitCode()
}

// printJSON writes v, indented, as the whole of standard output.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return wrote(enc.Encode(v))
}

// items is the form of every listing.
type items[T any] struct {
	Items []T `json:"items"`
}

// list makes a listing that is [] and never null.
func list[T any](all []T) items[T] {
	if all == nil {
		all = []T{}
	}
	return items[T]{all}
}

// printf writes text to standard output.
func (a *app) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(a.stdout, format, args...)
	return wrote(err)
}

// wrote classifies an error of writing standard output.
func wrote(err error) error {
	if err == nil {
		return nil
	}
	return errs.Wrap(errs.Unavailable, err, "standard output cannot be written: %v", config.Cause(err))
}

// hint says something that may surprise on standard error, unless the user
// turned that off.
func (a *app) hint(set *config.Set, format string, args ...any) {
	if set.Bool(config.Hints) {
		fmt.Fprintf(a.stderr, "banyan: "+format+"\n", args...)
	}
}

// logger returns the log of a process that serves or runs an engine; fallback
// is the level where none was set.
func (a *app) logger(set *config.Set, fallback string) *slog.Logger {
	level := set.String(config.LogLevel)
	if level == "" {
		level = fallback
	}
	var l slog.Level
	if level == "off" || l.UnmarshalText([]byte(level)) != nil {
		return slog.New(slog.DiscardHandler)
	}
	opts := &slog.HandlerOptions{Level: l}
	if a.errTTY {
		return slog.New(slog.NewTextHandler(a.stderr, opts))
	}
	return slog.New(slog.NewJSONHandler(a.stderr, opts))
}
