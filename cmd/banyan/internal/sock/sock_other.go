//go:build !linux

package sock

import (
	"syscall"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// shorten refuses a path that does not fit a socket address.
func shorten(path string) (addr string, release func(), err error) {
	if len(path) > maxPath {
		return "", nil, errs.New(errs.Invalid, "the socket's path %s is longer than the %d bytes that this platform allows", path, maxPath).
			WithHint("choose a data folder with a shorter path: --data DIR")
	}
	return path, func() {}, nil
}

// restrict does nothing: here the folder's mode keeps others out until the
// socket's own mode is set.
func restrict(syscall.RawConn) error { return nil }
