package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// maxShownParts bounds how many faults of one input are printed.
const maxShownParts = 20

// printError says what went wrong, why, and what to try.
func (a *app) printError(err error) {
	var b strings.Builder
	head := sentence(err)
	b.WriteString("banyan: " + indent(head) + "\n")
	var e *errs.Error
	if errors.As(err, &e) {
		for i, p := range e.Parts {
			if i == maxShownParts {
				fmt.Fprintf(&b, "  … and %d more\n", len(e.Parts)-i)
				break
			}
			b.WriteString(partText(p, head))
		}
	}
	if hint := errs.HintOf(err); hint != "" {
		b.WriteString("Try: " + cleanLine(hint) + "\n")
	}
	fmt.Fprint(a.stderr, b.String())
}

// partText writes one fault of an input. Where it is the sentence that stands
// above already, only what else it says is left.
func partText(p errs.Part, head string) string {
	text := p.Detail
	if p.Pointer != "" {
		text = p.Pointer + ": " + text
	}
	first, rest, _ := strings.Cut(text, "\n")
	if first != head {
		return "  " + indent(text) + "\n"
	}
	if strings.TrimSpace(rest) == "" {
		return ""
	}
	return "    " + indent(rest) + "\n"
}

// sentence is what an error says to the user of this process. The cause of an
// internal error is shown, since the log it would be in is nobody's but the
// user's.
func sentence(err error) string {
	var e *errs.Error
	if !errors.As(err, &e) {
		return "internal error: " + err.Error()
	}
	s := e.Msg
	if s == "" {
		s = e.Kind.String()
	}
	if e.ID != "" && !strings.Contains(s, e.ID) {
		s = e.ID + ": " + s
	}
	if e.Op != "" {
		s = e.Op + ": " + s
	}
	if e.Kind == errs.Internal && e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// indent cleans a text of several lines, each under the first.
func indent(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\r\n"), "\n")
	for i := range lines {
		lines[i] = cleanLine(lines[i])
	}
	return strings.Join(lines, "\n    ")
}

// usage makes an error of wrong use that points to the command's help.
func usage(cmd *cobra.Command, format string, args ...any) error {
	return errs.New(errs.Invalid, format, args...).WithHint("%s --help", cmd.CommandPath())
}

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error { return between(0, 0, "")(cmd, args) }

// between wants from least to most arguments, called what in texts.
func between(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usage(cmd, "%s needs %s", cmd.CommandPath(), what)
		case len(args) > most && most == 0:
			return usage(cmd, "%s takes no arguments; there is %q", cmd.CommandPath(), args[0])
		case len(args) > most:
			return usage(cmd, "%s takes %s; %q is too much", cmd.CommandPath(), what, args[most])
		}
		return nil
	}
}

// unknown refuses the name of a command that is not there and names what the
// user may have meant.
func unknown(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.SuggestionsMinimumDistance == 0 {
		cmd.SuggestionsMinimumDistance = 2 // letters that may differ; cobra's own default
	}
	e := errs.New(errs.Invalid, "there is no command %q in %s", args[0], cmd.CommandPath())
	if close := cmd.SuggestionsFor(args[0]); len(close) > 0 {
		e = errs.New(errs.Invalid, "%s; did you mean %s?", e.Msg, strings.Join(close, " or "))
		return e.WithHint("%s %s", cmd.CommandPath(), close[0])
	}
	return e.WithHint("%s --help", cmd.CommandPath())
}
