package kg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/dgraph-io/badger/v4"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// fsck is one run of Fsck.
type fsck struct {
	ctx    context.Context //nolint:containedctx // lives for one call
	dir    string
	quick  bool
	files  *storeFiles
	noted  uint64 // commit number by COMMITS
	report FsckReport
}

// run checks the files, and if Badger can bear them, what they hold.
func (f *fsck) run() {
	openable := f.checkFiles()
	if openable {
		openable = f.checkContents()
	}
	switch {
	case !openable:
		f.report.Verdict = FsckUnreadable
	case f.found():
		f.report.Verdict = FsckDamaged
	default:
		f.report.Verdict = FsckClean
		return
	}
	f.report.Hint = restoreHint
}

// checkFiles looks at the files without Badger. It reports whether Badger may
// open them.
func (f *fsck) checkFiles() bool {
	files, err := listFiles(f.dir)
	f.report.note("folder", "", err, "")
	if err != nil {
		return false
	}
	f.files, f.report.Bytes = files, files.bytes
	f.checkHighWater()
	if !files.manifest {
		err := files.unborn(f.dir)
		if err == nil && f.noted > 0 {
			err = errLost("the store has lost everything, %d commits", f.noted)
		}
		f.report.note("manifest", manifestName, err, "the store is new and empty")
		return err == nil
	}
	if err := dropEmptyLogs(f.dir, files); err != nil {
		f.report.note("logs", "", err, "")
		return false
	}
	if err := files.readManifest(f.dir); err != nil {
		f.report.note("manifest", manifestName, err, "")
		return false
	}
	err = files.consistent(f.dir)
	f.report.note("manifest", manifestName, err, fmt.Sprintf("%d tables", len(files.listed)))
	whole := f.checkTables()
	if len(files.mems) > 0 {
		f.report.note("logs", files.mems[0], nil, fmt.Sprintf("the process that wrote last was killed; %d logs are replayed", len(files.mems)))
	}
	return err == nil && whole
}

// checkHighWater reads COMMITS. Its damage is noted and is no damage of the
// store: the file is a guard.
func (f *fsck) checkHighWater() {
	path, found := filepath.Join(f.dir, highWaterName), "missing; lost commits would not be noticed"
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		f.report.note("commit number", highWaterName, errLost("%s of the store is not a file", highWaterName), "")
		return
	}
	file, err := os.Open(path)
	if err == nil {
		f.noted = (&highWater{f: file}).read()
		_ = file.Close() // only read
		if found = fmt.Sprintf("commit %d", f.noted); f.noted == 0 {
			found = "unreadable; lost commits would not be noticed"
		}
	}
	f.report.note("commit number", highWaterName, nil, found)
}

// checkTables verifies every table and reports each that is damaged.
func (f *fsck) checkTables() bool {
	var mu sync.Mutex
	bad := map[string]error{}
	err := f.files.verifyTables(f.ctx, f.dir, func(name string, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			bad[name] = err
		}
	})
	if err != nil {
		f.report.note("tables", "", err, "")
		return false
	}
	for _, name := range f.files.tables {
		if err := bad[name]; err != nil {
			f.report.note("table", name, err, "")
		}
	}
	if len(bad) == 0 {
		f.report.note("tables", "", nil, fmt.Sprintf("every block of %d tables", len(f.files.listed)))
	}
	return len(bad) == 0
}

// checkContents opens the store and holds what it contains against its own
// account. It reports whether that could be read.
func (f *fsck) checkContents() (readable bool) {
	if !f.files.manifest {
		return true
	}
	opt := badgerOptions(Config{Dir: f.dir, Logger: slog.New(slog.DiscardHandler)})
	// A log of a killed process has to be cut behind its last whole record,
	// which Badger does not do when it only reads.
	opt = opt.WithReadOnly(len(f.files.mems) == 0)
	replayed, err := beginReplay(f.dir)
	if err == nil && !opt.ReadOnly {
		err = roomToOpen(f.dir)
	}
	var db *badger.DB
	if err == nil {
		db, err = openWith(opt, f.dir)
	}
	f.report.note("open", "", err, "")
	if err != nil {
		return false
	}
	defer func() {
		if err := db.Close(); err != nil {
			f.report.note("close", "", errs.Wrap(errs.Corrupt, err, "the store does not close"), "")
		}
	}()
	txn := db.NewTransaction(false)
	defer txn.Discard()
	readable = f.checkRows(txn)
	if replayed && readable && !f.quick && f.ctx.Err() == nil && !f.found() {
		f.report.note("replay", replayName, endReplay(f.dir), "every row is there")
	}
	return readable
}

// found reports whether any check has found something.
func (f *fsck) found() bool {
	return slices.ContainsFunc(f.report.Checks, func(c FsckCheck) bool { return !c.OK })
}

// checkRows checks the record, the graph table, and in full the rows.
func (f *fsck) checkRows(txn *badger.Txn) bool {
	m, ok, err := readMeta(txn)
	if err == nil && !ok {
		err = errLost("the store has lost its own record of itself")
	}
	if err == nil {
		f.report.Commit, f.report.Triples = m.commit, m.triples
		if m.commit < f.noted {
			err = errLost("the store has lost its last commits, %d of them", f.noted-m.commit)
		}
	}
	f.report.note("record", "", err, fmt.Sprintf("commit %d, %d triples", m.commit, m.triples))
	if !ok || err != nil && errs.KindOf(err) != errs.Corrupt {
		return false
	}
	table, sum, err := loadGraphs(txn, m.graphs)
	if err == nil && sum != m.triples {
		err = errLost("the store's record speaks of %d triples, its graphs of %d", m.triples, sum)
	}
	f.report.note("graphs", "", err, fmt.Sprintf("%d graphs", lenOf(table)))
	if table == nil || f.quick {
		return table != nil
	}
	d := deepCheck{fsck: f, txn: txn, meta: m, table: table}
	d.run()
	return true
}

func lenOf(t *graphTable) int {
	if t == nil {
		return 0
	}
	return len(t.number)
}

// openWith opens Badger with options, and turns a panic in this goroutine into
// an answer about the files.
func openWith(opt badger.Options, dir string) (db *badger.DB, err error) {
	defer func() {
		if p := recover(); p != nil {
			db, err = nil, errs.Wrap(errs.Corrupt, fmt.Errorf("panic: %v", p), "the store's files are damaged").WithHint(restoreHint)
		}
	}()
	db, err = badger.Open(opt)
	if err == nil {
		return db, nil
	}
	if errors.Is(err, os.ErrPermission) {
		return nil, errs.Wrap(errs.Unavailable, err, "the store in %q cannot be read", filepath.Base(dir))
	}
	return nil, errs.Wrap(errs.Corrupt, err, "the store in %q does not open", filepath.Base(dir)).WithHint(restoreHint)
}
