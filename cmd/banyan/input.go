package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/units"
	"github.com/seed-ff860830/banyan/internal/errs"
)

// The bounds of what is read for a job, in bytes.
const (
	maxCode  = 8 << 20
	maxStdin = 16 << 20
	maxFiles = 64 << 20 // all files together
)

// readCode returns the program.
func (o *jobOptions) readCode(ctx context.Context, a *app) (string, error) {
	if o.hasCode {
		return text([]byte(o.code), "the code", "")
	}
	if o.file == "-" {
		data, err := readStream(ctx, a.stdin, maxCode)
		if err != nil {
			return "", err
		}
		return text(data, "the code", "")
	}
	data, _, err := readLocal(o.file, maxCode)
	if err != nil {
		if looksLikeCode(o.file) && errs.KindOf(err) == errs.NotFound {
			return "", errs.New(errs.Invalid, "there is no file %q; it looks like code, which goes behind -c", cut(o.file)).
				WithHint("banyan run -c %s", shellQuote(cut(o.file)))
		}
		return "", err
	}
	return text(data, o.file, "")
}

// looksLikeCode tells a program from a file's name.
func looksLikeCode(s string) bool { return strings.ContainsAny(s, "()=;\"' \n") }

// cut shortens a text for a message.
func cut(s string) string {
	if len(s) > 200 {
		return strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}

// readStdin returns the program's standard input; empty if none was asked for.
func (o *jobOptions) readStdin(ctx context.Context, a *app) (string, error) {
	var data []byte
	var err error
	switch o.stdin {
	case "":
		return "", nil
	case "-":
		data, err = readStream(ctx, a.stdin, maxStdin)
	default:
		data, _, err = readLocal(o.stdin, maxStdin)
	}
	if err != nil {
		return "", err
	}
	// A Job is JSON, and JSON has no bytes: bad ones would silently be others.
	return text(data, "the program's standard input", "hand bytes over as a file: --file PATH")
}

// text wants data to be UTF-8.
func text(data []byte, what, hint string) (string, error) {
	if utf8.Valid(data) {
		return string(data), nil
	}
	e := errs.New(errs.Invalid, "%s is not UTF-8 text", what)
	if hint != "" {
		e = e.WithHint("%s", hint)
	}
	return "", e
}

// readLocal reads a file of at most limit bytes. A pipe is read as well, so
// that a shell's <(…) works.
func readLocal(path string, limit int64) ([]byte, fs.FileMode, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, openError(path, err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, 0, openError(path, err)
	}
	if st.IsDir() {
		return nil, 0, errs.New(errs.Invalid, "%s is a folder and no file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, 0, openError(path, err)
	}
	if int64(len(data)) > limit {
		return nil, 0, errs.New(errs.TooLarge, "%s is too large; %s are left of what a job may bring", path, units.FormatSize(limit))
	}
	return data, st.Mode().Perm(), nil
}

// openError says why a file cannot be read.
func openError(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errs.Wrap(errs.NotFound, err, "there is no file %q", cut(path))
	}
	kind := errs.Invalid
	if looksLikeCode(path) {
		kind = errs.NotFound // a program is too long for a name, or holds a zero byte
	}
	return errs.Wrap(kind, err, "%s cannot be read: %v", cut(path), config.Cause(err))
}

// readStream reads at most limit bytes of a stream. A read that blocks cannot
// be stopped; when ctx ends it is left behind, since the process ends then.
func readStream(ctx context.Context, r io.Reader, limit int64) ([]byte, error) {
	type outcome struct {
		data []byte
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(r, limit+1))
		done <- outcome{data, err}
	}()
	select {
	case <-ctx.Done():
		return nil, errs.Wrap(errs.Canceled, ctx.Err(), "interrupted")
	case got := <-done:
		if got.err != nil {
			return nil, errs.Wrap(errs.Invalid, got.err, "standard input cannot be read: %v", config.Cause(got.err))
		}
		if int64(len(got.data)) > limit {
			return nil, errs.New(errs.TooLarge, "standard input has more than %s", units.FormatSize(limit))
		}
		return got.data, nil
	}
}
