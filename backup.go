package banyan

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
)

// BackupReport says what a backup holds.
type BackupReport = kg.BackupReport

// Backup writes the whole graph to w as it stands at one commit, while the
// engine serves. What was written when an error comes back is no backup, and
// is refused by the restore. The restore is kg.Restore, of a folder that no
// engine has open.
func (e *Engine) Backup(ctx context.Context, w io.Writer) (BackupReport, error) {
	if e.closing.Load() {
		return BackupReport{}, errClosing()
	}
	return e.store.Backup(ctx, w)
}

// BackupStatus is what became of the scheduled backups.
type BackupStatus struct {
	LastAt    time.Time `json:"last_at,omitzero"`     // of the last one that succeeded, by this process
	LastBytes int64     `json:"last_bytes,omitempty"` //
	NextAt    time.Time `json:"next_at"`              //
	Failed    string    `json:"failed,omitempty"`     // why the last attempt failed; "" if it did not
	FailedRun int       `json:"failed_run,omitempty"` // attempts that failed since one succeeded
	Kept      int       `json:"kept"`                 // files in the folder
}

// The names of the files of scheduled backups: they sort by time.
const (
	backupPrefix = "banyan-"
	backupSuffix = ".backup"
	backupPart   = ".part" // while one is being written
	backupTime   = "20060102T150405Z"
	backupRetry  = 5 * time.Minute
)

// backups makes a backup now and then, into files of a folder.
type backups struct {
	dir   string
	every time.Duration
	keep  int
	log   *slog.Logger
	take  func(context.Context, io.Writer) (BackupReport, error)

	mu    sync.Mutex
	state BackupStatus
}

func newBackups(c Config, take func(context.Context, io.Writer) (BackupReport, error)) *backups {
	return &backups{dir: c.BackupDir, every: c.BackupEvery, keep: c.BackupKeep, log: c.Logger, take: take}
}

// run makes backups until the context ends. The first is due when the newest
// file is as old as the period, so a daemon that is restarted often makes no
// more of them, and one that was down makes one at once.
func (b *backups) run(ctx context.Context) {
	wait := b.first(time.Now())
	for {
		b.note(func(s *BackupStatus) { s.NextAt = time.Now().Add(wait).UTC() })
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		wait = b.every
		if err := b.once(ctx); err != nil && ctx.Err() == nil {
			wait = min(b.every, backupRetry)
			b.log.ErrorContext(ctx, "scheduled backup", "error", err)
			b.note(func(s *BackupStatus) { s.Failed = errs.Public(err); s.FailedRun++ })
		}
	}
}

// first is how long to wait for the first backup.
func (b *backups) first(now time.Time) time.Duration {
	names, err := b.files()
	b.note(func(s *BackupStatus) { s.Kept = len(names) })
	if err != nil || len(names) == 0 {
		return 0
	}
	stamp := strings.TrimSuffix(strings.TrimPrefix(names[len(names)-1], backupPrefix), backupSuffix)
	last, err := time.Parse(backupTime, stamp)
	if err != nil || last.After(now) {
		return 0
	}
	return max(0, last.Add(b.every).Sub(now))
}

// once makes one backup. The file gets its name when it is whole and on disk;
// then the eldest beyond the number to keep go.
func (b *backups) once(ctx context.Context) error {
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return errs.Wrap(errs.Unavailable, err, "the folder for backups cannot be made")
	}
	name := backupPrefix + time.Now().UTC().Format(backupTime) + backupSuffix
	report, err := b.write(ctx, filepath.Join(b.dir, name))
	if err != nil {
		return err
	}
	names, err := b.files()
	for err == nil && len(names) > b.keep {
		err = os.Remove(filepath.Join(b.dir, names[0]))
		names = names[1:]
	}
	b.note(func(s *BackupStatus) {
		*s = BackupStatus{LastAt: report.At, LastBytes: report.Bytes, Kept: len(names)}
	})
	b.log.InfoContext(ctx, "scheduled backup", "file", name, "bytes", report.Bytes, "triples", report.Triples, "commit", report.Commit)
	if err != nil {
		return errs.Wrap(errs.Unavailable, err, "an old backup could not be removed")
	}
	return nil
}

// write writes a backup beside its name, and gives it the name.
func (b *backups) write(ctx context.Context, path string) (report BackupReport, err error) {
	part := filepath.Join(b.dir, backupPrefix+"new"+backupPart) // one a folder: what a killed process left is written over
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return report, errs.Wrap(errs.Unavailable, err, "the folder for backups cannot be written")
	}
	report, err = b.take(ctx, f)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return report, errors.Join(err, os.Remove(part))
	}
	return report, syncDir(b.dir)
}

// syncDir makes the names in a folder outlast a loss of power.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// files are the names of the backups in the folder, the eldest first.
func (b *backups) files() ([]string, error) {
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if n := e.Name(); strings.HasPrefix(n, backupPrefix) && strings.HasSuffix(n, backupSuffix) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names, nil
}

// note changes the state.
func (b *backups) note(change func(*BackupStatus)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.state)
}

// status returns a copy of the state; nil if no backups are scheduled.
func (b *backups) status() *BackupStatus {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.state
	return &s
}

// check is the doctor's line.
func (b *backups) check() Check {
	s := b.status()
	c := Check{Name: "backups", State: "ok", Found: "none yet"}
	if !s.LastAt.IsZero() {
		c.Found = "the last at " + s.LastAt.Format(time.RFC3339)
	}
	if s.Failed != "" {
		c.State, c.Found, c.Costs = "warn", s.Failed, "what is written now is in no backup"
	}
	return c
}
