package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/seed-ff860830/banyan/cmd/banyan/internal/units"
	"github.com/seed-ff860830/banyan/internal/errs"
)

// maxSPARQL bounds the text of a query or an update, in bytes: the parser's
// own bound.
const maxSPARQL = 4 << 20

// sparqlText is where the text of a query or an update comes from.
type sparqlText struct {
	file  string // -f; "-" is standard input
	given string // the argument
	has   bool   // there is an argument
}

// addFlags adds -f.
func (t *sparqlText) addFlags(cmd *cobra.Command, what string) {
	cmd.Flags().StringVarP(&t.file, "file", "f", "", "file that holds the "+what+", - for standard input")
}

// parse takes the arguments of the command.
func (t *sparqlText) parse(cmd *cobra.Command, args []string, what string) error {
	if len(args) == 1 {
		t.given, t.has = args[0], true
	}
	byFile := cmd.Flags().Changed("file")
	switch {
	case byFile && t.has:
		return usage(cmd, "give either the %s or -f, not both", what)
	case !byFile && !t.has:
		return usage(cmd, "there is no %s: give it, - for standard input, or -f FILE", what)
	case t.given == "-":
		t.file, t.has = "-", false
	}
	return nil
}

// name is what errors call the text; "" for one that stands in the command.
func (t *sparqlText) name() string {
	if t.file == "-" || t.has {
		return ""
	}
	return t.file
}

// read returns the text.
func (t *sparqlText) read(ctx context.Context, a *app) (string, error) {
	if t.has {
		return text([]byte(t.given), "the text", "")
	}
	var data []byte
	var err error
	if t.file == "-" {
		data, err = readStream(ctx, a.stdin, maxSPARQL)
	} else {
		data, err = readWhole(t.file, maxSPARQL)
	}
	if err != nil {
		return "", err
	}
	what := t.name()
	if what == "" {
		what = "the text"
	}
	return text(data, what, "")
}

// pointAt adds to an error of syntax the line that it is about, with a mark
// under the place, as a person needs it who cannot count columns.
func (t *sparqlText) pointAt(err error, query string) error {
	var e *errs.Error
	if !errors.As(err, &e) || e.Kind != errs.Invalid || len(e.Parts) != 1 {
		return err
	}
	line, column, ok := place(e.Parts[0].Pointer)
	if !ok {
		return err
	}
	at := fmt.Sprintf("line %d, column %d", line, column)
	if name := t.name(); name != "" {
		at = fmt.Sprintf("%s:%d:%d", name, line, column)
	}
	detail := e.Parts[0].Detail
	if shown := marked(query, line, column); shown != "" {
		detail += "\n" + shown
	}
	c := *e
	c.Msg = "this is not SPARQL"
	c.Parts = []errs.Part{{Pointer: at, Detail: detail}}
	return &c
}

// place reads "line:column".
func place(pointer string) (line, column int, ok bool) {
	n, err := fmt.Sscanf(pointer, "%d:%d", &line, &column)
	return line, column, err == nil && n == 2 && line > 0 && column > 0
}

// marked returns a part of a line around a column, and a line with a mark
// under that column; "" if the text has no such line.
func marked(text string, line, column int) string {
	lines := strings.SplitN(text, "\n", line+1)
	if line > len(lines) {
		return ""
	}
	row := []rune(cleanLine(strings.TrimRight(lines[line-1], "\r")))
	at := min(column-1, len(row))
	const around = 35 // columns before and behind: with the margin, less than 80
	from, to := max(0, at-around), min(len(row), at+around)
	return string(row[from:to]) + "\n" + strings.Repeat(" ", at-from) + "^"
}

// plainIRIs refuses what could end an IRI in a query or an address, and names
// the flag.
func plainIRIs(cmd *cobra.Command, flag string, iris []string) error {
	for _, s := range iris {
		scheme, rest, found := strings.Cut(s, ":")
		bad := strings.ContainsFunc(s, func(r rune) bool {
			return r <= ' ' || r == 0x7f || r == utf8.RuneError || strings.ContainsRune("<>\"{}|^`\\", r)
		})
		if !found || scheme == "" || rest == "" || bad || strings.ContainsAny(scheme, "/?#") {
			return usage(cmd, "--%s %q is not an absolute IRI", flag, cut(s))
		}
	}
	return nil
}

// readWhole reads a file of at most limit bytes.
func readWhole(path string, limit int64) ([]byte, error) {
	data, _, err := readLocal(path, limit)
	if errs.KindOf(err) == errs.TooLarge {
		return nil, errs.New(errs.TooLarge, "%s has more than %s", path, units.FormatSize(limit))
	}
	return data, err
}
