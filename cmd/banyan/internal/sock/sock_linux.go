package sock

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// shorten returns an address for the socket at path that fits into a socket
// address, and a function that gives up what it holds. A long path goes
// through the folder's descriptor in /proc.
func shorten(path string) (addr string, release func(), err error) {
	if len(path) <= maxPath {
		return path, func() {}, nil
	}
	fd, err := unix.Open(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", nil, &fs.PathError{Op: "open", Path: filepath.Dir(path), Err: err}
	}
	dir := os.NewFile(uintptr(fd), filepath.Dir(path))
	return fmt.Sprintf("/proc/self/fd/%d/%s", fd, filepath.Base(path)), func() { dir.Close() }, nil
}

// restrict gives a socket that has no name yet the mode that its name will
// have; Linux takes it over at bind (net/unix/af_unix.c, unix_bind_bsd).
func restrict(c syscall.RawConn) error {
	var err error
	if cerr := c.Control(func(fd uintptr) { err = unix.Fchmod(int(fd), 0o600) }); cerr != nil {
		return cerr
	}
	return err
}
