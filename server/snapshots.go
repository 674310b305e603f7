package server

import (
	"context"
	"net/http"
	"strconv"

	"github.com/seed-ff860830/banyan"
)

// page is the one form of every listing.
type page[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor"`
}

// pageOf makes a page; no items are [] and not null.
func pageOf[T any](items []T, next *string) page[T] {
	return page[T]{Items: notNil(items), NextCursor: next}
}

// notNil returns an empty slice for a nil one.
func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// The bounds of a listing (banyan.ListOptions) and of a cursor.
const (
	defaultLimit = 100
	maxLimit     = 1000
	maxCursor    = 256
)

// getSnapshots is GET /v1/snapshots.
func (s *Server) getSnapshots(ctx context.Context, c *call) (answer, error) {
	opt, err := listOptions(c)
	if err != nil {
		return answer{}, err
	}
	got, err := s.cfg.Engine.Snapshots(ctx, opt)
	if err != nil {
		return answer{}, err
	}
	return ok(pageOf(got.Items, got.NextCursor)), nil
}

// listOptions reads ?limit=&cursor=&live=.
func listOptions(c *call) (banyan.ListOptions, error) {
	q, err := c.query("limit", "cursor", "live")
	if err != nil {
		return banyan.ListOptions{}, err
	}
	opt := banyan.ListOptions{Limit: defaultLimit, Cursor: q.Get("cursor")}
	if q.Has("limit") {
		opt.Limit, err = strconv.Atoi(q.Get("limit"))
		if err != nil || opt.Limit < 1 || opt.Limit > maxLimit {
			return opt, badParameter("limit", "must be a number from 1 to "+strconv.Itoa(maxLimit))
		}
	}
	if len(opt.Cursor) > maxCursor {
		return opt, badParameter("cursor", "is not a cursor that a listing gave out")
	}
	opt.Live, err = flag(q, "live")
	return opt, err
}

// getSnapshot is GET /v1/snapshots/{id}.
func (s *Server) getSnapshot(ctx context.Context, c *call) (answer, error) {
	if _, err := c.query(); err != nil {
		return answer{}, err
	}
	id, err := c.snapshotID()
	if err != nil {
		return answer{}, err
	}
	snap, err := s.cfg.Engine.Snapshot(ctx, id)
	if err != nil {
		return answer{}, err
	}
	return ok(snap), nil
}

// getLineage is GET /v1/snapshots/{id}/lineage.
func (s *Server) getLineage(ctx context.Context, c *call) (answer, error) {
	if _, err := c.query(); err != nil {
		return answer{}, err
	}
	id, err := c.snapshotID()
	if err != nil {
		return answer{}, err
	}
	lin, err := s.cfg.Engine.Lineage(ctx, id)
	if err != nil {
		return answer{}, err
	}
	lin.Ancestors, lin.Descendants = notNil(lin.Ancestors), notNil(lin.Descendants)
	return ok(lin), nil
}

// deleteSnapshot is DELETE /v1/snapshots/{id}.
func (s *Server) deleteSnapshot(ctx context.Context, c *call) (answer, error) {
	if _, err := c.query(); err != nil {
		return answer{}, err
	}
	id, err := c.snapshotID()
	if err != nil {
		return answer{}, err
	}
	if err := s.cfg.Engine.Remove(ctx, id); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusNoContent}, nil
}
