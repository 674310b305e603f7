package kg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"golang.org/x/sync/errgroup"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// The names of Badger's files.
const (
	manifestName = "MANIFEST"
	registryName = "KEYREGISTRY"
	discardName  = "DISCARD"
	tableSuffix  = ".sst"
	memSuffix    = ".mem"
	vlogSuffix   = ".vlog"
)

// storeFiles are the files of a data folder by their kind.
type storeFiles struct {
	tables, mems, vlogs []string
	manifest, registry  bool
	bytes               int64
	manifestState
}

// manifestState is what the manifest says.
type manifestState struct {
	listed map[string]bool // tables by file name; true if compressed by snappy
	torn   int64           // bytes behind the last whole record
}

// precheck looks at Badger's files before Badger does. Badger reads a table in
// a goroutine of its own, and panics there if it is damaged, which ends the
// process; it deletes every table that the manifest does not list, so a cut
// manifest costs what it no longer lists; and it stops a scan without a word
// at a block it cannot read. So all of it is verified here, in the caller's
// goroutine: what is damaged is Corrupt, and nothing was changed by then.
func precheck(ctx context.Context, dir string) error {
	if err := roomToOpen(dir); err != nil {
		return err
	}
	files, err := listFiles(dir)
	if err != nil {
		return err
	}
	if !files.manifest {
		return files.unborn(dir)
	}
	if err := dropEmptyLogs(dir, files); err != nil {
		return err
	}
	if err := files.readManifest(dir); err != nil {
		return err
	}
	if err := files.consistent(dir); err != nil {
		return err
	}
	return files.verifyTables(ctx, dir, nil)
}

// listFiles sorts the folder's files. One that is not a file is Corrupt.
func listFiles(dir string) (*storeFiles, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, errs.Wrap(errs.Unavailable, err, "the store in %q cannot be read", filepath.Base(dir))
	}
	f := &storeFiles{}
	for _, e := range entries {
		name := e.Name()
		switch {
		case strings.HasSuffix(name, tableSuffix):
			f.tables = append(f.tables, name)
		case strings.HasSuffix(name, memSuffix):
			f.mems = append(f.mems, name)
		case strings.HasSuffix(name, vlogSuffix):
			f.vlogs = append(f.vlogs, name)
		case name == manifestName:
			f.manifest = true
		case name == registryName:
			f.registry = true
		case name != discardName:
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, errs.Wrap(errs.Unavailable, err, "the file %s of the store cannot be read", quote(name))
		}
		if !info.Mode().IsRegular() {
			return nil, errLost("%s of the store is not a file", quote(name))
		}
		f.bytes += info.Size()
	}
	return f, nil
}

// unborn judges a folder without a manifest: it is a new store's, or has lost
// it. Badger would make a new manifest and delete every table.
func (f *storeFiles) unborn(dir string) error {
	if len(f.tables)+len(f.mems)+len(f.vlogs) > 0 || f.registry {
		return errLost("the store has lost its MANIFEST, the list of its tables")
	}
	return cutOffRestore(dir)
}

// dropEmptyLogs removes log files without any content: a process that is
// killed between making one and giving it its length leaves it, and Badger
// does not open a store with one. If something was cut out of it, the number
// of the last commit tells.
func dropEmptyLogs(dir string, f *storeFiles) error {
	for _, names := range [...]*[]string{&f.mems, &f.vlogs} {
		kept := (*names)[:0]
		for _, name := range *names {
			path := filepath.Join(dir, name)
			info, err := os.Stat(path)
			if err == nil && info.Size() == 0 {
				err = os.Remove(path)
			} else {
				kept = append(kept, name)
			}
			if err != nil {
				return errs.Wrap(errs.Unavailable, err, "the file %s of the store cannot be read", quote(name))
			}
		}
		*names = kept
	}
	return nil
}

// readManifest reads the list of tables, with Badger's own reader.
func (f *storeFiles) readManifest(dir string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = damagedManifest(fmt.Errorf("panic: %v", p))
		}
	}()
	file, err := os.Open(filepath.Join(dir, manifestName))
	if err != nil {
		return errs.Wrap(errs.Unavailable, err, "the MANIFEST of the store cannot be read")
	}
	defer file.Close()
	m, end, err := badger.ReplayManifestFile(file, 0, badgerOptions(Config{Dir: dir, Logger: slog.New(slog.DiscardHandler)}))
	if err != nil {
		return damagedManifest(err)
	}
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return errs.Wrap(errs.Unavailable, err, "the MANIFEST of the store cannot be read")
	}
	f.torn = size - end
	f.listed = make(map[string]bool, len(m.Tables))
	for id, t := range m.Tables {
		f.listed[fmt.Sprintf("%06d%s", id, tableSuffix)] = t.Compression != 0
	}
	return nil
}

func damagedManifest(cause error) error {
	return errs.Wrap(errs.Corrupt, cause, "the MANIFEST of the store, the list of its tables, is damaged").WithHint(restoreHint)
}

// consistent holds the list against the folder. A store that was closed has a
// whole list, no table beside it and no log. Only a process that was killed
// leaves the last record torn, or a table that is not listed yet.
func (f *storeFiles) consistent(dir string) error {
	for name := range f.listed {
		if !slices.Contains(f.tables, name) {
			return errLost("the table file %s of the store is missing", quote(name))
		}
	}
	if f.torn > 0 && len(f.mems) == 0 {
		return errLost("the MANIFEST of the store, the list of its tables, is cut off")
	}
	return f.unlisted(dir)
}

// unlisted judges the tables that are not listed, which Badger would delete. A
// killed process leaves one that was written from a log, and then that log is
// there as well; or one that was made of other tables, and then those are
// listed. Any other says that the list has lost a part.
func (f *storeFiles) unlisted(dir string) error {
	if len(f.tables) == len(f.listed) {
		return nil // all that are listed are there
	}
	var newest uint64 // version in a listed table
	extra := map[string]uint64{}
	for _, name := range f.tables {
		v, readable := tableVersion(filepath.Join(dir, name))
		if _, ok := f.listed[name]; ok {
			newest = max(newest, v)
		} else if readable { // else it was never finished
			extra[name] = v
		}
	}
	for name, v := range extra {
		if len(f.mems) > 0 && (v <= newest || f.logged(dir, v)) {
			continue
		}
		return errLost("the MANIFEST of the store does not list the table file %s", quote(name))
	}
	return nil
}

// logged reports whether a log begins at or before a version.
func (f *storeFiles) logged(dir string, version uint64) bool {
	return slices.ContainsFunc(f.mems, func(name string) bool {
		v, ok := logVersion(filepath.Join(dir, name))
		return ok && v <= version
	})
}

// verifyTables verifies every listed table, two at a time; each is told to
// see, if that is not nil, and then the first error does not end the loop.
func (f *storeFiles) verifyTables(ctx context.Context, dir string, see func(name string, err error)) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2)
	for _, name := range f.tables { // sorted by name
		snappy, ok := f.listed[name]
		if !ok {
			continue
		}
		group.Go(func() error {
			err := verifyTable(ctx, filepath.Join(dir, name), snappy)
			if see != nil {
				see(name, err)
				return nil
			}
			return err
		})
	}
	return group.Wait()
}

// restoreSuffix names the folder, beside the store's, that Restore builds in.
const restoreSuffix = ".restoring"

// restoreMarker is a file in that folder for as long as the store in it is not
// complete.
const restoreMarker = "RESTORING"

// cutOffRestore refuses to begin an empty store where a restore has moved the
// former one aside and was killed before it could put the new one in its
// place; that is possible only where two folders cannot be exchanged in one
// step.
func cutOffRestore(dir string) error {
	beside := dir + restoreSuffix
	if _, err := os.Stat(filepath.Join(beside, manifestName)); err != nil {
		return nil
	}
	if _, err := os.Stat(filepath.Join(beside, restoreMarker)); !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return errs.New(errs.Corrupt, "a restore of the store in %q was cut off before its last step", filepath.Base(dir)).
		WithHint("run the restore again; nothing was lost")
}
