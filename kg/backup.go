package kg

import (
	"context"
	"io"
	"time"
)

// BackupReport says what a backup holds.
type BackupReport struct {
	Commit  uint64    `json:"commit"`  // the commit whose state it is
	Triples uint64    `json:"triples"` // statements in all graphs
	Bytes   int64     `json:"bytes"`   // length of the backup
	SHA256  string    `json:"sha256"`  // of all bytes but the last 32, which are it
	At      time.Time `json:"at"`
}

// Backup writes all graphs as they stand at one commit, while the store serves
// and takes writes. It ends with an error if the context ends, the store
// closes, or w fails; what was written then is refused by Restore.
func (s *Store) Backup(ctx context.Context, w io.Writer) (BackupReport, error) {
	var report BackupReport
	err := s.Read(ctx, func(r *ReadTx) (err error) {
		report, err = writeBackup(r, w, s.now())
		return err
	})
	return report, err
}
