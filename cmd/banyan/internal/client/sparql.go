package client

import (
	"context"
	"errors"
	"io"
	"iter"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg/sparql/results"
	"github.com/seed-ff860830/banyan/ttl"
)

// The media types of answers that are asked for: those that can be read as
// they come, and JSON for the answer of an ASK, which TSV has no form for.
const (
	typeTSV      = "text/tab-separated-values"
	typeSPARQL   = "application/sparql-results+json"
	typeNTriples = "application/n-triples"

	acceptAnswers = typeTSV + ", " + typeNTriples + ", " + typeSPARQL + ";q=0.5"
)

// maxBoolean bounds the answer of an ASK, in bytes.
const maxBoolean = 64 << 10

// Query asks the daemon by the SPARQL 1.1 Protocol. Unlike the engine's, the
// answer is to be read at most once, and the daemon works on it until it has
// been read or ctx ends. Of the bounds, MaxRows is kept here.
func (c *Client) Query(ctx context.Context, text string, o banyan.QueryOptions) (*banyan.QueryResult, error) {
	q := url.Values{}
	for _, g := range o.DefaultGraphs {
		q.Add("default-graph-uri", string(g))
	}
	for _, g := range o.NamedGraphs {
		q.Add("named-graph-uri", string(g))
	}
	resp, err := c.do(ctx, call{
		method: http.MethodPost, path: "/sparql", query: q, accept: acceptAnswers,
		body: strings.NewReader(text), ctype: "application/sparql-query",
	})
	if err != nil {
		return nil, err
	}
	ctype, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch ctype {
	case typeTSV:
		return c.rows(ctx, resp.Body, o.MaxRows)
	case typeNTriples:
		return &banyan.QueryResult{Kind: banyan.QueryConstruct, Triples: c.triples(ctx, resp.Body, o.MaxRows)}, nil
	case typeSPARQL:
		defer resp.Body.Close()
		set, err := results.Read(resp.Body, results.JSON, results.Limits{Bytes: maxBoolean})
		if err == nil && set.Boolean != nil {
			return &banyan.QueryResult{Kind: banyan.QueryAsk, Bool: *set.Boolean}, nil
		}
		return nil, c.unreadable(ctx, err)
	}
	resp.Body.Close()
	return nil, c.unreadable(ctx, errs.New(errs.Invalid, "the Content-Type is %q", ctype))
}

// rows reads the answer of a SELECT as it comes.
func (c *Client) rows(ctx context.Context, body io.ReadCloser, most int) (*banyan.QueryResult, error) {
	r, err := results.NewTSVReader(body, results.Limits{})
	if err != nil {
		body.Close()
		return nil, c.unreadable(ctx, err)
	}
	seq := sequence(body, most, "solutions", func() ([]ttl.Term, error) {
		row, err := r.Row()
		if err != nil && !errors.Is(err, io.EOF) {
			err = c.unreadable(ctx, err)
		}
		return row, err
	})
	return &banyan.QueryResult{Kind: banyan.QuerySelect, Vars: r.Vars(), Rows: seq}, nil
}

// triples reads a graph as it comes.
func (c *Client) triples(ctx context.Context, body io.ReadCloser, most int) iter.Seq2[ttl.Triple, error] {
	// How long an answer may be is the daemon's and MaxRows' to bound: it is
	// not held here.
	const boundless = 1 << 62 // bytes, and triples
	r := ttl.NewReader(body, ttl.Options{Format: ttl.NTriples, Limits: ttl.Limits{Bytes: boundless, Triples: boundless, TermBytes: boundless}})
	return sequence(body, most, "triples", func() (ttl.Triple, error) {
		t, err := r.Read()
		if err != nil && !errors.Is(err, io.EOF) {
			err = c.unreadable(ctx, err)
		}
		return t, err
	})
}

// sequence yields what next gives until io.EOF, at most so many, and closes
// the body then. An answer that is longer is an error and is not cut.
func sequence[T any](body io.Closer, most int, what string, next func() (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		defer body.Close()
		var none T
		for n := 0; ; n++ {
			v, err := next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil && most > 0 && n >= most {
				err = errs.New(errs.TooLarge, "the result has more than the limit of %d %s", most, what).WithHint("ask for a part of it with LIMIT")
			}
			if err != nil {
				yield(none, err)
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

// unreadable tells an answer that broke off from one that is no answer.
func (c *Client) unreadable(ctx context.Context, err error) error {
	if e := ended(ctx); e != nil {
		return e
	}
	var broke net.Error
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &broke) {
		return c.broken(ctx, err)
	}
	return errs.Wrap(errs.Unavailable, err, "the daemon at %s sent an answer that cannot be read: is it of another version?", c.name)
}

// Update runs an update request. Where the connection broke before the answer
// came, the update may have been made.
func (c *Client) Update(ctx context.Context, text string, o banyan.UpdateOptions) (out banyan.UpdateReport, err error) {
	q := url.Values{}
	for _, g := range o.UsingGraphs {
		q.Add("using-graph-uri", string(g))
	}
	for _, g := range o.UsingNamedGraphs {
		q.Add("using-named-graph-uri", string(g))
	}
	_, err = c.json(ctx, call{
		method: http.MethodPost, path: "/sparql/update", query: q,
		body: strings.NewReader(text), ctype: "application/sparql-update",
	}, &out)
	return out, err
}
