// Package client speaks to a running Banyan daemon over HTTP, on TCP or on a
// unix socket. It has the engine's methods, so that a command does not care
// which of the two it talks to.
//
// The answers are bounded and decoded into the same types that the engine
// returns; a problem document becomes an *errs.Error of the kind it names.
// Nothing is ever sent twice: a job whose connection broke may have run.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-ff860830/banyan/internal/buildinfo"
	"github.com/seed-ff860830/banyan/internal/errs"
)

// The bounds of what is read from a daemon, in bytes. A result carries the
// job's output and artifacts, base64 included, so it may be large.
const (
	maxResult  = 256 << 20
	maxAnswer  = 32 << 20
	maxProblem = 1 << 20
)

// dialTimeout bounds making a connection. An answer is bounded by the caller's
// context alone, since a job may run for long.
const dialTimeout = 5 * time.Second

// Config says which daemon to speak to.
type Config struct {
	// URL is http://HOST:PORT, https://HOST:PORT or unix:///PATH.
	URL string
	// Token is sent as bearer token; "" sends none.
	Token string
}

// Client is a connection to one daemon. It is safe for concurrent use.
type Client struct {
	name  string // the daemon, as error texts name it
	base  string // what stands before a path
	token string
	http  *http.Client
}

// New makes a client; it does not connect yet. An URL of another form is
// Invalid.
func New(cfg Config) (*Client, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, errs.New(errs.Invalid, "%q is not a URL", cfg.URL)
	}
	// No proxy from the environment: a token and a job's code go to the daemon
	// that was named and to nobody in between.
	transport := &http.Transport{
		DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout:   dialTimeout,
		DisableCompression:    true, // a bound on bytes read is then a bound on bytes kept
		MaxIdleConnsPerHost:   4,
		IdleConnTimeout:       30 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
	c := &Client{name: cfg.URL, base: strings.TrimSuffix(cfg.URL, "/"), token: cfg.Token}
	switch {
	case u.Scheme == "unix" && u.Host == "" && filepath.IsAbs(u.Path):
		path := u.Path
		c.base = "http://localhost"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dialUnix(ctx, path) }
	case (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil:
	default:
		return nil, errs.New(errs.Invalid, "%q is not of the form http://HOST:PORT, https://HOST:PORT or unix:///PATH", u.Redacted())
	}
	c.http = &http.Client{
		Transport: transport,
		// A redirect would carry the token and the code to another place.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// Name returns the daemon's URL, for texts.
func (c *Client) Name() string { return c.name }

// Close gives the idle connections back.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// call is one request and what to do with its answer.
type call struct {
	method string
	path   string // escaped, below the base
	query  url.Values
	body   io.Reader // nil: none
	ctype  string    // of the body
	accept string    // default application/json
	limit  int64     // of the answer; default maxAnswer
}

// json does a call whose answer is one JSON value, read into out; out nil
// wants no body. It returns the status.
func (c *Client) json(ctx context.Context, req call, out any) (int, error) {
	resp, err := c.do(ctx, req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	limit := req.limit
	if limit == 0 {
		limit = maxAnswer
	}
	if out == nil {
		_, err := io.Copy(io.Discard, io.LimitReader(resp.Body, limit))
		return resp.StatusCode, c.broken(ctx, err)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return 0, c.broken(ctx, err)
	}
	if int64(len(data)) > limit {
		return 0, errs.New(errs.TooLarge, "the answer of the daemon at %s has more than %d bytes", c.name, limit)
	}
	if err := json.Unmarshal(data, out); err != nil {
		return 0, errs.Wrap(errs.Unavailable, err, "the daemon at %s sent an answer that cannot be read: is it of another version?", c.name)
	}
	return resp.StatusCode, nil
}

// do sends one request. An answer that is not a success becomes an error.
func (c *Client) do(ctx context.Context, in call) (*http.Response, error) {
	target := c.base + in.path
	if len(in.query) > 0 {
		target += "?" + in.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, in.method, target, in.body)
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "the request cannot be made")
	}
	// Without this Go sends a body again on a fresh connection where it can.
	req.GetBody = nil
	req.Header.Set("User-Agent", "banyan/"+buildinfo.Version())
	req.Header.Set("Accept", "application/json")
	if in.accept != "" {
		req.Header.Set("Accept", in.accept)
	}
	if in.body != nil {
		req.Header.Set("Content-Type", in.ctype)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, c.problem(resp)
}

// unreachable explains why no answer came.
func (c *Client) unreachable(ctx context.Context, err error) error {
	if e := ended(ctx); e != nil {
		return e
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return errs.Wrap(errs.Unavailable, err, "no daemon answers at %s: %v", c.name, op.Err).WithHint("banyan serve")
	}
	var known *errs.Error
	if errors.As(err, &known) {
		return known
	}
	return errs.Wrap(errs.Unavailable, err, "the daemon at %s closed the connection before it answered; what was asked may have been done", c.name)
}

// broken explains an answer that stopped in the middle; nil stays nil.
func (c *Client) broken(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if e := ended(ctx); e != nil {
		return e
	}
	return errs.Wrap(errs.Unavailable, err, "the daemon at %s closed the connection in the middle of its answer", c.name)
}

// ended returns the error of a context that is over, nil of one that is not.
func ended(ctx context.Context) error {
	switch err := ctx.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return errs.Wrap(errs.Timeout, err, "the time for an answer ran out")
	default:
		return errs.Wrap(errs.Canceled, err, "interrupted")
	}
}

// body encodes v as a JSON request body.
func body(v any) (io.Reader, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "the request cannot be written as JSON")
	}
	return bytes.NewReader(data), nil
}
