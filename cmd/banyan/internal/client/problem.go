package client

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// maxParts bounds how many faults of one problem are kept.
const maxParts = 100

// problemDoc is the part of an RFC 9457 problem document that is used.
type problemDoc struct {
	Title    string      `json:"title"`
	Detail   string      `json:"detail"`
	Message  string      `json:"message"`
	Instance string      `json:"instance"`
	Kind     string      `json:"kind"`
	Hint     string      `json:"hint"`
	Errors   []errs.Part `json:"errors"`
}

// problem turns an answer that is no success into an *errs.Error.
func (c *Client) problem(resp *http.Response) error {
	kind := kindOfStatus(resp.StatusCode)
	ctype, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	var doc problemDoc
	if err != nil || ctype != "application/problem+json" || json.Unmarshal(data, &doc) != nil {
		return errs.New(errs.Unavailable, "%s answered %d %s without a reason that can be read: is it a banyan daemon?",
			c.name, resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	if k := errs.ParseKind(doc.Kind); k.String() == doc.Kind {
		kind = k
	}
	e := &errs.Error{Kind: kind, Msg: firstOf(doc.Detail, doc.Message, doc.Title, http.StatusText(resp.StatusCode)), Hint: doc.Hint}
	e.Parts = doc.Errors[:min(len(doc.Errors), maxParts)]
	if kind == errs.Internal {
		e.ID = strings.TrimPrefix(firstOf(doc.Instance, resp.Header.Get("X-Request-Id")), "urn:req:")
	}
	if resp.StatusCode == http.StatusUnauthorized && e.Hint == "" {
		e.Hint = "banyan --url " + c.name + " --token-file FILE …"
	}
	return e
}

// kindOfStatus is the kind of an answer whose problem names none.
func kindOfStatus(status int) errs.Kind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return errs.Denied
	case http.StatusNotFound:
		return errs.NotFound
	case http.StatusConflict:
		return errs.Conflict
	case http.StatusRequestEntityTooLarge:
		return errs.TooLarge
	case http.StatusUnprocessableEntity:
		return errs.Unsupported
	case http.StatusTooManyRequests:
		return errs.Exhausted
	case http.StatusBadGateway:
		return errs.RungFailed
	case http.StatusServiceUnavailable:
		return errs.Unavailable
	}
	if status >= 400 && status < 500 {
		return errs.Invalid
	}
	return errs.Internal
}

func firstOf(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}
