package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/seed-ff860830/banyan/internal/errs"
	rdfresults "github.com/seed-ff860830/banyan/kg/sparql/results"
)

// offer is one form in which an answer can be given.
type offer struct {
	format      string   // the engine's name for it
	names       []string // what else a format= parameter may call it, beside its types
	types       []string // media types, the registered one first; the others are aliases
	contentType string   // the header of the answer
}

// The media types and the engine's names for them.
const (
	typeTurtle   = "text/turtle"
	typeNTriples = "application/n-triples"
	typeNQuads   = "application/n-quads"
	typeJSON     = "application/json"
)

// offers are all forms of answers from the graph. The first type of each is
// what IANA has registered; the aliases are what clients in use ask for.
var offers = map[string]offer{
	"json": {types: []string{"application/sparql-results+json", typeJSON}, names: []string{"srj"}},
	"xml":  {types: []string{"application/sparql-results+xml", "application/xml", "text/xml"}, names: []string{"srx"}},
	"csv":  {types: []string{"text/csv"}},
	"tsv":  {types: []string{"text/tab-separated-values"}},
	"turtle": {
		types: []string{typeTurtle, "application/turtle", "application/x-turtle", "text/n3", "text/rdf+n3"},
		names: []string{"ttl", "n3"}, contentType: typeTurtle + "; charset=utf-8",
	},
	"ntriples": {types: []string{typeNTriples, "text/plain"}, names: []string{"nt", "n-triples"}, contentType: typeNTriples},
	"nquads":   {types: []string{typeNQuads}, names: []string{"nq", "n-quads"}, contentType: typeNQuads},
}

// offersOf returns the offers of the engine's formats, in their order.
func offersOf(formats ...string) []offer {
	out := make([]offer, 0, len(formats))
	for _, name := range formats {
		o, ok := offers[name]
		if !ok {
			continue // a format that HTTP has no name for yet
		}
		o.format = name
		if f, ok := rdfresults.FormatByName(name); ok && o.contentType == "" {
			o.contentType = f.ContentType()
		}
		out = append(out, o)
	}
	return out
}

// choose picks the offer that an Accept header prefers (RFC 9110, section
// 12.5.1); without one, the first. It returns a 406 error if none will do.
func choose(h http.Header, from []offer) (offer, error) {
	types := make([][]string, len(from))
	for i, o := range from {
		types[i] = o.types
	}
	i, ok := rdfresults.Best(strings.Join(h.Values("Accept"), ","), types)
	if !ok {
		return offer{}, notAcceptable("the Accept header takes", from)
	}
	return from[i], nil
}

// chooseFormat picks the offer that a format= or output= parameter names, by
// the engine's name or by a media type. A name that nothing has is a mistake; a
// form that only other answers have is a 406.
func chooseFormat(parameter, value string, from []offer) (offer, error) {
	name, _, _ := strings.Cut(strings.ToLower(value), ";")
	name = strings.TrimSpace(name)
	for format, o := range offers {
		if name != format && !slices.Contains(o.names, name) && !slices.Contains(o.types, name) {
			continue
		}
		for _, o := range from {
			if o.format == format {
				return o, nil
			}
		}
		return offer{}, notAcceptable("the parameter "+parameter+" names", from)
	}
	return offer{}, badParameter(parameter, "names no format that is known here")
}

func notAcceptable(what string, from []offer) error {
	types := make([]string, len(from))
	for i, o := range from {
		types[i] = o.types[0]
	}
	return withStatus(http.StatusNotAcceptable,
		errs.New(errs.Invalid, "%s none of what is offered here: %s", what, strings.Join(types, ", ")))
}

// negotiate is choose among plain media types.
func negotiate(h http.Header, types ...string) (string, error) {
	from := make([]offer, len(types))
	for i, t := range types {
		from[i] = offer{types: []string{t}}
	}
	o, err := choose(h, from)
	if err != nil {
		return "", err
	}
	return o.types[0], nil
}
