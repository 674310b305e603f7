package results

import "strings"

// maxAccept is how much of an Accept header is looked at, in bytes. Real ones
// are under 500.
const maxAccept = 8 << 10

// Negotiate returns the offered format that an Accept header prefers, and
// false if it takes none of them (the answer then is 406). Offers are in the
// server's order of preference. An empty header takes the first.
func Negotiate(accept string, offers []Format) (Format, bool) {
	types := make([][]string, len(offers))
	for i, f := range offers {
		types[i] = f.info().media
	}
	i, ok := Best(accept, types)
	if !ok {
		return 0, false
	}
	return offers[i], true
}

// Best returns the index of the offer that an Accept header prefers, by RFC
// 9110, section 12.5.1. Each offer has the media types it answers to, the
// registered one first, in lower case; wildcards match only that one, so that
// "application/*" does not choose by an alias. The most specific range that
// fits a type sets its quality. Between offers of one quality that which was
// named more exactly wins ("text/csv, */*" means CSV), then the earlier one.
// A malformed element of the header is passed over, and parameters other than
// q are ignored.
func Best(accept string, offers [][]string) (int, bool) {
	ranges := parseAccept(accept)
	if strings.TrimSpace(accept) == "" {
		ranges = []mediaRange{{typ: "*", sub: "*", q: 1000}}
	}
	best, bestQ, bestSpecific := -1, 0, 0
	for i, types := range offers {
		for j, t := range types {
			q, specific := quality(ranges, t)
			if q == 0 || j > 0 && specific < 3 {
				continue
			}
			if q > bestQ || q == bestQ && specific > bestSpecific {
				best, bestQ, bestSpecific = i, q, specific
			}
		}
	}
	return best, best >= 0
}

// mediaRange is one element of an Accept header; q counts in thousandths.
type mediaRange struct {
	typ, sub string
	q        int
}

// specific ranks a range: 3 names a type, 2 a family of types, 1 all.
func (r mediaRange) specific() int {
	switch {
	case r.sub != "*":
		return 3
	case r.typ != "*":
		return 2
	}
	return 1
}

// quality returns the quality that the ranges give a media type and how
// exactly they name it; 0, 0 if they do not take it.
func quality(ranges []mediaRange, mediaType string) (q, specific int) {
	typ, sub, _ := strings.Cut(mediaType, "/")
	for _, r := range ranges {
		fits := (r.typ == "*" || r.typ == typ) && (r.sub == "*" || r.sub == sub)
		if !fits {
			continue
		}
		if s := r.specific(); s > specific || s == specific && r.q > q {
			q, specific = r.q, s
		}
	}
	return q, specific
}

func parseAccept(accept string) []mediaRange {
	if len(accept) > maxAccept {
		accept = accept[:maxAccept]
	}
	var ranges []mediaRange
	for accept != "" {
		var element string
		element, accept = cutOutsideQuotes(accept, ',')
		if r, ok := parseRange(element); ok {
			ranges = append(ranges, r)
		}
	}
	return ranges
}

func parseRange(element string) (mediaRange, bool) {
	name, params := cutOutsideQuotes(element, ';')
	typ, sub, slash := strings.Cut(strings.ToLower(strings.TrimSpace(name)), "/")
	if typ == "*" && !slash {
		sub = "*" // what Java's own client sends
	}
	if typ == "" || sub == "" || typ == "*" && sub != "*" {
		return mediaRange{}, false
	}
	r := mediaRange{typ: typ, sub: sub, q: 1000}
	for params != "" {
		var p string
		p, params = cutOutsideQuotes(params, ';')
		key, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if !strings.EqualFold(strings.TrimSpace(key), "q") {
			continue
		}
		q, ok := parseQ(strings.TrimSpace(value))
		if !ok {
			return mediaRange{}, false
		}
		r.q = q
		break
	}
	return r, true
}

// parseQ reads a quality: 0 to 1 with up to three digits behind the point. A
// missing leading zero is let pass, for Java sends it.
func parseQ(s string) (int, bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	if len(fraction) > 3 || whole == "" && fraction == "" {
		return 0, false
	}
	q := 0
	for _, c := range []byte(fraction + "000")[:3] {
		if c < '0' || c > '9' {
			return 0, false
		}
		q = 10*q + int(c-'0')
	}
	switch {
	case whole == "" || whole == "0":
		return q, true
	case whole == "1" && q == 0:
		return 1000, true
	}
	return 0, false
}

// cutOutsideQuotes is strings.Cut that passes over quoted strings.
func cutOutsideQuotes(s string, sep byte) (before, after string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == sep && !quoted:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}
