package kg

import (
	"errors"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// reserveBytes is the room on the disk that the store leaves free. Badger
// writes its log and its tables through memory maps, where a full disk is not
// an error but a signal that ends the process; so a write is refused while
// there still is room for all that was accepted: the logs of three memtables,
// the tables they become, and a compaction of them.
const reserveBytes = 8 * memTableBytes

// openBytes is the room that opening takes at most: a new log, and the table
// that the log of a killed process becomes.
const openBytes = 2 * memTableBytes

// room watches the disk that a store is on.
type room struct {
	dir     string // "" for a store in memory
	reserve uint64
}

func newRoom(cfg Config) room { return room{dir: cfg.Dir, reserve: reserveBytes} }

// check refuses a write that the disk has no room for. It costs one system
// call. When room is made, the next write is taken.
func (r room) check() error {
	if r.dir == "" {
		return nil
	}
	free, err := freeBytes(r.dir)
	if err != nil {
		return errs.Wrap(errs.Unavailable, err, "the disk of the store in %q does not answer", filepath.Base(r.dir))
	}
	if free >= r.reserve {
		return nil
	}
	return errs.New(errs.Exhausted, "the disk is full: %d MiB are free and the store leaves %d MiB so", free>>20, r.reserve>>20).
		WithHint("make room on the disk; the store then takes writes again by itself")
}

// roomToOpen refuses to open a store that Badger would die of opening.
func roomToOpen(dir string) error {
	free, err := freeBytes(dir)
	if err != nil || free >= openBytes {
		return nil // what cannot be asked is not known to be full
	}
	return errs.New(errs.Exhausted, "the disk is full: %d MiB are free, and the store needs %d MiB to open", free>>20, openBytes>>20).
		WithHint("make room on the disk; nothing is lost")
}

// freeBytes is what an ordinary process may still write on a folder's disk.
func freeBytes(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil //nolint:unconvert // the types differ between systems
}

// diskFull reports an error that says so.
func diskFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}
