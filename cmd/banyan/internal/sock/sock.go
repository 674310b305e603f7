// Package sock makes and dials the daemon's unix socket.
//
// The socket lies in the data folder and only its owner can connect to it. A
// socket that a dead daemon left behind is replaced; a living daemon's is
// never taken away, and what is no socket is never removed.
package sock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// Name is the socket's file name in the data folder.
const Name = "banyan.sock"

// maxPath is the longest path that fits a socket address on every platform
// (sun_path has 104 bytes on darwin, 108 on Linux, the closing zero included).
const maxPath = 103

// probeTimeout bounds the question whether somebody answers at a socket.
const probeTimeout = 2 * time.Second

// Path returns the path of the socket in a data folder.
func Path(dir string) string { return filepath.Join(dir, Name) }

// Owner returns the user id of the owner of the socket at path. It is an error
// if nothing is there, or something that is no socket; a link is not followed.
func Owner(path string) (int, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return 0, cause(err)
	}
	if st.Mode().Type() != fs.ModeSocket {
		return 0, fmt.Errorf("it is %s and no socket", what(st.Mode()))
	}
	return ownerOf(st), nil
}

// Dial connects to the socket at path, however long the path is.
func Dial(ctx context.Context, path string, timeout time.Duration) (net.Conn, error) {
	addr, release, err := shorten(path)
	if err != nil {
		return nil, err
	}
	defer release()
	d := net.Dialer{Timeout: timeout}
	return d.DialContext(ctx, "unix", addr)
}

// Listen makes the daemon's socket at path and listens on it. The caller holds
// the data folder's store, so that no two daemons of one folder are here at a
// time. A socket at path is replaced only if nobody answers there; anything
// else at path is Conflict. Closing the listener removes the socket.
func Listen(ctx context.Context, path string) (net.Listener, error) {
	if err := clear(ctx, path); err != nil {
		return nil, err
	}
	addr, release, err := shorten(path)
	if err != nil {
		return nil, err
	}
	// The mode is set before the socket has a name, so that at no time others
	// could connect, whatever the umask is.
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error { return restrict(c) }}
	l, err := lc.Listen(ctx, "unix", addr)
	if err != nil {
		release()
		return nil, errs.Wrap(errs.Unavailable, err, "the socket %s cannot be made: %v", path, bindCause(err))
	}
	ul := l.(*net.UnixListener)
	ul.SetUnlinkOnClose(false) // it would remove a successor's socket, too
	own := &listener{UnixListener: ul, path: path, release: release}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = own.Close() // the first error counts
		return nil, errs.Wrap(errs.Unavailable, err, "the mode of the socket %s cannot be set: %v", path, cause(err))
	}
	if own.made, err = os.Lstat(path); err != nil {
		_ = own.Close() // the first error counts
		return nil, errs.Wrap(errs.Unavailable, err, "the socket %s went away", path)
	}
	return own, nil
}

// clear makes way for a socket at path, or says what stands there.
func clear(ctx context.Context, path string) error {
	st, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return errs.Wrap(errs.Unavailable, err, "the place of the socket %s cannot be looked at: %v", path, cause(err))
	}
	if st.Mode().Type() != fs.ModeSocket {
		return errs.New(errs.Conflict, "%s is in the way: it is %s and no socket, so it is left alone", path, what(st.Mode())).
			WithHint("mv %s %s.old", path, path)
	}
	conn, err := Dial(ctx, path, probeTimeout)
	if err == nil {
		conn.Close()
		return Taken(path)
	}
	// Only a refusal proves that nobody listens; a full queue or a missing
	// permission does not.
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return Taken(path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errs.Wrap(errs.Unavailable, err, "the socket %s of a daemon that is gone cannot be removed: %v", path, cause(err))
	}
	return nil
}

// Taken is the error of a daemon that finds another one at its socket.
func Taken(path string) error {
	return errs.New(errs.Conflict, "another daemon serves this data folder already: it listens on %s", path).
		WithHint("banyan --url unix://%s status", path)
}

// listener removes its socket when it is closed, if it is still its own.
type listener struct {
	*net.UnixListener
	path    string
	made    fs.FileInfo
	release func()
	once    sync.Once
	err     error
}

// Close stops listening and removes the socket. Closing again does nothing.
func (l *listener) Close() error {
	l.once.Do(func() {
		if now, err := os.Lstat(l.path); err == nil && l.made != nil && os.SameFile(now, l.made) {
			_ = os.Remove(l.path) // what is left is replaced at the next start
		}
		l.err = l.UnixListener.Close()
		l.release()
	})
	return l.err
}

// what names a sort of file.
func what(m fs.FileMode) string {
	switch m.Type() {
	case 0:
		return "a regular file"
	case fs.ModeDir:
		return "a folder"
	case fs.ModeSymlink:
		return "a link"
	}
	return "a special file"
}

// cause is what lies under a path error; the sentence around names the path.
func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func bindCause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}
