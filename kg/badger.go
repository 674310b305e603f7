package kg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/dgraph-io/badger/v4"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// The sizes below keep the store small beside the warm parents it serves. A
// transaction may hold 15 % of a memtable, which is what bounds Update.
const (
	memTableBytes   = 32 << 20
	blockCacheBytes = 32 << 20
	indexCacheBytes = 32 << 20
)

// badgerOptions returns the options of the database.
func badgerOptions(cfg Config) badger.Options {
	opt := badger.DefaultOptions(cfg.Dir)
	if cfg.InMemory {
		opt = badger.DefaultOptions("").WithInMemory(true)
	}
	return opt.
		WithLogger(badgerLogger{cfg.Logger}).
		WithSyncWrites(!cfg.InMemory). // an acknowledged write is on disk
		WithDetectConflicts(false).    // there is one writer
		WithMetricsEnabled(false).
		WithMemTableSize(memTableBytes).
		WithNumMemtables(3).
		WithNumCompactors(2).
		WithNumGoroutines(2).
		WithBlockCacheSize(blockCacheBytes).
		WithIndexCacheSize(indexCacheBytes).
		WithValueLogFileSize(16 << 20). // stays empty: every value is below the threshold
		WithVerifyValueChecksum(true)
}

// badgerLogger passes Badger's lines on to slog. Its chatter about what it
// opens and compacts is debug here.
type badgerLogger struct{ log *slog.Logger }

func (l badgerLogger) Errorf(f string, a ...any)   { l.line(slog.LevelError, f, a) }
func (l badgerLogger) Warningf(f string, a ...any) { l.line(slog.LevelWarn, f, a) }
func (l badgerLogger) Infof(f string, a ...any)    { l.line(slog.LevelDebug, f, a) }
func (l badgerLogger) Debugf(f string, a ...any)   { l.line(slog.LevelDebug, f, a) }

func (l badgerLogger) line(level slog.Level, format string, args []any) {
	ctx := context.Background()
	if l.log.Enabled(ctx, level) {
		l.log.Log(ctx, level, strings.TrimSpace(fmt.Sprintf(format, args...)), "part", "badger")
	}
}

// storeErr classifies an error of Badger or of a context; an error that is
// classified already passes.
func storeErr(op string, err error) error {
	var classified *errs.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &classified):
		return err
	case errors.Is(err, context.Canceled):
		return &errs.Error{Op: op, Kind: errs.Canceled, Msg: "the caller went away", Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &errs.Error{Op: op, Kind: errs.Timeout, Msg: "the store did not answer in time", Err: err}
	case errors.Is(err, badger.ErrTxnTooBig):
		return &errs.Error{
			Op: op, Kind: errs.TooLarge, Msg: "the change is too large for one transaction", Err: err,
			Hint: "split it, or replace a whole graph by an import",
		}
	case diskFull(err):
		return &errs.Error{Op: op, Kind: errs.Exhausted, Msg: "the disk is full", Err: err, Hint: "make room on the disk"}
	case errors.Is(err, badger.ErrDBClosed), errors.Is(err, badger.ErrBlockedWrites):
		return errClosed(op)
	}
	return &errs.Error{Op: op, Kind: errs.Internal, Msg: "the store failed", Err: err}
}

func errClosed(op string) error {
	return &errs.Error{Op: op, Kind: errs.Unavailable, Msg: "the store is closed"}
}

// errLost reports a store whose rows do not fit its own account.
func errLost(format string, args ...any) error {
	return errs.New(errs.Corrupt, format, args...).WithHint(restoreHint)
}
