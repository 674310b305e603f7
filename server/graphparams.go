package server

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
)

// The bounds of what a caller names a graph and a file.
const (
	maxIRI  = 2048
	maxName = 255
)

// target is the graph that a request of the Graph Store Protocol is about.
type target struct {
	graph   ontology.IRI
	unnamed bool
}

// given reports whether the request names a graph at all.
func (t target) given() bool { return t.unnamed || t.graph != "" }

// targetOf reads ?graph=IRI or ?default. Both at once are refused; neither is
// the caller's to judge.
func targetOf(q url.Values) (target, error) {
	var t target
	if t.unnamed = q.Has("default"); t.unnamed && q.Get("default") != "" {
		return t, badParameter("default", "takes no value")
	}
	if !q.Has("graph") {
		return t, nil
	}
	if t.unnamed {
		return t, badParameter("default", "a request is about a graph or the default graph, not both")
	}
	var err error
	t.graph, err = absoluteIRI("graph", q.Get("graph"))
	return t, err
}

// needTarget is targetOf where there has to be one.
func needTarget(q url.Values) (target, error) {
	t, err := targetOf(q)
	if err == nil && !t.given() {
		err = badParameter("graph", "the graph's IRI is needed, or ?default")
	}
	return t, err
}

// importOptions reads ?graph= or ?default, ?name=, ?dry_run= and the
// Content-Type.
func importOptions(c *call, merge bool) (banyan.ImportOptions, error) {
	opt := banyan.ImportOptions{Merge: merge}
	q, err := c.query("graph", "default", "name", "dry_run")
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
	read := needTarget
	if opt.Name != "" && !merge {
		read = targetOf // the name will do
	}
	t, err := read(q)
	if err != nil {
		return opt, err
	}
	opt.Graph, opt.Unnamed = t.graph, t.unnamed
	opt.Format, err = bodyFormat(c.r.Header, opt)
	return opt, err
}

// bodyFormat reads the Content-Type of what is imported. A manifest in JSON is
// a whole graph: it can replace a named one, and nothing else.
func bodyFormat(h http.Header, opt banyan.ImportOptions) (string, error) {
	accepted := []string{typeTurtle, typeNTriples}
	if !opt.Merge && !opt.Unnamed {
		accepted = append(accepted, typeJSON)
	}
	mt, err := mediaType(h, accepted...)
	if err != nil {
		return "", err
	}
	if mt == "" && path.Ext(opt.Name) == "" {
		return "", withStatus(http.StatusUnsupportedMediaType,
			errs.New(errs.Invalid, "neither the Content-Type nor the name says what the body is").
				WithHint("send the body as Content-Type: text/turtle"))
	}
	return map[string]string{typeTurtle: "turtle", typeNTriples: "ntriples", typeJSON: "json"}[mt], nil
}

// plainName reports whether a name can be shown in errors and in an IRI.
func plainName(s string) bool {
	return len(s) <= maxName && s != "." && s != ".." &&
		!strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7F || r == '/' || r == '\\' || r == 0xFFFD })
}

// absoluteIRI reads a parameter that names a graph. What could end an IRI in a
// query is refused here, whatever else checks it behind.
func absoluteIRI(parameter, s string) (ontology.IRI, error) {
	scheme, rest, found := strings.Cut(s, ":")
	switch {
	case s == "":
		return "", badParameter(parameter, "the graph's IRI is needed")
	case len(s) > maxIRI:
		return "", badParameter(parameter, "the IRI is too long")
	case !found || rest == "" || !validScheme(scheme) || strings.ContainsFunc(s, notInIRI):
		return "", badParameter(parameter, "must be an absolute IRI")
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
