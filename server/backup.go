package server

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// typeBackup is the media type of a backup; banyan restore reads it.
const typeBackup = "application/octet-stream"

// getBackup is GET /v1/backup: all graphs as they stand at one commit, for those
// who may import. It holds much that other callers need (a view of the store,
// the disk), so there is one at a time. A backup carries its own end mark, and
// one that breaks off breaks the connection off as well.
func (s *Server) getBackup(_ context.Context, c *call) (answer, error) {
	if err := s.authorizeImport(c.r); err != nil {
		return answer{}, err
	}
	if _, err := c.query(); err != nil {
		return answer{}, err
	}
	if _, err := negotiate(c.r.Header, typeBackup); err != nil {
		return answer{}, err
	}
	if !s.backingUp.CompareAndSwap(false, true) {
		return answer{}, errs.New(errs.Exhausted, "another backup is being made").WithHint("try again after Retry-After")
	}
	name := "banyan-" + time.Now().UTC().Format("20060102T150405Z") + ".backup"
	return answer{
		status:      http.StatusOK,
		header:      http.Header{"Content-Disposition": {`attachment; filename="` + name + `"`}},
		contentType: typeBackup,
		stream: func(ctx context.Context, w io.Writer) error {
			_, err := s.cfg.Engine.Backup(ctx, w)
			return err
		},
		done: func() { s.backingUp.Store(false) },
	}, nil
}
