package kg

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// restoreBatch is how many quads one transaction of a restore writes.
const restoreBatch = 4000

// restoring is one run of Restore.
type restoring struct {
	ctx    context.Context //nolint:containedctx // lives for one call
	dir    string
	force  bool
	report RestoreReport
}

// beside is the folder that the new store is built in.
func (res *restoring) beside() string { return res.dir + restoreSuffix }

// run holds the folder's ownership from the beginning to the end, so that no
// daemon and no second restore comes between.
func (res *restoring) run(r io.Reader) (RestoreReport, error) {
	if res.dir == "" {
		return RestoreReport{}, errs.New(errs.Invalid, "a restore needs a folder")
	}
	res.dir = filepath.Clean(res.dir)
	if err := os.MkdirAll(res.dir, 0o700); err != nil {
		return RestoreReport{}, res.unavailable(err)
	}
	own, err := takeOwnership(res.dir)
	if err != nil {
		return RestoreReport{}, err
	}
	defer own.release() //nolint:errcheck // nothing was written
	occupied, err := res.occupied()
	if err != nil {
		return RestoreReport{}, err
	}
	if err := res.clear(); err != nil {
		return RestoreReport{}, err
	}
	if err := res.build(r); err != nil {
		return RestoreReport{}, errors.Join(err, os.RemoveAll(res.beside()))
	}
	if err := res.swap(occupied); err != nil {
		return RestoreReport{}, err
	}
	return res.report, nil
}

func (res *restoring) unavailable(err error) error {
	if diskFull(err) {
		return errs.Wrap(errs.Exhausted, err, "the disk is full: the store was not restored, nothing was changed")
	}
	return errs.Wrap(errs.Unavailable, err, "the folder of the store cannot be written; nothing was changed")
}

// occupied reports whether there is anything in the folder to be lost.
func (res *restoring) occupied() (bool, error) {
	entries, err := os.ReadDir(res.dir)
	if err != nil {
		return false, res.unavailable(err)
	}
	for _, e := range entries {
		if e.Name() == ownerName {
			continue
		}
		if !res.force {
			return true, errs.New(errs.Conflict, "there is a store in %q already", filepath.Base(res.dir)).
				WithHint("force the restore to put the backup in its place; the store that is there is kept beside")
		}
		return true, nil
	}
	return false, nil
}

// clear makes room for the new store. What a restore left that was killed
// before its swap is removed; what one left that was killed after it is the
// former store, and is kept.
func (res *restoring) clear() error {
	_, err := os.Lstat(res.beside())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return res.unavailable(err)
	}
	_, err = os.Lstat(filepath.Join(res.beside(), restoreMarker))
	if err == nil {
		err = os.RemoveAll(res.beside())
	} else if errors.Is(err, os.ErrNotExist) {
		err = os.Rename(res.beside(), res.asideName())
	}
	if err != nil {
		return res.unavailable(err)
	}
	return nil
}

// build fills a new store from the backup and checks it wholly. The marker is
// the first file of the folder and goes last.
func (res *restoring) build(r io.Reader) error {
	in, err := openBackup(r)
	if err != nil {
		return err
	}
	if err := os.Mkdir(res.beside(), 0o700); err != nil {
		return res.unavailable(err)
	}
	marker := filepath.Join(res.beside(), restoreMarker)
	if err := os.WriteFile(marker, nil, 0o600); err != nil {
		return res.unavailable(err)
	}
	if err := syncFolder(res.beside()); err != nil {
		return res.unavailable(err)
	}
	if err := res.load(in); err != nil {
		return err
	}
	found, err := Fsck(res.ctx, res.beside(), FsckOptions{})
	if err != nil {
		return err
	}
	if !found.Clean() || found.Triples != in.triples {
		return errs.New(errs.Corrupt, "the restored store does not hold what the backup does; nothing was changed")
	}
	if err := os.Remove(marker); err != nil {
		return res.unavailable(err)
	}
	if err := syncFolder(res.beside()); err != nil {
		return res.unavailable(err)
	}
	res.report = RestoreReport{Commit: in.commit, Triples: in.triples}
	return nil
}

// load writes the quads of the backup into a new store. The graphs that a new
// store is born with go first.
func (res *restoring) load(in *backupReader) (err error) {
	s, err := Open(res.ctx, Config{Dir: res.beside(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	born, err := s.Graphs(res.ctx)
	if err != nil {
		return err
	}
	err = s.Update(res.ctx, func(tx *Tx) error {
		for _, g := range born {
			if err := tx.DeleteGraph(g); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	l := &refill{ctx: res.ctx, s: s}
	if err := in.quads(l.put); err != nil {
		return err
	}
	return l.flush()
}

// refill gathers quads into transactions.
type refill struct {
	ctx   context.Context //nolint:containedctx // lives for one call
	s     *Store
	quads []ttl.Quad
	bytes int
}

func (l *refill) put(q ttl.Quad) error {
	if err := checkQuad(q); err != nil {
		return damagedBackup(err)
	}
	l.quads = append(l.quads, q)
	l.bytes += len(q.S.Value) + len(q.P.Value) + len(q.O.Value) + len(q.G.Value)
	if len(l.quads) < restoreBatch && l.bytes < 1<<20 {
		return nil
	}
	return l.flush()
}

// flush commits what was gathered, in as many transactions as it takes. What is
// kept in memory is not brought up to date, since the store is closed before
// anyone asks it.
func (l *refill) flush() error {
	for rest := l.quads; len(rest) > 0; {
		n := 0
		err := l.s.Update(l.ctx, func(tx *Tx) error {
			for n < len(rest) && !tx.full() {
				if err := tx.add(rest[n]); err != nil {
					return err
				}
				n++
			}
			return nil
		})
		if err != nil {
			return err
		}
		rest = rest[n:]
	}
	l.quads, l.bytes = l.quads[:0], 0
	return nil
}

// swap puts the new store in the folder's place, in one step where the system
// has one, and moves the former one aside.
func (res *restoring) swap(occupied bool) error {
	aside := res.asideName()
	former := res.beside() // where the former store is after the exchange
	err := exchange(res.dir, res.beside())
	if errors.Is(err, errors.ErrUnsupported) {
		former, err = aside, res.swapInTwo(aside)
	}
	if err != nil {
		return errors.Join(res.unavailable(err), res.dropNew())
	}
	// What came into the folder while the backup was read is someone's: only a
	// folder that is still empty goes.
	if occupied || !removeEmpty(former) {
		if former != aside && os.Rename(former, aside) == nil {
			former = aside // else it is kept all the same, and the next restore moves it
		}
		res.report.Aside = filepath.Base(former)
	}
	if err := errors.Join(err, syncFolder(filepath.Dir(res.dir))); err != nil {
		return errs.Wrap(errs.Unavailable, err, "the store was restored, and may not survive a loss of power")
	}
	return nil
}

// removeEmpty removes a folder that holds nothing but the owner's file.
func removeEmpty(dir string) bool {
	_ = os.Remove(filepath.Join(dir, ownerName)) // else the folder is not empty
	return os.Remove(dir) == nil
}

// dropNew removes the new store where it could not take the folder's place, a
// mounted one for example: left without its marker it would look like the
// former store, and keep Open from an empty folder. If the folder itself is
// gone, the new store is the only one in reach and stays.
func (res *restoring) dropNew() error {
	if _, err := os.Lstat(res.dir); err != nil {
		return err
	}
	return os.RemoveAll(res.beside())
}

// swapInTwo is the swap where two folders cannot be exchanged in one step. If
// the process dies between the two, Open refuses to begin an empty store
// (cutOffRestore), and the next restore clears up.
func (res *restoring) swapInTwo(aside string) error {
	if err := os.Rename(res.dir, aside); err != nil {
		return err
	}
	if err := os.Rename(res.beside(), res.dir); err != nil {
		return errors.Join(err, os.Rename(aside, res.dir))
	}
	return nil
}

// asideName returns a name for the former store that is free.
func (res *restoring) asideName() string {
	name := res.dir + ".before-" + time.Now().UTC().Format("20060102T150405.000Z")
	for {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name += "+"
	}
}

// syncFolder makes the names in a folder outlast a loss of power.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
