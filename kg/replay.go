package kg

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// replayName is a file in the data folder from before the logs of a killed
// process are replayed until what came of it was found whole. Badger turns the
// logs into tables when it closes, whatever was missing in them; the next to
// open the store would see a store that was closed, and count nothing.
const replayName = "REPLAY"

// beginReplay reports whether the rows of the store have to be counted: there
// are logs to replay, or there were and nobody has counted since.
func beginReplay(dir string) (bool, error) {
	files, err := listFiles(dir)
	if err != nil {
		return false, err
	}
	path := filepath.Join(dir, replayName)
	if len(files.mems) == 0 {
		_, err := os.Lstat(path)
		return err == nil, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close(), syncFolder(dir))
	}
	if err != nil {
		return false, errs.Wrap(errs.Unavailable, err, "the data folder %q cannot be written", filepath.Base(dir))
	}
	return true, nil
}

// endReplay notes that the rows were counted, and are all there.
func endReplay(dir string) error {
	err := os.Remove(filepath.Join(dir, replayName))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return errs.Wrap(errs.Unavailable, err, "the data folder %q cannot be written", filepath.Base(dir))
	}
	return nil
}

// counted is the step of Open behind its check.
func (s *Store) counted(context.Context) error {
	if !s.replayed {
		return nil
	}
	return endReplay(s.room.dir)
}
