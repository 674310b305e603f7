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
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
)

// scheduled starts backups in a bubble of synctest, of a source that can be
// made to fail.
func scheduled(t *testing.T, dir string, fail *atomic.Pointer[errs.Error]) *backups {
	b := newBackups(Config{BackupDir: dir, BackupEvery: time.Hour, BackupKeep: 3, Logger: slog.New(slog.DiscardHandler)},
		func(_ context.Context, w io.Writer) (BackupReport, error) {
			if _, err := io.WriteString(w, "content"); err != nil {
				return BackupReport{}, err
			}
			if err := fail.Load(); err != nil {
				return BackupReport{}, err
			}
			return BackupReport{At: time.Now().UTC(), Bytes: 7}, nil
		})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); b.run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return b
}

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestScheduledBackups(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "backups")
	synctest.Test(t, func(t *testing.T) {
		var fail atomic.Pointer[errs.Error]
		b := scheduled(t, dir, &fail)
		time.Sleep(time.Second)
		synctest.Wait()
		if got := names(t, dir); len(got) != 1 {
			t.Fatalf("after a second there are %v, want one backup", got)
		}
		time.Sleep(4 * time.Hour)
		synctest.Wait()
		got := names(t, dir)
		if len(got) != 3 || got[2] != "banyan-20000101T040000Z.backup" {
			t.Errorf("after four hours there are %v, want the last three", got)
		}
		if s := b.status(); s.Kept != 3 || s.LastBytes != 7 || s.Failed != "" || time.Until(s.NextAt) > time.Hour || !s.NextAt.After(time.Now()) {
			t.Errorf("the status is %+v", s)
		}

		fail.Store(errs.New(errs.Exhausted, "the disk is full"))
		time.Sleep(time.Hour)
		synctest.Wait()
		if s, c := b.status(), b.check(); s.Failed != "the disk is full" || s.FailedRun != 1 || c.State != "warn" {
			t.Errorf("after a failure the status is %+v, the check %+v", s, c)
		}
		if after := names(t, dir); !slices.Equal(after, got) {
			t.Errorf("after a failure there are %v, were %v", after, got)
		}
		fail.Store(nil)
		time.Sleep(backupRetry)
		synctest.Wait()
		if s, c := b.status(), b.check(); s.Failed != "" || c.State != "ok" || !strings.Contains(c.Found, "2000-01-01T05:") {
			t.Errorf("after the next try the status is %+v, the check %+v", s, c)
		}
	})
}

// A daemon that is restarted waits for the rest of the period.
func TestBackupsGoOnAfterARestart(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "banyan-20000101T000000Z.backup"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var fail atomic.Pointer[errs.Error]
		time.Sleep(20 * time.Minute)
		scheduled(t, dir, &fail)
		time.Sleep(39 * time.Minute)
		synctest.Wait()
		if got := names(t, dir); len(got) != 1 {
			t.Errorf("before the hour there are %v", got)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := names(t, dir); len(got) != 2 {
			t.Errorf("after the hour there are %v", got)
		}
	})
}

// An engine's scheduled backup can be restored, and its own method's as well.
func TestEngineBacksUp(t *testing.T) {
	dir := t.TempDir()
	cfg := Config{Dir: filepath.Join(dir, "data"), BackupDir: filepath.Join(dir, "backups"), BackupEvery: time.Hour, AllowLocal: true}
	e, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(20 * time.Second)
	for e.backups.status().LastAt.IsZero() && time.Now().Before(deadline) {
		select {
		case <-t.Context().Done():
		case <-time.After(5 * time.Millisecond):
		}
	}
	s, err := e.Status(t.Context())
	if err != nil || s.Backup == nil || s.Backup.Kept != 1 {
		t.Errorf("the status is %+v, %v", s.Backup, err)
	}
	var b strings.Builder
	if _, err := e.Backup(t.Context(), &b); err != nil {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Backup(t.Context(), &b); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("a closed engine: %v", err)
	}
	file, err := os.Open(filepath.Join(cfg.BackupDir, names(t, cfg.BackupDir)[0]))
	if err != nil {
		t.Fatal(err)
	}
	_, err = kg.Restore(t.Context(), filepath.Join(dir, "a"), file, kg.RestoreOptions{})
	if err := errors.Join(err, file.Close()); err != nil {
		t.Error(err)
	}
	if _, err := kg.Restore(t.Context(), filepath.Join(dir, "b"), strings.NewReader(b.String()), kg.RestoreOptions{}); err != nil {
		t.Error(err)
	}
}

func TestBackupSettings(t *testing.T) {
	for name, c := range map[string]Config{
		"no folder": {BackupEvery: time.Hour},
		"too often": {BackupEvery: time.Second, BackupDir: "x"},
		"no number": {BackupEvery: time.Hour, BackupDir: "x", BackupKeep: -1},
		"no period": {BackupDir: "x"},
	} {
		c.InMemory = true
		if err := c.withDefaults().Validate(); errs.KindOf(err) != errs.Invalid {
			t.Errorf("%s: %v, want invalid", name, err)
		}
	}
}
