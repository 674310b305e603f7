package main

import (
	"context"
	"log/slog"

	banyan "github.com/seed-ff860830/banyan"

	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
)

// openEngine opens an engine in this process, if a check of the store found it
// sound.
func openEngine(ctx context.Context, set *config.Set, log *slog.Logger) (engine, error) {
	if err := soundStore(ctx, set, log); err != nil {
		return nil, err
	}
	eng, err := banyan.Open(ctx, banyan.Config{
		Dir:           set.String(config.Data),
		Node:          set.String(config.Node),
		Logger:        log,
		AllowLocal:    set.Bool(config.AllowLocal),
		AllowDegraded: set.Bool(config.AllowDegraded),
		Python:        set.String(config.Python),
		MaxParents:    set.Int(config.MaxParents),
		MaxRunning:    set.Int(config.MaxRunning),
		Idle:          set.Duration(config.Idle),
		MaxAge:        set.Duration(config.MaxAge),
		QueryTimeout:  set.Duration(config.QueryTimeout),
		MaxQueryRows:  set.Int(config.MaxQueryRows),
		BackupDir:     set.String(config.BackupDir),
		BackupEvery:   set.Duration(config.BackupEvery),
		BackupKeep:    set.Int(config.BackupKeep),
	})
	if err != nil {
		return nil, err // and no nil *Engine in an interface
	}
	return eng, nil
}
