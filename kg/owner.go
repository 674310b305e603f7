package kg

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// ownerName is the file in the data folder that says who has the store open.
const ownerName = "OWNER"

// owner is the open and locked owner file. The lock is the kernel's: it goes
// when the process does, however that ends, so a file left behind by a process
// that was killed needs no one to remove it.
type owner struct{ f *os.File }

// ownerRecord is what the file says. It only serves the message to a second
// opener; the lock alone decides.
type ownerRecord struct {
	PID     int    `json:"pid"`
	Program string `json:"program"`
}

// takeOwnership locks the data folder for this process, or refuses with a
// sentence that says who has it.
func takeOwnership(dir string) (*owner, error) {
	f, err := os.OpenFile(filepath.Join(dir, ownerName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, errs.Wrap(errs.Unavailable, err, "the data folder %q cannot be written", filepath.Base(dir))
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close() // nothing was written
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, heldBy(dir, f)
		}
		return nil, errs.Wrap(errs.Unavailable, err, "the data folder %q cannot be locked", filepath.Base(dir))
	}
	o := &owner{f: f}
	if err := o.sign(); err != nil {
		return nil, errors.Join(errs.Wrap(errs.Unavailable, err, "the data folder %q cannot be written", filepath.Base(dir)), f.Close())
	}
	return o, nil
}

// sign writes this process into the file.
func (o *owner) sign() error {
	b, err := json.Marshal(ownerRecord{PID: os.Getpid(), Program: filepath.Base(os.Args[0])})
	if err != nil {
		return err
	}
	if err := o.f.Truncate(0); err != nil {
		return err
	}
	_, err = o.f.WriteAt(append(b, '\n'), 0)
	return err
}

// heldBy is the refusal of a second opener.
func heldBy(dir string, f *os.File) error {
	who := "another process"
	var rec ownerRecord
	if b, err := io.ReadAll(io.LimitReader(f, 1024)); err == nil && json.Unmarshal(b, &rec) == nil && rec.PID > 0 {
		who = fmt.Sprintf("process %d (%s)", rec.PID, quote(rec.Program))
		if rec.PID == os.Getpid() {
			who = fmt.Sprintf("this process (%d)", rec.PID)
		}
	}
	return errs.New(errs.Conflict, "the store in %q is already open: %s has it", filepath.Base(dir), who).
		WithHint("talk to the running daemon, or stop it first")
}

// release gives the folder free.
func (o *owner) release() error {
	if o == nil {
		return nil
	}
	return o.f.Close()
}
