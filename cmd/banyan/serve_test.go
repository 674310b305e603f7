package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/cmd/banyan/internal/client"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/sock"
	"github.com/seed-ff860830/banyan/internal/errs"
)

// served is a daemon with a fake engine that runs in this process.
type served struct {
	*testApp
	url  string // on TCP
	stop func() int
}

// startServe runs "banyan serve" until stop, and waits for its ready line.
func startServe(t *testing.T, ta *testApp, args ...string) served {
	t.Helper()
	r, w := io.Pipe()
	ta.stderr, ta.errTTY = w, false
	ta.vars["BANYAN_LOG_LEVEL"] = "off"
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() {
		code <- ta.runContext(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
		w.Close()
	}()
	lines := bufio.NewScanner(r)
	s := served{testApp: ta}
	ready := regexp.MustCompile(`^banyan: ready on (http://127\.0\.0\.1:\d+) and unix://.*/banyan\.sock$`)
	for lines.Scan() {
		if m := ready.FindStringSubmatch(lines.Text()); m != nil {
			s.url = m[1]
			break
		}
		t.Log(lines.Text())
	}
	stopped := false
	s.stop = func() int {
		if stopped {
			return 0
		}
		stopped = true
		cancel()
		go io.Copy(io.Discard, r)
		return <-code
	}
	t.Cleanup(func() { s.stop() })
	if s.url == "" {
		t.Fatalf("serve did not become ready: exit code %d", s.stop())
	}
	return s
}

// beside returns an app that uses the same data folder.
func beside(t *testing.T, other *testApp) *testApp {
	t.Helper()
	ta := newTestApp(t)
	ta.vars["BANYAN_DATA"] = other.vars["BANYAN_DATA"]
	return ta
}

func TestServeAnswersOnBothAndCleansUp(t *testing.T) {
	s := startServe(t, newTestApp(t))
	dir := s.vars["BANYAN_DATA"]
	path := sock.Path(dir)
	for _, tc := range []struct {
		path string
		want fs.FileMode
	}{{dir, fs.ModeDir | 0o700}, {path, fs.ModeSocket | 0o600}} {
		if st, err := os.Lstat(tc.path); err != nil || st.Mode() != tc.want {
			t.Errorf("%s: %v, %v; want %v", tc.path, st, err, tc.want)
		}
	}
	for _, url := range []string{s.url, client.UnixURL(path)} {
		c, err := client.New(client.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		if st, err := c.Status(t.Context()); err != nil || st.Runs != 28 || !c.IsBanyan(t.Context()) {
			t.Errorf("%s: %+v, %v", url, st, err)
		}
		c.Close()
	}
	if code := s.stop(); code != 0 || !s.eng.closed {
		t.Errorf("exit code %d, engine closed %t", code, s.eng.closed)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
}

func TestCommandsFindTheDaemonBySocket(t *testing.T) {
	s := startServe(t, newTestApp(t))
	ta := beside(t, s.testApp)
	if out := ta.wantRun(t, "run", "-c", "print found"); out != "found" || ta.opened != 0 {
		t.Errorf("out %q, opened an engine of its own: %d", out, ta.opened)
	}
	if strings.Contains(ta.err.String(), "stays warm") {
		t.Errorf("stderr: %s", ta.err.String())
	}
}

// B31, B46: a second daemon refuses, and the first keeps serving.
func TestB31_SecondDaemonRefuses(t *testing.T) {
	s := startServe(t, newTestApp(t))
	second := beside(t, s.testApp)
	if code := second.run(t, "serve", "--listen", "127.0.0.1:0"); code != errs.Conflict.ExitCode() {
		t.Errorf("exit code %d", code)
	}
	if msg := second.err.String(); !strings.Contains(msg, "another daemon serves") || !strings.Contains(msg, sock.Path(s.vars["BANYAN_DATA"])) || second.opened != 0 {
		t.Errorf("stderr %q, opened %d", msg, second.opened)
	}
	if out := beside(t, s.testApp).wantRun(t, "run", "-c", "print still here"); out != "still here" {
		t.Errorf("the first daemon answers %q", out)
	}
}

func TestB31_StaleSocketDoesNotStopAStart(t *testing.T) {
	ta := newTestApp(t)
	dir := ta.vars["BANYAN_DATA"]
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: sock.Path(dir), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	startServe(t, ta)
	if out := beside(t, ta).wantRun(t, "run", "-c", "print x"); out != "x" {
		t.Errorf("out %q", out)
	}
}

func TestB31_RegularFileAtTheSocketIsKeptAndNamed(t *testing.T) {
	ta := newTestApp(t)
	dir := ta.vars["BANYAN_DATA"]
	path := sock.Path(dir)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := ta.run(t, "serve", "--listen", "127.0.0.1:0"); code != errs.Conflict.ExitCode() || !strings.Contains(ta.err.String(), path) {
		t.Errorf("exit code %d, %s", code, ta.err.String())
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "precious" {
		t.Errorf("the file is %q, %v", data, err)
	}
	if ta.opened != 1 || !ta.eng.closed {
		t.Error("the engine was left open")
	}
}

func TestServeNeedsTheToken(t *testing.T) {
	ta := newTestApp(t)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("correct-horse\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServe(t, ta, "--token-file", file)
	other := beside(t, s.testApp)
	if code := other.run(t, "status"); code != errs.Denied.ExitCode() || !strings.Contains(other.err.String(), "token") {
		t.Errorf("without a token: exit code %d, %s", code, other.err.String())
	}
	other.wantRun(t, "status", "--token-file", file)
	other.wantRun(t, "status", "--token-file", file, "--url", s.url)
}

func TestPortThatIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ta := newTestApp(t)
	if code := ta.run(t, "serve", "--listen", l.Addr().String()); code != 1 || !strings.Contains(ta.err.String(), "address already in use") || ta.opened != 0 {
		t.Errorf("exit code %d, opened %d, %s", code, ta.opened, ta.err.String())
	}
}

// A daemon that holds the folder but does not answer: the store's own conflict
// is what the user sees, and not a second engine.
func TestDeafDaemonShowsTheStoresConflict(t *testing.T) {
	ta := newTestApp(t)
	dir := ta.vars["BANYAN_DATA"]
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := sock.Listen(t.Context(), sock.Path(dir))
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	defer func() { srv.Close(); <-done }()
	ta.open = func(context.Context, *config.Set, *slog.Logger) (engine, error) {
		return nil, errs.New(errs.Conflict, "the folder is in use by process 1")
	}
	if code := ta.run(t, "snapshots"); code != errs.Conflict.ExitCode() || !strings.Contains(ta.err.String(), dir+": the folder is in use by process 1") {
		t.Errorf("exit code %d, %s", code, ta.err.String())
	}
}

// The usual address is asked only if nobody chose a folder, only believed if it
// answers as banyan does, and never given the token.
func TestUsualAddress(t *testing.T) {
	var authorized, asked bool
	banyanLike := true
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = true
		authorized = authorized || r.Header.Get("Authorization") != ""
		if banyanLike {
			w.Header().Set("X-Request-Id", "req_1")
		}
		io.WriteString(w, `{"status":"ok","runs":5}`)
	}))
	defer srv.Close()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("t"), 0o600); err != nil {
		t.Fatal(err)
	}
	ta := newTestApp(t)
	ta.tcp = srv.URL
	ta.wantRun(t, "status", "--token-file", token)
	if asked || ta.opened != 1 {
		t.Errorf("with a folder of the user's: asked %t, opened %d", asked, ta.opened)
	}
	ta.vars = map[string]string{"XDG_DATA_HOME": t.TempDir(), "XDG_CONFIG_HOME": t.TempDir()}
	if out := ta.wantRun(t, "status", "--token-file", token); !strings.Contains(out, "runs") || ta.opened != 1 || authorized {
		t.Errorf("out %q, opened %d, token sent %t", out, ta.opened, authorized)
	}
	banyanLike = false
	if ta.wantRun(t, "status"); ta.opened != 2 {
		t.Error("another program was taken for a daemon")
	}
}

func TestDaemonThatWasNamedHasToAnswer(t *testing.T) {
	ta := newTestApp(t)
	if code := ta.run(t, "status", "--url", "http://127.0.0.1:1"); code != errs.Unavailable.ExitCode() || ta.opened != 0 {
		t.Errorf("exit code %d, opened %d", code, ta.opened)
	}
}

func TestNoFolderIsKnown(t *testing.T) {
	ta := newTestApp(t)
	ta.vars = map[string]string{}
	for _, args := range [][]string{{"status"}, {"serve", "--listen", "127.0.0.1:0"}} {
		if code := ta.run(t, args...); code != 2 || !strings.Contains(ta.err.String(), "no data folder is known") {
			t.Errorf("%v: exit code %d, %s", args, code, ta.err.String())
		}
	}
}

func TestServeOptions(t *testing.T) {
	var got *serveOptions
	ta := newTestApp(t)
	cmd := newServeCmd(ta.app, func(_ context.Context, o *serveOptions) error { got = o; return nil })
	cmd.SetArgs([]string{"--listen", "127.0.0.1:5", "--allow-local", "--max-parents", "3", "--idle", "1m"})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got.set.String(config.Listen) != "127.0.0.1:5" || !got.set.Bool(config.AllowLocal) || got.set.Bool(config.AllowDegraded) || got.set.Int(config.MaxParents) != 3 {
		t.Errorf("settings = %+v", got.set.Values())
	}
}
