package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/seed-ff860830/banyan/cmd/banyan/internal/client"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/sock"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/server"
)

// leakChecked runs the tests and then looks for goroutines that they left.
type leakChecked struct{ m *testing.M }

// Run implements testscript.TestingM.
func (l leakChecked) Run() int {
	code := l.m.Run()
	if code != 0 {
		return code
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, "goroutines were left behind:", err)
		return 1
	}
	return 0
}

func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){"banyan": main})
}

// python returns the interpreter of the tests, "" if there is none.
func python() string {
	path := os.Getenv("BANYAN_PYTHON")
	if path == "" {
		path = "/usr/bin/python3"
	}
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// lacksNumpy is a reason why the interpreter of the tests cannot import numpy
// and pandas; "" if it can.
func lacksNumpy() string {
	if err := exec.Command(python(), "-c", "import numpy, pandas").Run(); err != nil {
		return "python has no numpy and pandas"
	}
	return ""
}

// setup gives a script a data folder and a configuration of its own, so that
// it neither finds nor touches what is on the machine.
func setup(env *testscript.Env) error {
	env.Setenv("BANYAN_DATA", filepath.Join(env.WorkDir, "data"))
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
	env.Setenv("BANYAN_PYTHON", python())
	return nil
}

// TestScript runs the scripts against a daemon whose engine is a fake: what
// the command line does with answers.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", Setup: setup, RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"daemon": cmdDaemon, "exits": cmdExits, "stale-socket": cmdStaleSocket, "hex": cmdHex,
		},
	})
}

// TestEngine runs the scripts with the real engine.
func TestEngine(t *testing.T) {
	switch {
	case runtime.GOOS != "linux":
		t.Skip("the forkserver rung runs on Linux only")
	case os.Geteuid() != 0:
		t.Skip("the forkserver rung's walls need root here")
	case python() == "":
		t.Skip("there is no python (BANYAN_PYTHON)")
	case lacksNumpy() != "":
		t.Skip(lacksNumpy())
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/engine", Setup: setup, RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": cmdExits, "ready": cmdReady, "running": cmdRunning, "branch": cmdBranch,
			"draining": cmdDraining, "stale-socket": cmdStaleSocket, "hex": cmdHex,
		},
	})
}

// TestStore runs the scripts that wreck stores: the real engine, whatever
// rungs work here.
func TestStore(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a daemon's socket and signals are those of unix")
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/store", Setup: setup, RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": cmdExits, "ready": cmdReady, "wreck": cmdWreck, "appears": cmdAppears,
		},
	})
}

// cmdAppears waits until there is a file and copies it: appears PATTERN NAME
func cmdAppears(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: appears PATTERN NAME")
	}
	var found []string
	await(ts, args[0], func() bool {
		var err error
		found, err = filepath.Glob(ts.MkAbs(args[0]))
		ts.Check(err)
		return len(found) > 0
	})
	data, err := os.ReadFile(found[0])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o600))
}

// cmdWreck damages files of a closed store: wreck flip|cut|remove PATTERN. A
// flip turns one bit in the middle, a cut takes the second half.
func cmdWreck(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: wreck flip|cut|remove PATTERN")
	}
	paths, err := filepath.Glob(ts.MkAbs(args[1]))
	ts.Check(err)
	if len(paths) == 0 {
		ts.Fatalf("there is no file %s", args[1])
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		ts.Check(err)
		switch args[0] {
		case "flip":
			data[len(data)/2] ^= 0x10
			ts.Check(os.WriteFile(path, data, 0o600))
		case "cut":
			ts.Check(os.Truncate(path, int64(len(data)/2)))
		case "remove":
			ts.Check(os.Remove(path))
		default:
			ts.Fatalf("wreck cannot %s", args[0])
		}
	}
}

// cmdDaemon starts a daemon with a fake engine and points BANYAN_URL to it:
// daemon [sick|html]. With sick its doctor finds no rung; html is no banyan
// daemon at all and answers everything with a web page.
func cmdDaemon(ts *testscript.TestScript, neg bool, args []string) {
	kind := strings.Join(args, " ")
	eng := newFakeEngine()
	eng.sick = kind == "sick"
	ts.Defer(func() { ts.Check(eng.endGraph()) })
	var handler http.Handler
	switch kind {
	case "", "sick":
		srv, err := server.New(server.Config{Engine: eng, Logger: slog.New(slog.DiscardHandler), TrustLoopback: true})
		ts.Check(err)
		handler = srv.Handler()
	case "html":
		handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusBadGateway)
		})
	default:
		ts.Fatalf("usage: daemon [sick|html]")
	}
	srv := httptest.NewServer(handler)
	ts.Defer(srv.Close)
	ts.Setenv("BANYAN_URL", srv.URL)
}

// cmdExits runs a command and checks its exit code: exits CODE program [args...]
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE program [args...]")
	}
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit code %d; want %s", code, args[0])
	}
}

// cmdStaleSocket leaves a socket as a daemon that was killed does:
// stale-socket DIR
func cmdStaleSocket(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: stale-socket DIR")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: sock.Path(dir), Net: "unix"})
	ts.Check(err)
	l.SetUnlinkOnClose(false)
	ts.Check(l.Close())
}

// cmdHex compares a file's bytes: hex FILE DIGITS; FILE may be stdout or stderr.
func cmdHex(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: hex FILE DIGITS")
	}
	if got := hex.EncodeToString([]byte(ts.ReadFile(args[0]))); got != args[1] {
		ts.Fatalf("%s is %s; want %s", args[0], got, args[1])
	}
}

// cmdReady waits until a daemon answers at the data folder's socket.
func cmdReady(ts *testscript.TestScript, neg bool, args []string) {
	c := socketClient(ts)
	defer c.Close()
	await(ts, "a daemon that answers", func() bool { return c.IsBanyan(context.Background()) })
}

// cmdRunning waits until the daemon runs as many jobs as it is told: running N
func cmdRunning(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: running N")
	}
	c := socketClient(ts)
	defer c.Close()
	await(ts, args[0]+" running jobs", func() bool {
		st, err := c.Status(context.Background())
		return err == nil && fmt.Sprint(st.Running) == args[0]
	})
}

// cmdDraining waits until the daemon takes no more requests.
func cmdDraining(ts *testscript.TestScript, neg bool, args []string) {
	c := socketClient(ts)
	defer c.Close()
	await(ts, "a daemon that drains", func() bool {
		_, err := c.Status(context.Background())
		return errs.KindOf(err) == errs.Unavailable
	})
}

// cmdBranch branches the snapshot whose id stands in the file trunk: a script
// cannot put a file's text on a command line.
func cmdBranch(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(ts.Exec("banyan", append([]string{"branch", strings.TrimSpace(ts.ReadFile("trunk"))}, args...)...))
}

// socketClient returns a client of the daemon at the data folder's socket.
func socketClient(ts *testscript.TestScript) *client.Client {
	c, err := client.New(client.Config{URL: client.UnixURL(sock.Path(ts.Getenv("BANYAN_DATA")))})
	ts.Check(err)
	return c
}

// await polls until a condition holds.
func await(ts *testscript.TestScript, what string, holds func() bool) {
	deadline := time.NewTimer(30 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline.C:
			ts.Fatalf("waited in vain for %s", what)
		}
	}
}
