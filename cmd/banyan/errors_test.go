package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
	"github.com/seed-ff860830/banyan/internal/errs"
)

func TestErrorsSayWhatWhyAndWhatToTry(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"plain":        {errs.New(errs.Invalid, "no"), "banyan: no\n"},
		"about an id":  {errs.New(errs.Conflict, "it is gone").WithID("sn_1"), "banyan: sn_1: it is gone\n"},
		"with a hint":  {fmt.Errorf("around: %w", errs.New(errs.Invalid, "no").WithHint("banyan x")), "banyan: no\nTry: banyan x\n"},
		"hidden cause": {errs.Wrap(errs.Unavailable, errors.New("inside"), "no"), "banyan: no\n"},
		"own fault":    {errs.Wrap(errs.Internal, errors.New("inside"), "no"), "banyan: no: inside\n"},
		"unclassified": {errors.New("inside"), "banyan: internal error: inside\n"},
		"parts": {
			errs.New(errs.Invalid, "no").WithParts(errs.Part{Pointer: "/a", Detail: "b"}, errs.Part{Detail: "c\nd\n"}),
			"banyan: no\n  /a: b\n  c\n    d\n",
		},
		"a part that repeats the sentence": {
			errs.New(errs.Invalid, "f:1:2: no").WithParts(errs.Part{Pointer: "f:1:2", Detail: "no\nline\n  ^"}),
			"banyan: f:1:2: no\n    line\n      ^\n",
		},
		"only the sentence again": {errs.New(errs.Invalid, "no").WithParts(errs.Part{Detail: "no"}), "banyan: no\n"},
		"control characters": {
			errs.New(errs.Invalid, "\x1b[2J").WithParts(errs.Part{Pointer: "\a", Detail: "\b"}).WithHint("a\nb"),
			"banyan: \uFFFD[2J\n  \uFFFD: \uFFFD\nTry: a b\n",
		},
	} {
		ta := newTestApp(t)
		if code := ta.finish(t.Context(), tc.err); code != errs.KindOf(tc.err).ExitCode() {
			t.Errorf("%s: exit code %d", name, code)
		}
		if got := ta.err.String(); got != tc.want {
			t.Errorf("%s:\n%q\nwant\n%q", name, got, tc.want)
		}
	}
}

func TestManyPartsAreCut(t *testing.T) {
	ta := newTestApp(t)
	ta.finish(t.Context(), errs.New(errs.Invalid, "no").WithParts(make([]errs.Part, 500)...))
	if got := ta.err.String(); strings.Count(got, "\n") != maxShownParts+2 || !strings.Contains(got, "and 480 more") {
		t.Errorf("%d lines", strings.Count(got, "\n"))
	}
}

// A data folder that is another user's is named, and so is the way out.
func TestAForbiddenDataFolderIsNamed(t *testing.T) {
	ta := newTestApp(t)
	ta.open = func(context.Context, *config.Set, *slog.Logger) (engine, error) {
		return nil, errs.Wrap(errs.Unavailable, &fs.PathError{Op: "mkdir", Path: "x", Err: fs.ErrPermission}, "the data folder cannot be made")
	}
	if code := ta.run(t, "status"); code != 1 {
		t.Errorf("exit code %d", code)
	}
	want := "banyan: the data folder " + ta.vars["BANYAN_DATA"] + " cannot be used: permission denied\nTry: banyan --data DIR …\n"
	if got := ta.err.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
