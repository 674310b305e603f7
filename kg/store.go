package kg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// Config says where a store lives.
type Config struct {
	// Dir is the store's own folder; it is made if it is not there.
	Dir string
	// InMemory keeps everything in memory and needs no Dir. Such a store is
	// gone when it is closed.
	InMemory bool
	// Logger takes what the store has to say; nil is slog's default.
	Logger *slog.Logger
	// Now is the clock that state changes are dated by; nil is time.Now.
	Now func() time.Time
}

// Validate checks the settings.
func (c Config) Validate() error {
	if c.InMemory == (c.Dir != "") {
		return errs.New(errs.Invalid, "a store needs a folder, or to be in memory, and not both")
	}
	return nil
}

// Store is the knowledge graph. All its methods are safe for concurrent use.
type Store struct {
	db    *badger.DB
	log   *slog.Logger
	now   func() time.Time
	owner *owner
	high  *highWater
	room  room
	dict  *dict

	table   atomic.Pointer[graphTable]
	triples atomic.Uint64

	// writer holds one token; who has it is the one writer and may use what follows.
	writer   chan struct{}
	meta     meta
	failed   error           // why nothing may be written any more
	pending  []ID            // graph numbers to sweep
	nextTerm uint64          // runs ahead of meta's when a transaction is dropped,
	nextRow  uint64          // so that no number is ever used twice
	pinned   map[ID]struct{} // terms of the built-in graph, which never lose their last use
	replayed bool            // the process that wrote last was killed, so its logs were replayed
	batch    int64           // keys after which a staged graph is committed in part
	cat      *catalogueState // what the typed layer keeps in memory

	gate struct {
		sync.Mutex
		idle   *sync.Cond
		inside int
		closed bool
	}
	closeOnce sync.Once
	closeErr  error
}

// Open opens the store, making it if there is none, and checks it. A store
// that another process, or this one, has open is refused with Conflict and a
// sentence that says who has it; one that has lost commits with Corrupt.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Store{log: cfg.Logger, now: cfg.Now, room: newRoom(cfg), dict: newDict(), writer: make(chan struct{}, 1), cat: newCatalogueState()}
	s.gate.idle = sync.NewCond(&s.gate)
	err := s.open(ctx, cfg)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, cfg Config) (err error) {
	if !cfg.InMemory {
		if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
			return errs.Wrap(errs.Unavailable, err, "the data folder %q cannot be made", filepath.Base(cfg.Dir))
		}
		if s.owner, err = takeOwnership(cfg.Dir); err != nil {
			return err
		}
		if s.high, err = openHighWater(cfg.Dir); err != nil {
			return errs.Wrap(errs.Unavailable, err, "the data folder %q cannot be written", filepath.Base(cfg.Dir))
		}
		if err := precheck(ctx, cfg.Dir); err != nil {
			return err
		}
		if s.replayed, err = beginReplay(cfg.Dir); err != nil {
			return err
		}
	}
	if s.db, err = openBadger(cfg); err != nil {
		return err
	}
	s.batch = s.db.MaxBatchCount() / 4 * 3
	for _, step := range [...]func(context.Context) error{s.check, s.counted, s.sweepLeftovers, s.loadBuiltin, s.pinBuiltin, s.reload} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// openBadger opens the database. Badger panics on some damage; that is an
// answer about the files, not a reason to die.
func openBadger(cfg Config) (db *badger.DB, err error) {
	defer func() {
		if p := recover(); p != nil {
			db, err = nil, errs.Wrap(errs.Corrupt, fmt.Errorf("panic: %v", p), "the store's files are damaged").WithHint(restoreHint)
		}
	}()
	db, err = badger.Open(badgerOptions(cfg))
	switch {
	case err == nil:
		return db, nil
	case strings.Contains(err.Error(), "directory lock"):
		return nil, errs.Wrap(errs.Conflict, err, "the store in %q is already open: another process has it", filepath.Base(cfg.Dir))
	case errors.Is(err, os.ErrPermission):
		return nil, errs.Wrap(errs.Unavailable, err, "the store in %q cannot be read", filepath.Base(cfg.Dir))
	}
	return nil, errs.Wrap(errs.Corrupt, err, "the store in %q does not open", filepath.Base(cfg.Dir)).WithHint(restoreHint)
}

// Close waits for the calls that are running, ends their scans, and closes the
// store. Closing again does nothing.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		s.gate.Lock()
		s.gate.closed = true
		for s.gate.inside > 0 {
			s.gate.idle.Wait()
		}
		s.gate.Unlock()
		var all []error
		if s.db != nil {
			if err := s.db.Close(); err != nil {
				all = append(all, storeErr("close the store", err))
			}
		}
		all = append(all, s.high.close(), s.owner.release())
		s.closeErr = errors.Join(all...)
	})
	return s.closeErr
}

// enter counts a call in, unless the store is closing; leave counts it out.
func (s *Store) enter() bool {
	s.gate.Lock()
	defer s.gate.Unlock()
	if s.gate.closed {
		return false
	}
	s.gate.inside++
	return true
}

func (s *Store) leave() {
	s.gate.Lock()
	defer s.gate.Unlock()
	if s.gate.inside--; s.gate.inside == 0 {
		s.gate.idle.Broadcast()
	}
}

// closing reports whether Close has begun.
func (s *Store) closing() bool {
	s.gate.Lock()
	defer s.gate.Unlock()
	return s.gate.closed
}
