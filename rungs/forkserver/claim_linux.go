package forkserver

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// claimFile is where the daemons of one host agree on user ids. Byte n of it
// stands for id n; it has no bytes, only locks on them. In /run only root can
// make it, so nobody else can hold the ids back.
const claimFile = "/run/banyan.uids"

// claims are the user ids that this process has for itself. The kernel lets go
// of them when it ends, however it ends.
type claims struct{ file *os.File }

func openClaims(path string) (*claims, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	return &claims{f}, nil
}

// claim locks n ids from first. The lock belongs to the open file (fcntl(2),
// "open file description locks"), so that two rungs of one process count as two.
func (c *claims) claim(first, n int) (bool, error) {
	raw, err := c.file.SyscallConn()
	if err != nil {
		return false, err
	}
	var inner error
	err = raw.Control(func(fd uintptr) {
		lock := unix.Flock_t{Type: unix.F_WRLCK, Start: int64(first), Len: int64(n)}
		inner = unix.FcntlFlock(fd, unix.F_OFD_SETLK, &lock)
	})
	if errors.Is(inner, unix.EAGAIN) || errors.Is(inner, unix.EACCES) {
		return false, err
	}
	return err == nil && inner == nil, errors.Join(err, inner)
}

func (c *claims) close() error {
	if c == nil {
		return nil
	}
	return c.file.Close()
}
