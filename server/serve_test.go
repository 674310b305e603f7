package server_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/server"
)

// served is a server under Serve.
type served struct {
	*rig
	stop  context.CancelFunc
	ended chan error
}

// serve runs Serve on listeners and makes a rig for the first.
func serve(t *testing.T, eng server.Engine, tweak func(*server.Config), listeners ...net.Listener) *served {
	t.Helper()
	l := &logs{}
	cfg := server.Config{Engine: eng, Logger: slog.New(slog.NewJSONHandler(l, nil))}
	if tweak != nil {
		tweak(&cfg)
	}
	s, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	client := &http.Client{Transport: &http.Transport{}}
	sv := &served{&rig{t: t, url: "http://" + listeners[0].Addr().String(), log: l, client: client}, cancel, make(chan error, 1)}
	go func() { sv.ended <- s.Serve(ctx, listeners...) }()
	t.Cleanup(func() {
		cancel()
		client.CloseIdleConnections()
		<-sv.ended
	})
	return sv
}

// wait returns what Serve returned.
func (sv *served) wait() error {
	err := <-sv.ended
	sv.ended <- err // for the clean-up
	return err
}

func TestServeTCPAndUnixAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.sock")
	sock, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	sv := serve(t, &fake{}, nil, listen(t), sock)
	if a := sv.do("GET", "/readyz", ""); a.status != 200 {
		t.Errorf("tcp: %d %s", a.status, a.body)
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
	uds := &rig{t: t, url: "http://banyan", log: sv.log, client: &http.Client{Transport: &http.Transport{DialContext: dial}}}
	if a := uds.do("GET", "/readyz", ""); a.status != 200 {
		t.Errorf("unix, any Host: %d %s %v", a.status, a.body, a.err)
	}
	uds.trouble(uds.do("GET", "/readyz", "", "Origin: http://evil.example"), 403)
	uds.client.CloseIdleConnections()
	sv.stop()
	if err := sv.wait(); err != nil {
		t.Errorf("Serve = %v", err)
	}
	if a := sv.do("GET", "/healthz", ""); a.err == nil {
		t.Errorf("after the end: %d", a.status)
	}
}

func TestDrainLetsRunningRequestsFinish(t *testing.T) {
	b := newBlocker()
	sv := serve(t, &fake{
		execute: b.execute,
		status:  func(context.Context) (banyan.Status, error) { return banyan.Status{}, nil },
	}, nil, listen(t))
	running := sv.go1(t.Context(), "/v1/execute", `{"code":"a"}`)
	eventually(t, "the job runs", func() bool { return b.running.Load() == 1 })
	sv.stop()
	eventually(t, "/readyz says no", func() bool { return sv.do("GET", "/readyz", "").status == 503 })
	for _, p := range []string{"POST /v1/execute", "GET /v1/status", "GET /nope"} {
		method, path, _ := strings.Cut(p, " ")
		a := sv.do(method, path, "")
		sv.trouble(a, 503)
		if a.header.Get("Retry-After") == "" {
			t.Errorf("%s: no Retry-After", p)
		}
	}
	if a := sv.do("GET", "/healthz", ""); a.status != 200 {
		t.Errorf("/healthz while draining: %d", a.status)
	}
	close(b.letGo)
	if a := <-running; a.status != 200 {
		t.Errorf("the running request: %d %s %v", a.status, a.body, a.err)
	}
	if err := sv.wait(); err != nil {
		t.Errorf("Serve = %v", err)
	}
}

func TestDrainCutsOffWhatDoesNotEnd(t *testing.T) {
	b := newBlocker()
	sv := serve(t, &fake{execute: b.execute}, func(c *server.Config) { c.DrainTimeout = 20 * time.Millisecond }, listen(t))
	running := sv.go1(t.Context(), "/v1/execute", `{"code":"a"}`)
	eventually(t, "the job runs", func() bool { return b.running.Load() == 1 })
	sv.stop()
	p := sv.trouble(<-running, 503)
	if p.Kind != "unavailable" || !strings.Contains(p.Message, "shutting down") || b.cancelled.Load() != 1 {
		t.Errorf("%+v, cancelled %d", p, b.cancelled.Load())
	}
	if err := sv.wait(); err != nil {
		t.Errorf("Serve = %v", err)
	}
}

func TestServeRefuses(t *testing.T) {
	s, err := server.New(server.Config{Engine: &fake{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(t.Context()); errs.KindOf(err) != errs.Invalid {
		t.Errorf("no listener: %v", err)
	}
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(t.Context(), listen(t), l); errs.KindOf(err) != errs.Denied {
		t.Errorf("all addresses without a token: %v", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the refused listener is open: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Serve(ctx, listen(t)); err != nil {
		t.Errorf("Serve = %v", err)
	}
	if err := s.Serve(ctx, listen(t)); errs.KindOf(err) != errs.Conflict {
		t.Errorf("twice: %v", err)
	}
}

func TestListenerFailureEndsServe(t *testing.T) {
	l := listen(t)
	sv := serve(t, &fake{}, nil, l, listen(t))
	if a := sv.do("GET", "/healthz", ""); a.status != 200 {
		t.Fatal(a.status)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := sv.wait(); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("Serve = %v", err)
	}
}

// TestForeignAddressIsRefusedWithoutToken covers a handler that somebody mounts
// in a server of his own, past Serve's check.
func TestForeignAddressIsRefusedWithoutToken(t *testing.T) {
	s, err := server.New(server.Config{Engine: &fake{}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[net.Addr]int{
		&net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 1}: 403,
		&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}:         200,
		&net.TCPAddr{IP: net.IPv6loopback}:               200,
		&net.UnixAddr{Name: "x"}:                         200,
		nil:                                              403,
	} {
		r, err := http.NewRequestWithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, addr), http.MethodGet, "/readyz", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "localhost"
		w := &recorder{header: http.Header{}}
		s.Handler().ServeHTTP(w, r)
		if w.status != want {
			t.Errorf("%v: %d %s", addr, w.status, &w.body)
		}
	}
}

// recorder is a response writer with nothing behind it.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header         { return w.header }
func (w *recorder) WriteHeader(s int)           { w.status = s }
func (w *recorder) Write(p []byte) (int, error) { return w.body.Write(p) }

func TestConnectionsAreBounded(t *testing.T) {
	sv := serve(t, &fake{}, func(c *server.Config) { c.MaxConns = 3 }, listen(t))
	hold := make([]net.Conn, 0, 3)
	for range 3 {
		conn := sv.dial()
		hold = append(hold, conn)
		if line := ask(t, conn); !strings.HasPrefix(line, "HTTP/1.1 200 ") {
			t.Fatalf("got %q", line)
		}
	}
	conn := sv.dial()
	if line := ask(t, conn); line != "" {
		t.Errorf("a fourth connection got %q", line)
	}
	_ = conn.Close()
	_ = hold[0].Close()
	eventually(t, "a place is free again", func() bool {
		conn := sv.dial()
		defer conn.Close()
		return strings.HasPrefix(ask(t, conn), "HTTP/1.1 200 ")
	})
	for _, c := range hold[1:] {
		_ = c.Close()
	}
}

// ask sends a request on a connection and returns the first line of the answer,
// "" if there is none.
func ask(t *testing.T, conn net.Conn) string {
	t.Helper()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, _ = fmt.Fprintf(conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n") // may be closed: then no line comes
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return ""
	}
	return line
}

func TestSlowHeadersAndHugeHeadersAreCutOff(t *testing.T) {
	sv := serve(t, &fake{}, func(c *server.Config) { c.ReadHeaderTimeout = 30 * time.Millisecond }, listen(t))
	conn := sv.dial()
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: loc"); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(conn); err != nil || strings.Contains(string(b), "200") {
		t.Errorf("a header that never ends: %q, %v", b, err)
	}
	if a := sv.do("GET", "/healthz", "", "X-Big: "+strings.Repeat("x", 100<<10)); a.status != 431 {
		t.Errorf("a huge header: %d %v", a.status, a.err)
	}
}

func TestReceiverThatDoesNotReadIsCutOff(t *testing.T) {
	done := make(chan error, 1)
	sv := serve(t, &fake{export: func(_ context.Context, w io.Writer, _ banyan.ExportOptions) error {
		piece := bytes.Repeat([]byte("x"), 1<<20)
		for range 1 << 12 { // 4 GiB: more than any socket holds
			if _, err := w.Write(piece); err != nil {
				done <- err
				return err
			}
		}
		done <- nil
		return nil
	}}, func(c *server.Config) { c.WriteTimeout = 30 * time.Millisecond }, listen(t))
	conn := sv.dial()
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /graphs HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("4 GiB went to somebody who reads nothing")
	}
}
