package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
)

// testApp is an app with a fake engine of its own, on terminals unless a test
// says otherwise, and a data folder that no daemon serves.
type testApp struct {
	*app
	eng      *fakeEngine
	vars     map[string]string
	out, err bytes.Buffer
	opened   int
}

func newTestApp(t *testing.T) *testApp {
	t.Helper()
	dir, err := os.MkdirTemp("", "bn") // short, so that a socket fits
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	ta := &testApp{eng: newFakeEngine(), vars: map[string]string{
		"BANYAN_DATA": filepath.Join(dir, "data"), "XDG_CONFIG_HOME": dir, "NO_COLOR": "1",
	}}
	t.Cleanup(func() {
		if err := ta.eng.endGraph(); err != nil {
			t.Error(err)
		}
	})
	ta.app = &app{
		stdin: strings.NewReader(""), stdout: &ta.out, stderr: &ta.err, tty: true, errTTY: true,
		env: func(name string) string { return ta.vars[name] },
		now: func() time.Time { return epoch.Add(90 * time.Minute) },
		open: func(context.Context, *config.Set, *slog.Logger) (engine, error) {
			ta.opened++
			return ta.eng, nil
		},
		tcp: "http://127.0.0.1:1", // nobody answers at the port tcpmux
	}
	return ta
}

// run runs a command and returns its exit code; out and err hold its output.
func (ta *testApp) run(t *testing.T, args ...string) int {
	t.Helper()
	return ta.runContext(t.Context(), args...)
}

func (ta *testApp) runContext(ctx context.Context, args ...string) int {
	ta.out.Reset()
	ta.err.Reset()
	root := newRootCmd(ta.app)
	root.SetArgs(args)
	return ta.finish(ctx, root.ExecuteContext(ctx))
}

// wantRun runs a command that has to end well and returns what it printed.
func (ta *testApp) wantRun(t *testing.T, args ...string) string {
	t.Helper()
	if code := ta.run(t, args...); code != 0 {
		t.Fatalf("banyan %v: exit code %d\n%s", args, code, ta.err.String())
	}
	return ta.out.String()
}
