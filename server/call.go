package server

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/server/strictjson"
)

// call is one request as a handler sees it.
type call struct {
	r        *http.Request
	w        http.ResponseWriter // for deadlines and limits, never to be written to
	id       string              // the path's {id}, "" if the route has none
	body     []byte              // read by Server.work
	reserved int64               // bytes of the budget that body takes
}

// answer is what a handler returns; the router writes it.
type answer struct {
	status int
	header http.Header // beside those that every answer has; may be nil
	body   any         // encoded as JSON, unless raw or stream is set; nil is no body
	raw    []byte      // the body as it shall be sent
	// stream writes the body piece by piece, of type contentType.
	stream      func(ctx context.Context, w io.Writer) error
	contentType string // "" is JSON
	length      int64  // what stream writes, if that is known; 0 is unknown
	held        *held  // what the answer takes up until it is sent; may be nil
	zip         bool   // the client takes gzip, and a stream may be sent so
	head        bool   // only the header is sent, so a stream ends with it
	done        func() // called when the answer was sent or could not be; may be nil
}

// handler answers one route's requests.
type handler func(ctx context.Context, c *call) (answer, error)

// ok is a plain 200 answer.
func ok(body any) answer { return answer{status: http.StatusOK, body: body} }

// decode reads the body as JSON into a request value; an empty one is an error.
// That a type that is given is JSON, Server.prepare has checked.
func (c *call) decode(into any) error {
	if len(c.body) == 0 {
		return errs.New(errs.Invalid, "the body is empty; a JSON object is needed")
	}
	if c.r.Header.Get("Content-Type") == "" {
		// A page of another site can send a body without a type, but not one
		// of this type without being asked for leave.
		e := errs.New(errs.Invalid, "the Content-Type is missing").WithHint("send the body as Content-Type: %s", typeJSON)
		return withStatus(http.StatusUnsupportedMediaType, e).withHeader("Accept", typeJSON)
	}
	return strictjson.Decode(c.body, into, strictjson.Limits{})
}

// query returns the query's parameters. Unknown and repeated ones are errors:
// a mistyped dry_run must not change anything.
func (c *call) query(known ...string) (url.Values, error) {
	q, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return nil, errs.New(errs.Invalid, "the query cannot be read; percent-encode its values")
	}
	return q, onlyKnown(q, known)
}

// onlyKnown refuses parameters that are not known, and those that are there
// more than once but may not be.
func onlyKnown(q url.Values, known []string, repeatable ...string) error {
	var parts []errs.Part
	for name, values := range q {
		switch {
		case !slices.Contains(known, name):
			parts = append(parts, errs.Part{Pointer: "?" + short(name), Detail: "unknown query parameter; known here: " + knownList(known)})
		case len(values) > 1 && !slices.Contains(repeatable, name):
			parts = append(parts, errs.Part{Pointer: "?" + name, Detail: "the parameter is there more than once"})
		}
	}
	if len(parts) == 0 {
		return nil
	}
	slices.SortFunc(parts, func(a, b errs.Part) int { return strings.Compare(a.Pointer, b.Pointer) })
	if len(parts) > maxQueryFaults {
		parts = parts[:maxQueryFaults]
	}
	return errs.New(errs.Invalid, "%s: %s", parts[0].Pointer, parts[0].Detail).WithParts(parts...)
}

// maxQueryFaults bounds how many faults of one query are reported.
const maxQueryFaults = 16

func knownList(known []string) string {
	if len(known) == 0 {
		return "none"
	}
	return strings.Join(known, ", ")
}

// badParameter is the error of one query parameter.
func badParameter(name, detail string) error {
	p := errs.Part{Pointer: "?" + name, Detail: detail}
	return errs.New(errs.Invalid, "%s: %s", p.Pointer, p.Detail).WithParts(p)
}

// flag reads a parameter that is true or false; left out, it is false.
func flag(q url.Values, name string) (bool, error) {
	switch q.Get(name) {
	case "":
		if q.Has(name) {
			return false, badParameter(name, "must be true or false")
		}
		return false, nil
	case "false", "0":
		return false, nil
	case "true", "1":
		return true, nil
	}
	return false, badParameter(name, "must be true or false")
}

// snapshotID returns the path's snapshot. Text that cannot be an id names no
// snapshot, so it is not found; it never reaches a query.
func (c *call) snapshotID() (ontology.SnapshotID, error) {
	id := ontology.SnapshotID(c.id)
	if !id.Valid() {
		return "", errs.New(errs.NotFound, "there is no snapshot %q", short(c.id)).WithHint("banyan snapshots ls")
	}
	return id, nil
}

// short bounds a caller's text in a sentence.
func short(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
