package kg

import (
	"context"
	"io"
)

// RestoreOptions says what Restore may do.
type RestoreOptions struct {
	// Force lets Restore take the place of a store that is there. That one is
	// kept beside, under the name in the report.
	Force bool
}

// RestoreReport says what Restore did.
type RestoreReport struct {
	Commit  uint64 `json:"commit"`  // the commit that the backup is the state of
	Triples uint64 `json:"triples"` // statements restored
	// Aside is the folder, beside the store's, that the former store was moved
	// to; "" if there was none. It is only a name, without a path.
	Aside string `json:"aside,omitempty"`
}

// Restore makes the store in a folder anew from a backup. The new store is
// built and checked in a folder beside and takes its place in one step, so
// that whatever fails, and whenever the process dies, the folder holds the
// former store untouched or the new one complete. A folder that holds
// something is a Conflict without Force, one that is open in any process
// always; a backup that is cut or damaged is Corrupt.
func Restore(ctx context.Context, dir string, r io.Reader, o RestoreOptions) (RestoreReport, error) {
	res := &restoring{ctx: ctx, dir: dir, force: o.Force}
	return res.run(r)
}
