package server

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
)

// operation is one of the two operations of the SPARQL 1.1 Protocol.
type operation struct {
	text           string // the parameter that holds the query or update
	mediaType      string // of a body that is nothing but that
	deflt, named   string // the parameters of the dataset
	other          string // the other operation's parameter, and where it goes
	otherPath      string
	formatOverride bool
}

var (
	queryOperation = operation{
		text: "query", mediaType: "application/sparql-query",
		deflt: "default-graph-uri", named: "named-graph-uri",
		other: "update", otherPath: "POST /sparql/update", formatOverride: true,
	}
	updateOperation = operation{
		text: "update", mediaType: "application/sparql-update",
		deflt: "using-graph-uri", named: "using-named-graph-uri",
		other: "query", otherPath: "GET or POST /sparql",
	}
)

const typeForm = "application/x-www-form-urlencoded"

// maxDataset bounds the graphs that a request names.
const maxDataset = 1024

// asked is one request of the protocol.
type asked struct {
	text         string
	base         string
	deflt, named []ontology.IRI
	override     string // format or output, if one of them is given
	format       string // its value
}

// readProtocol reads a request by its method and Content-Type: the parameters
// from the query string, and from the body if that is a form; or the body is
// the text itself.
func (s *Server) readProtocol(c *call, op operation) (asked, error) {
	params, err := parameters("query string", c.r.URL.RawQuery)
	if err != nil {
		return asked{}, err
	}
	if c.r.Method == http.MethodPost {
		if err := s.readProtocolBody(c, op, params); err != nil {
			return asked{}, err
		}
	}
	a, err := op.understand(params)
	a.base = requestBase(c.r)
	return a, err
}

// readProtocolBody adds what the body says to the parameters.
func (s *Server) readProtocolBody(c *call, op operation, params url.Values) error {
	mt, err := mediaType(c.r.Header, op.mediaType, typeForm)
	if err == nil && mt == "" {
		err = withStatus(http.StatusUnsupportedMediaType, errs.New(errs.Invalid, "the Content-Type is missing").
			WithHint("send the text as Content-Type: %s", op.mediaType)).withHeader("Accept", op.mediaType+", "+typeForm)
	}
	if err != nil {
		return err
	}
	body, err := s.readBody(c)
	if err != nil {
		return err
	}
	if mt == op.mediaType {
		params[op.text] = append(params[op.text], string(body))
		return nil
	}
	form, err := parameters("form", string(body))
	for name, values := range form {
		params[name] = append(params[name], values...)
	}
	return err
}

// parameters parses the parameters of a query string or a form.
func parameters(where, text string) (url.Values, error) {
	params, err := url.ParseQuery(text)
	if err != nil {
		return nil, errs.New(errs.Invalid, "the %s cannot be read; percent-encode its values", where)
	}
	return params, nil
}

// understand checks the parameters: each is known, and there once unless it is
// of the dataset.
func (op operation) understand(params url.Values) (a asked, err error) {
	if params.Has(op.other) {
		return a, errs.New(errs.Invalid, "?%s: this path takes no %s", op.other, op.other).
			WithHint("send it to %s", op.otherPath).WithParts(errs.Part{Pointer: "?" + op.other, Detail: "does not belong here"})
	}
	known := []string{op.text, op.deflt, op.named}
	if op.formatOverride {
		known = append(known, "format", "output")
	}
	if err := onlyKnown(params, known, op.deflt, op.named); err != nil {
		return a, err
	}
	for name, values := range params {
		if slices.ContainsFunc(values, func(v string) bool { return !utf8.ValidString(v) }) {
			return a, badParameter(name, "is not UTF-8")
		}
	}
	if a.text = params.Get(op.text); strings.TrimSpace(a.text) == "" {
		return a, badParameter(op.text, "the text of the "+op.text+" is needed")
	}
	if a.deflt, err = dataset(params, op.deflt); err != nil {
		return a, err
	}
	if a.named, err = dataset(params, op.named); err != nil {
		return a, err
	}
	for _, name := range []string{"format", "output"} {
		if !params.Has(name) {
			continue
		}
		if a.override != "" {
			return a, badParameter(name, "format and output mean the same; give one of them")
		}
		a.override, a.format = name, params.Get(name)
	}
	return a, nil
}

// dataset reads the graphs of one parameter.
func dataset(params url.Values, name string) (graphs []ontology.IRI, err error) {
	if len(params[name]) > maxDataset {
		return nil, badParameter(name, "names too many graphs")
	}
	for _, v := range params[name] {
		g, err := absoluteIRI(name, v)
		if err != nil {
			return nil, err
		}
		graphs = append(graphs, g)
	}
	return graphs, nil
}

// requestBase is what relative IRIs of the text are resolved against: the
// address of the endpoint, as the client wrote it (SPARQL 1.1 Protocol, section
// 2.1.5 leaves it to the service). A Host that makes no IRI gives none.
func requestBase(r *http.Request) string {
	base := "http://" + r.Host + r.URL.EscapedPath()
	if r.Host == "" || strings.ContainsFunc(base, notInIRI) {
		return ""
	}
	return base
}
