package server

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// negotiate chooses among the media types on offer, best first, by an Accept
// header (RFC 9110, section 12.5.1); without one, the first. It returns a 406
// error if none will do.
func negotiate(h http.Header, offers ...string) (string, error) {
	accept := strings.Join(h.Values("Accept"), ",")
	if strings.TrimSpace(accept) == "" {
		return offers[0], nil
	}
	best, bestQ := "", 0.0
	for _, offer := range offers {
		if q := quality(accept, offer); q > bestQ {
			best, bestQ = offer, q
		}
	}
	if best == "" {
		return "", withStatus(http.StatusNotAcceptable,
			errs.New(errs.Invalid, "the Accept header takes none of what is offered here: %s", strings.Join(offers, ", ")))
	}
	return best, nil
}

// quality returns the weight that accept gives to a media type: that of the
// most specific range that covers it, 0 if none does.
func quality(accept, offer string) float64 {
	kind, _, _ := strings.Cut(offer, "/")
	q, specific := 0.0, 0
	for item := range strings.SplitSeq(accept, ",") {
		name, params, _ := strings.Cut(item, ";")
		rank := 0
		switch strings.ToLower(strings.TrimSpace(name)) {
		case offer:
			rank = 3
		case kind + "/*":
			rank = 2
		case "*/*":
			rank = 1
		}
		if rank > specific {
			q, specific = weight(params), rank
		}
	}
	return q
}

// weight returns the q of a range's parameters; 1 if it has none, 0 if it
// cannot be read.
func weight(params string) float64 {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(p, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(q >= 0 && q <= 1) {
			return 0
		}
		return q
	}
	return 1
}
