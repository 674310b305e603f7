package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
)

// The media types of graphs and the engine's names for them.
const (
	typeTurtle   = "text/turtle"
	typeNTriples = "application/n-triples"
	typeNQuads   = "application/n-quads"
	typeJSON     = "application/json"
)

var formats = map[string]string{
	typeTurtle: "turtle", typeNTriples: "ntriples", typeNQuads: "nquads", typeJSON: "json",
}

// The bounds of what a caller names a graph and a file.
const (
	maxIRI  = 2048
	maxName = 255
)

// putGraph is PUT /graphs: the import. As the SPARQL 1.1 Graph Store Protocol
// has it, the body replaces the graph: 201 if there was none, 200 if there was.
// The body goes to the engine as it arrives; it is all or nothing there.
func (s *Server) putGraph(ctx context.Context, c *call) (answer, error) {
	if err := s.authorizeImport(c.r); err != nil {
		return answer{}, err
	}
	opt, err := importOptions(c)
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
	return imported(rep), nil
}

// imported answers with an import's report.
func imported(rep banyan.ImportReport) answer {
	a := ok(rep)
	if rep.Replaced == 0 && !rep.DryRun {
		a.status = http.StatusCreated
		a.header = http.Header{"Location": {"/graphs?graph=" + url.QueryEscape(string(rep.Graph))}}
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

// importOptions reads ?graph=&name=&dry_run= and the Content-Type.
func importOptions(c *call) (banyan.ImportOptions, error) {
	var opt banyan.ImportOptions
	q, err := c.query("graph", "name", "dry_run")
	if err != nil {
		return opt, err
	}
	if opt.DryRun, err = flag(q, "dry_run"); err != nil {
		return opt, err
	}
	opt.Name = q.Get("name")
	if opt.Name != "" && !plainName(opt.Name) {
		return opt, badParameter("name", "must be a file's name, without folders")
	}
	if q.Has("graph") || opt.Name == "" {
		if opt.Graph, err = graphParameter(q); err != nil {
			return opt, err
		}
	}
	mt, err := mediaType(c.r.Header, typeTurtle, typeNTriples, typeJSON)
	if err != nil {
		return opt, err
	}
	opt.Format = formats[mt]
	if mt == "" && path.Ext(opt.Name) == "" {
		return opt, withStatus(http.StatusUnsupportedMediaType,
			errs.New(errs.Invalid, "neither the Content-Type nor the name says what the body is").
				WithHint("send the body as Content-Type: text/turtle"))
	}
	return opt, nil
}

// plainName reports whether a name can be shown in errors and in an IRI.
func plainName(s string) bool {
	return len(s) <= maxName && s != "." && s != ".." &&
		!strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7F || r == '/' || r == '\\' || r == 0xFFFD })
}

// graphParameter reads ?graph=, an absolute IRI. What could end an IRI in a
// query is refused here, whatever else checks it behind.
func graphParameter(q url.Values) (ontology.IRI, error) {
	s := q.Get("graph")
	scheme, rest, found := strings.Cut(s, ":")
	switch {
	case s == "":
		return "", badParameter("graph", "the graph's IRI is needed")
	case len(s) > maxIRI:
		return "", badParameter("graph", "the IRI is too long")
	case !found || rest == "" || !validScheme(scheme) || strings.ContainsFunc(s, notInIRI):
		return "", badParameter("graph", "must be an absolute IRI")
	}
	return ontology.IRI(s), nil
}

// validScheme reports whether s is a URI scheme (RFC 3986, section 3.1).
func validScheme(s string) bool {
	for i := range len(s) {
		c := s[i]
		switch letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'; {
		case letter:
		case i > 0 && (c >= '0' && c <= '9' || strings.IndexByte("+-.", c) >= 0):
		default:
			return false
		}
	}
	return s != ""
}

// notInIRI reports whether an IRI may not hold r (the IRIREF of Turtle and
// SPARQL); U+FFFD stands for what was not UTF-8.
func notInIRI(r rune) bool {
	return r <= ' ' || r == 0x7F || r == 0xFFFD || strings.ContainsRune("<>\"{}|^`\\", r)
}

// getGraph is GET /graphs: the export, of one graph or, without a name, of all.
func (s *Server) getGraph(_ context.Context, c *call) (answer, error) {
	q, err := c.query("graph")
	if err != nil {
		return answer{}, err
	}
	var opt banyan.ExportOptions
	offers := []string{typeNQuads, typeTurtle, typeNTriples} // all: with the graphs' names
	if q.Has("graph") {
		if opt.Graph, err = graphParameter(q); err != nil {
			return answer{}, err
		}
		offers = []string{typeTurtle, typeNTriples, typeNQuads}
	}
	mt, err := negotiate(c.r.Header, offers...)
	if err != nil {
		return answer{}, err
	}
	opt.Format = formats[mt]
	return answer{
		status:      http.StatusOK,
		header:      http.Header{"Vary": {"Accept"}},
		contentType: withCharset(mt),
		stream: func(ctx context.Context, w io.Writer) error {
			return s.cfg.Engine.Export(ctx, w, opt)
		},
	}, nil
}

// withCharset says UTF-8 where the media type's default would be another.
func withCharset(mt string) string {
	if mt == typeTurtle {
		return mt + "; charset=utf-8"
	}
	return mt
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
