package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/seed-ff860830/banyan"
)

// The SPARQL 1.1 Graph Store HTTP Protocol, with graphs named by ?graph= and
// ?default (indirect identification). A graph is there as long as it holds a
// statement; the default graph of the protocol is the one without a name, and
// it is always there.

// writeGraph is PUT and POST /graphs: the import. The body replaces the graph or
// is merged into it: 201 if there was none, 200 if there was. It goes to the
// engine as it arrives; it is all or nothing there.
func (s *Server) writeGraph(merge bool) handler {
	return func(ctx context.Context, c *call) (answer, error) {
		if err := s.authorizeImport(c.r); err != nil {
			return answer{}, err
		}
		opt, err := importOptions(c, merge)
		if err != nil {
			return answer{}, err
		}
		leave, err := s.imports.enter()
		if err != nil {
			return answer{}, err
		}
		defer leave()
		release, err := s.imports.acquire(ctx)
		if err != nil {
			return answer{}, err
		}
		defer release()
		if c.r.ContentLength > s.cfg.MaxImportBytes {
			return answer{}, tooLarge(s.cfg.MaxImportBytes)
		}
		atEnd := s.startBody(c, s.cfg.MaxImportBytes, s.cfg.ImportTimeout)
		body := &importBody{r: c.r.Body, atEnd: atEnd}
		rep, err := s.cfg.Engine.Import(ctx, body, opt)
		if err != nil && body.err != nil {
			// What the engine makes of half a file is not what went wrong.
			return answer{}, bodyError(ctx, body.err)
		}
		if err != nil {
			return answer{}, err
		}
		return reported(c, imported(rep, opt)), nil
	}
}

// imported answers with an import's report.
func imported(rep banyan.ImportReport, opt banyan.ImportOptions) answer {
	a := ok(rep)
	if rep.Replaced == 0 && !rep.DryRun && !opt.Unnamed {
		a.status = http.StatusCreated
		a.header = http.Header{"Location": {"/graphs?graph=" + url.QueryEscape(string(rep.Graph))}}
	}
	return a
}

// reported leaves the report of a write out for a client that takes no JSON:
// that the write was done must not look like a failure.
func reported(c *call, a answer) answer {
	if _, err := negotiate(c.r.Header, typeJSON); err != nil {
		if a.body = nil; a.status == http.StatusOK {
			a.status = http.StatusNoContent
		}
	}
	return a
}

// importBody is an import's body. It remembers its own failure, and lifts the
// deadline at its end, for the import may take longer than the reading.
type importBody struct {
	r     io.Reader
	atEnd func()
	err   error
}

// Read implements io.Reader.
func (b *importBody) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	switch {
	case errors.Is(err, io.EOF):
		b.atEnd()
	case err != nil:
		b.err = err
	}
	return n, err
}

// getGraph is GET /graphs: the export, of one graph or, without a name, of all.
func (s *Server) getGraph(_ context.Context, c *call) (answer, error) {
	q, err := c.query("graph", "default")
	if err != nil {
		return answer{}, err
	}
	t, err := targetOf(q)
	if err != nil {
		return answer{}, err
	}
	from := offersOf("nquads", "turtle", "ntriples") // all: with the graphs' names
	if t.given() {
		from = offersOf("turtle", "ntriples", "nquads")
	}
	o, err := choose(c.r.Header, from)
	if err != nil {
		return answer{}, err
	}
	opt := banyan.ExportOptions{Graph: t.graph, Unnamed: t.unnamed, Format: o.format}
	return negotiated(c, o, func(ctx context.Context, w io.Writer) error {
		return s.cfg.Engine.Export(ctx, w, opt)
	}), nil
}

// negotiated is a streamed answer in the form that was chosen.
func negotiated(c *call, o offer, stream func(context.Context, io.Writer) error) answer {
	return answer{
		status:      http.StatusOK,
		header:      http.Header{"Vary": {"Accept, Accept-Encoding"}},
		contentType: o.contentType,
		stream:      stream,
		zip:         takesGzip(c.r.Header),
	}
}

// deleteGraph is DELETE /graphs: 204, or 404 if there is no such graph.
func (s *Server) deleteGraph(ctx context.Context, c *call) (answer, error) {
	if err := s.authorizeImport(c.r); err != nil {
		return answer{}, err
	}
	q, err := c.query("graph", "default")
	if err != nil {
		return answer{}, err
	}
	t, err := needTarget(q)
	if err != nil {
		return answer{}, err
	}
	if err := s.cfg.Engine.GraphDelete(ctx, t.graph); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusNoContent}, nil
}

// importsRunning and importsWaiting bound imports: each holds one transaction.
const (
	importsRunning = 2
	importsWaiting = 8
)

// newImportLimiter returns the limiter of imports.
func newImportLimiter(timeout time.Duration) *limiter {
	return newLimiter(importsRunning, importsWaiting, timeout)
}
