package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
)

// mediaTypes are the formats of imports and exports.
var mediaTypes = map[string]string{
	"turtle":   "text/turtle",
	"ntriples": "application/n-triples",
	"nquads":   "application/n-quads",
	"json":     "application/json",
}

// Import puts a file into one named graph by the Graph Store Protocol: PUT
// replaces the graph.
func (c *Client) Import(ctx context.Context, r io.Reader, o banyan.ImportOptions) (banyan.ImportReport, error) {
	var out banyan.ImportReport
	format := o.Format
	if format == "" {
		format = formatOf(o.Name)
	}
	ctype, ok := mediaTypes[format]
	if !ok {
		return out, errs.New(errs.Invalid, "%q is not a format of an import", format)
	}
	q := url.Values{}
	if o.Graph != "" {
		q.Set("graph", string(o.Graph))
	}
	if o.Name != "" {
		// The daemon wants the bare name: errors name the file by it, and the
		// graph is called after it if it has no name of its own.
		q.Set("name", path.Base(strings.ReplaceAll(o.Name, `\`, "/")))
	}
	if o.DryRun {
		q.Set("dry_run", "true")
	}
	_, err := c.json(ctx, call{method: http.MethodPut, path: "/graphs", query: q, body: r, ctype: ctype}, &out)
	return out, err
}

// formatOf guesses a format by a file name's ending; Turtle if it says
// nothing, since N-Triples are Turtle, too.
func formatOf(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".nt":
		return "ntriples"
	case ".json":
		return "json"
	}
	return "turtle"
}

// Export writes one graph, or all of them, to w as it arrives. An export that
// stops in the middle is an error.
func (c *Client) Export(ctx context.Context, w io.Writer, o banyan.ExportOptions) error {
	accept, ok := mediaTypes[o.Format]
	if !ok || o.Format == "json" {
		return errs.New(errs.Invalid, "%q is not a format of an export", o.Format)
	}
	q := url.Values{}
	if o.Graph != "" {
		q.Set("graph", string(o.Graph))
	}
	resp, err := c.do(ctx, call{method: http.MethodGet, path: "/graphs", query: q, accept: accept})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return c.stream(ctx, w, resp.Body)
}

// stream copies an answer to w and tells the two ways it can fail apart.
func (c *Client) stream(ctx context.Context, w io.Writer, r io.Reader) error {
	t := &tee{w: w}
	_, err := io.Copy(t, r)
	if t.err != nil {
		return errs.Wrap(errs.Unavailable, t.err, "what arrived cannot be written: %v", t.err)
	}
	return c.broken(ctx, err)
}

// tee remembers the error of its writer.
type tee struct {
	w   io.Writer
	err error
}

// Write passes p on.
func (t *tee) Write(p []byte) (n int, err error) {
	n, err = t.w.Write(p)
	t.err = err
	return n, err
}

// Backup writes a backup of the daemon's store to w as it arrives. What did
// not arrive wholly is an error.
func (c *Client) Backup(ctx context.Context, w io.Writer) (kg.BackupReport, error) {
	resp, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/backup", accept: "application/octet-stream"})
	if err != nil {
		return kg.BackupReport{}, err
	}
	defer resp.Body.Close()
	meter := kg.NewBackupMeter(w)
	if err := c.stream(ctx, meter, resp.Body); err != nil {
		return kg.BackupReport{}, err
	}
	rep, err := meter.Report()
	if err != nil {
		return kg.BackupReport{}, errs.Wrap(errs.Unavailable, err, "the daemon at %s sent no whole backup", c.name)
	}
	return rep, nil
}
