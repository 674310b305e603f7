package main

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
)

// However the child ends, it is a verdict or an error, and never a crash.
func TestChildVerdict(t *testing.T) {
	killed := exec.Command("/bin/sh", "-c", "kill -9 $$").Run()
	if killed == nil {
		t.Fatal("the shell was not killed")
	}
	const clean = `{"report":{"verdict":"clean","checks":[],"commit":3,"triples":2,"bytes":1}}`
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	late, stop := context.WithTimeout(t.Context(), 0)
	defer stop()
	for name, c := range map[string]struct {
		ctx     context.Context
		out     string
		ended   error
		verdict kg.FsckVerdict
		kind    errs.Kind
		says    string
	}{
		"clean":          {t.Context(), clean, nil, kg.FsckClean, 0, ""},
		"damaged":        {t.Context(), `{"report":{"verdict":"damaged","checks":[]}}`, nil, kg.FsckDamaged, 0, ""},
		"refused":        {t.Context(), `{"error":{"kind":"conflict","message":"it is open"}}`, nil, "", errs.Conflict, "it is open"},
		"killed":         {t.Context(), "", killed, kg.FsckUnreadable, 0, "the process that read it died"},
		"killed at last": {t.Context(), clean, killed, kg.FsckUnreadable, 0, "the process that read it died"},
		"half an answer": {t.Context(), `{"report":{"verdict":"clean"`, nil, kg.FsckUnreadable, 0, "could not be read"},
		"no answer":      {t.Context(), `{}`, nil, kg.FsckUnreadable, 0, "could not be read"},
		"a hang":         {late, "", killed, kg.FsckUnreadable, 0, "came to no end"},
		"an interrupt":   {canceled, "", killed, "", errs.Canceled, "interrupted"},
		"no child":       {t.Context(), "", errors.Join(errNoChild, errors.New("why")), "", errs.Internal, "could not be started"},
	} {
		rep, err := childVerdict(c.ctx, []byte(c.out), c.ended)
		if rep.Verdict != c.verdict || (err != nil) != (c.verdict == "") || err != nil && (errs.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %+v, %v", name, rep, err)
		}
		if c.verdict == kg.FsckUnreadable && (!strings.Contains(rep.Checks[0].Detail, c.says) || rep.Hint == "") {
			t.Errorf("%s: %+v", name, rep)
		}
	}
}

func TestPrintFsck(t *testing.T) {
	ta := newTestApp(t)
	rep := kg.FsckReport{
		Verdict: kg.FsckDamaged, Commit: 7, Triples: 1, Bytes: 2048,
		Checks: []kg.FsckCheck{{Check: "rows", OK: true}, {Check: "tables", Place: "1.sst", Detail: "evil \x1b[2J"}},
	}
	if err := ta.printFsck(rep); err != nil {
		t.Fatal(err)
	}
	got := ta.out.String()
	if !strings.Contains(got, "damaged: commit 7, 1 triple, 2.0 KiB") || strings.Contains(got, "\x1b") || !strings.Contains(ta.err.String(), "Try: "+restoreHint) {
		t.Errorf("it prints\n%s%s", got, ta.err.String())
	}
	err := damaged(rep)
	var e *errs.Error
	if !errors.As(err, &e) || e.Kind.ExitCode() != 5 || len(e.Parts) != 1 || e.Parts[0].Pointer != "1.sst" || e.Hint != restoreHint {
		t.Errorf("the error is %#v", err)
	}
}

func TestFsckUsage(t *testing.T) {
	ta := newTestApp(t)
	for _, args := range [][]string{{"fsck", "x"}, {"fsck", "--timeout", "no"}, {"backup"}, {"backup", "a", "b"}, {"backup", "-"}, {"backup", "-", "--json"}, {"restore"}} {
		if code := ta.run(t, args...); code != 2 {
			t.Errorf("%v: exit code %d, %s", args, code, ta.err.String())
		}
	}
}
