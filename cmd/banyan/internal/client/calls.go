package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
)

// wireJob is a Job as it travels: a need that is empty but given ("nothing")
// has to differ from one left out ("read it from the code").
type wireJob struct {
	banyan.Job
	Need *[]string `json:"need,omitempty"`
}

func jobBody(job banyan.Job) (io.Reader, error) {
	w := wireJob{Job: job}
	if job.Need != nil {
		w.Need = &job.Need
	}
	return body(w)
}

// post does a call with a JSON body.
func (c *Client) post(ctx context.Context, path string, in io.Reader, out any, limit int64) (int, error) {
	return c.json(ctx, call{method: http.MethodPost, path: path, body: in, ctype: "application/json", limit: limit}, out)
}

func (c *Client) get(ctx context.Context, path string, query url.Values, out any) error {
	_, err := c.json(ctx, call{method: http.MethodGet, path: path, query: query}, out)
	return err
}

// Execute runs a job. When ctx ends first, the connection is closed, and the
// daemon ends the run.
func (c *Client) Execute(ctx context.Context, job banyan.Job) (*banyan.Result, error) {
	in, err := jobBody(job)
	if err != nil {
		return nil, err
	}
	var out banyan.Result
	if _, err := c.post(ctx, "/v1/execute", in, &out, maxResult); err != nil {
		return nil, err
	}
	return &out, nil
}

// Plan asks how a job would be run.
func (c *Client) Plan(ctx context.Context, job banyan.Job) (planner.Plan, error) {
	var out planner.Plan
	in, err := jobBody(job)
	if err != nil {
		return out, err
	}
	_, err = c.post(ctx, "/v1/plan", in, &out, 0)
	return out, err
}

// Warm makes a snapshot ahead of time, or finds it.
func (c *Client) Warm(ctx context.Context, w banyan.WarmRequest) (banyan.Snapshot, error) {
	return c.snapshot(ctx, "/v1/warm", w)
}

// Branch derives a snapshot from another.
func (c *Client) Branch(ctx context.Context, id ontology.SnapshotID, w banyan.WarmRequest) (banyan.Snapshot, error) {
	path, err := snapshotPath(id)
	if err != nil {
		return banyan.Snapshot{}, err
	}
	return c.snapshot(ctx, path+"/branch", w)
}

func (c *Client) snapshot(ctx context.Context, path string, w banyan.WarmRequest) (banyan.Snapshot, error) {
	var out banyan.Snapshot
	in, err := body(w)
	if err != nil {
		return out, err
	}
	status, err := c.post(ctx, path, in, &out, 0)
	out.Created = status == http.StatusCreated
	return out, err
}

// Snapshots returns one page of the tree.
func (c *Client) Snapshots(ctx context.Context, o banyan.ListOptions) (banyan.SnapshotPage, error) {
	q := url.Values{}
	if o.Limit != 0 {
		q.Set("limit", strconv.Itoa(o.Limit))
	}
	if o.Cursor != "" {
		q.Set("cursor", o.Cursor)
	}
	if o.Live {
		q.Set("live", "true")
	}
	var out banyan.SnapshotPage
	err := c.get(ctx, "/v1/snapshots", q, &out)
	return out, err
}

// Snapshot returns one snapshot.
func (c *Client) Snapshot(ctx context.Context, id ontology.SnapshotID) (out banyan.Snapshot, err error) {
	path, err := snapshotPath(id)
	if err == nil {
		err = c.get(ctx, path, nil, &out)
	}
	return out, err
}

// Lineage returns a snapshot with its ancestors and descendants.
func (c *Client) Lineage(ctx context.Context, id ontology.SnapshotID) (out banyan.Lineage, err error) {
	path, err := snapshotPath(id)
	if err == nil {
		err = c.get(ctx, path+"/lineage", nil, &out)
	}
	return out, err
}

// Remove ends a live snapshot.
func (c *Client) Remove(ctx context.Context, id ontology.SnapshotID) error {
	path, err := snapshotPath(id)
	if err != nil {
		return err
	}
	_, err = c.json(ctx, call{method: http.MethodDelete, path: path}, nil)
	return err
}

// snapshotPath refuses an id that could change the path it stands in.
func snapshotPath(id ontology.SnapshotID) (string, error) {
	if !id.Valid() {
		return "", errs.New(errs.NotFound, "there is no snapshot %q", string(id)).WithHint("banyan snapshots ls")
	}
	return "/v1/snapshots/" + string(id), nil
}

// Status returns the daemon's state.
func (c *Client) Status(ctx context.Context) (out banyan.Status, err error) {
	err = c.get(ctx, "/v1/status", nil, &out)
	return out, err
}

// Rungs returns what each rung offers.
func (c *Client) Rungs(ctx context.Context) ([]banyan.RungStatus, error) {
	var out struct {
		Items []banyan.RungStatus `json:"items"`
	}
	err := c.get(ctx, "/v1/rungs", nil, &out)
	return out.Items, err
}

// Doctor returns the daemon's report on what it stands on.
func (c *Client) Doctor(ctx context.Context) (out banyan.Report, err error) {
	err = c.get(ctx, "/v1/doctor", nil, &out)
	return out, err
}

// Reap closes the warm parents that are idle past their time or, with all,
// every one that is not in use.
func (c *Client) Reap(ctx context.Context, all bool) (int, error) {
	in, err := body(struct {
		All bool `json:"all"`
	}{all})
	if err != nil {
		return 0, err
	}
	var out struct {
		Reaped int `json:"reaped"`
	}
	_, err = c.post(ctx, "/v1/reap", in, &out, 0)
	return out.Reaped, err
}
