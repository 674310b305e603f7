package kg

import (
	"context"
	"os"
	"path/filepath"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// FsckVerdict is what a check of a store comes to.
type FsckVerdict string

// The verdicts.
const (
	// FsckClean is a store that holds all it says it holds.
	FsckClean FsckVerdict = "clean"
	// FsckDamaged is a store that opens and does not hold what it should.
	FsckDamaged FsckVerdict = "damaged"
	// FsckUnreadable is a store that cannot be opened.
	FsckUnreadable FsckVerdict = "unreadable"
)

// FsckOptions says how much is looked at.
type FsckOptions struct {
	// Quick leaves out what reads every row: the recount of the orders, the
	// dictionary and the snapshots' tree. The files are read wholly either way.
	Quick bool
}

// FsckCheck is one thing that was looked at.
type FsckCheck struct {
	Check  string `json:"check"`            // what was looked at: "tables"
	OK     bool   `json:"ok"`               //
	Detail string `json:"detail,omitempty"` // what was found
	Place  string `json:"place,omitempty"`  // the file, or the key, relative to the folder
}

// FsckReport is the outcome of Fsck.
type FsckReport struct {
	Verdict FsckVerdict `json:"verdict"`
	Checks  []FsckCheck `json:"checks"`
	Commit  uint64      `json:"commit"`  // number of the last commit
	Triples uint64      `json:"triples"` // what the store says it holds
	Bytes   int64       `json:"bytes"`   // size of all files
	// Hint says what to do if the verdict is not clean.
	Hint string `json:"hint,omitempty"`
}

// Clean reports whether nothing was found.
func (r FsckReport) Clean() bool { return r.Verdict == FsckClean }

// note adds a check's outcome.
func (r *FsckReport) note(check, place string, err error, found string) {
	c := FsckCheck{Check: check, OK: err == nil, Detail: found, Place: place}
	if err != nil {
		c.Detail = errs.Public(err)
	}
	r.Checks = append(r.Checks, c)
}

// Fsck checks the store in a folder that nobody has open: a live owner is a
// Conflict, a folder without a store is NotFound. Damage is not an error, it
// is the report. Memory is bounded however large the store is, and the store's
// contents are not changed; after a crash the log of the last commits is
// replayed, as opening the store would.
//
// Badger reads files in goroutines of its own, where a panic cannot be caught.
// Fsck reads every table and the manifest itself before it lets Badger near
// them; a caller that must survive all the same runs it in a child process,
// whose death then is the verdict FsckUnreadable.
func Fsck(ctx context.Context, dir string, o FsckOptions) (FsckReport, error) {
	if err := isStore(dir); err != nil {
		return FsckReport{}, err
	}
	own, err := takeOwnership(dir)
	if err != nil {
		return FsckReport{}, err
	}
	defer own.release() //nolint:errcheck // nothing was written
	f := &fsck{ctx: ctx, dir: dir, quick: o.Quick}
	f.run()
	if err := ctx.Err(); err != nil {
		return FsckReport{}, storeErr("check the store", err)
	}
	return f.report, nil
}

// isStore reports NotFound for a folder that is not there or holds nothing.
func isStore(dir string) error {
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		return nil
	}
	return errs.New(errs.NotFound, "there is no store in %q", filepath.Base(dir))
}
