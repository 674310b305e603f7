package kg

import (
	"encoding/binary"
	"os"
	"path/filepath"

	"github.com/zeebo/xxh3"
)

// highWater remembers, in a file beside the database, the number of the last
// commit. Badger opens silently, with the last commits or whole tables gone,
// when some of its files are missing or damaged; the number in this file is
// then ahead of the store's own.
//
// The file is written after the commit and is not synced: it survives the
// death of the process, and after a loss of power it may lag behind, but it
// can never run ahead of a store that is whole.
type highWater struct{ f *os.File }

// highWaterName is the file's name in the data folder.
const highWaterName = "COMMITS"

// highWaterLen is the commit number and its checksum.
const highWaterLen = 16

// openHighWater opens or makes the file.
func openHighWater(dir string) (*highWater, error) {
	f, err := os.OpenFile(filepath.Join(dir, highWaterName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return &highWater{f: f}, nil
}

// read returns the remembered number; 0 if the file says nothing, since it is
// a guard and its own damage is not the store's.
func (h *highWater) read() uint64 {
	if h == nil {
		return 0
	}
	b := make([]byte, highWaterLen)
	if _, err := h.f.ReadAt(b, 0); err != nil {
		return 0
	}
	if xxh3.Hash(b[:8]) != binary.BigEndian.Uint64(b[8:]) {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

// write remembers a number.
func (h *highWater) write(commit uint64) error {
	if h == nil {
		return nil
	}
	b := binary.BigEndian.AppendUint64(nil, commit)
	b = binary.BigEndian.AppendUint64(b, xxh3.Hash(b))
	_, err := h.f.WriteAt(b, 0)
	return err
}

// close closes the file.
func (h *highWater) close() error {
	if h == nil {
		return nil
	}
	return h.f.Close()
}
