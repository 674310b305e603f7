//go:build unix

package sock

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-ff860830/banyan/internal/errs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// short returns a folder whose socket path fits a socket address.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "bn")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func listen(t *testing.T, path string) net.Listener {
	t.Helper()
	l, err := Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// leaveStale leaves a socket that nobody listens on, as a killed daemon does.
func leaveStale(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
}

func roundTrip(t *testing.T, l net.Listener, path string) {
	t.Helper()
	got := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			_, err = conn.Write([]byte("x"))
			conn.Close()
		}
		got <- err
	}()
	conn, err := Dial(t.Context(), path, time.Second)
	if err != nil {
		l.Close()
		<-got
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestSocketIsPrivateWhateverTheUmask(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	path := Path(short(t))
	l := listen(t, path)
	st, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if st.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("mode = %v; want a socket with 0600", st.Mode())
	}
	if uid, err := Owner(path); err != nil || uid != os.Geteuid() {
		t.Errorf("Owner = %d, %v", uid, err)
	}
	roundTrip(t, l, path)
}

func TestLongPathsWork(t *testing.T) {
	dir := filepath.Join(short(t), strings.Repeat("d", 120))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := Listen(t.Context(), Path(dir))
	if err != nil {
		if errs.KindOf(err) == errs.Invalid && errs.HintOf(err) != "" {
			t.Skip("this platform has no way around the length of a socket's path: ", err)
		}
		t.Fatal(err)
	}
	defer l.Close()
	roundTrip(t, l, Path(dir))
	l.Close()
	if _, err := os.Lstat(Path(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// B31: a stale socket does not stop a start, a living daemon's is kept, and a
// regular file is neither deleted nor ignored.
func TestB31_StaleSocketIsReplacedLivingOneIsNot(t *testing.T) {
	path := Path(short(t))
	leaveStale(t, path)
	l := listen(t, path)
	roundTrip(t, l, path)

	_, err := Listen(t.Context(), path)
	if errs.KindOf(err) != errs.Conflict || !strings.Contains(err.Error(), path) {
		t.Errorf("second Listen: %v; want a conflict that names the socket", err)
	}
	roundTrip2(t, l, path)
}

// roundTrip2 drains the probe's connection first.
func roundTrip2(t *testing.T, l net.Listener, path string) {
	t.Helper()
	if conn, err := l.Accept(); err == nil {
		conn.Close()
	}
	roundTrip(t, l, path)
}

func TestB31_WhatIsNoSocketIsLeftAlone(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"a regular file": func(p string) error { return os.WriteFile(p, []byte("precious"), 0o600) },
		"a folder":       func(p string) error { return os.Mkdir(p, 0o700) },
		"a link":         func(p string) error { return os.Symlink("/nowhere", p) },
	} {
		path := Path(short(t))
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		_, err := Listen(t.Context(), path)
		if errs.KindOf(err) != errs.Conflict || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v; want a conflict that names it", name, err)
		}
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s is gone: %v", name, err)
		}
		if _, err := Owner(path); err == nil {
			t.Errorf("%s counts as a socket", name)
		}
	}
}

func TestCloseKeepsTheSocketOfASuccessor(t *testing.T) {
	path := Path(short(t))
	old := listen(t, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	successor := listen(t, path)
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	roundTrip(t, successor, path)
	if err := old.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

func TestDialOfNothingIsAnError(t *testing.T) {
	for _, path := range []string{Path(short(t)), filepath.Join(short(t), "no", "such", strings.Repeat("x", 120), Name)} {
		conn, err := Dial(context.Background(), path, time.Second)
		if err == nil {
			conn.Close()
			t.Errorf("Dial(%s) connected", path)
		}
	}
}
