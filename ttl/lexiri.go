package ttl

import "bytes"

// The scanners of this package all begin with pos at the first byte of their token and
// leave it behind the last. Each has a fast loop over a class of ASCII bytes
// and comes out of it for the rest. They return false after setting r.err.

// readIRIRef reads '<' … '>' and resolves it.
func (r *Reader) readIRIRef() (string, bool) {
	if s, ok := r.knownIRI(); ok {
		return s, true
	}
	i := r.pos + 1
	var escaped, wide bool
	for {
		for is(r.buf[i], classIRI) {
			i++
		}
		switch c := r.buf[i]; {
		case c == '>':
			raw := r.buf[r.pos+1 : i]
			if len(raw) > r.lim.IRIBytes {
				return "", r.overLimit("IRIBytes")
			}
			s, ok := r.makeIRI(raw, escaped, wide)
			if ok {
				r.pass(i+1, wide)
			}
			return s, ok
		case c == 0 && i == r.end:
			var ok bool
			if i, ok = r.more(i); !ok {
				return "", r.fail(i, "the IRI that begins at %s is not closed", r.here())
			}
		case c == '\\':
			rel := i - r.pos
			n, ok := r.unicodeEscape(rel)
			if !ok {
				return "", false
			}
			escaped = true
			i = r.pos + rel + n
		case c >= 0x80:
			_, n, at := r.rune(i)
			if n == 0 {
				return "", r.failUTF8(at)
			}
			wide = true
			i = at + n
		default:
			return "", r.fail(i, "%s may not stand in an IRI", quoteByte(c))
		}
		if i-r.pos > r.lim.IRIBytes+escapeSlack {
			return "", r.overLimit("IRIBytes")
		}
	}
}

// knownIRI passes over an absolute IRI that was read not long ago. The text was
// checked then, so finding its end and comparing is enough.
func (r *Reader) knownIRI() (string, bool) {
	window := r.buf[r.pos+1 : min(r.end, r.pos+cacheText+2)]
	n := bytes.IndexByte(window, '>')
	if n < 1 {
		return "", false
	}
	e := r.iris.slot(window[:n])
	if e.gen != r.iris.gen || e.text != string(window[:n]) {
		return "", false
	}
	r.pass(r.pos+n+2, e.from == wideIRI)
	return e.text, true
}

// wideIRI marks an IRI in the cache that is not plain ASCII.
const wideIRI = 1

// makeIRI turns the text between '<' and '>' into an absolute IRI.
func (r *Reader) makeIRI(raw []byte, escaped, wide bool) (string, bool) {
	if escaped {
		r.scratch = unescape(r.scratch[:0], raw)
		raw = r.scratch
		for _, c := range raw {
			if c < 0x80 && !is(c, classIRI) {
				return "", r.fail(r.pos, "%s may not stand in an IRI, not even escaped", quoteByte(c))
			}
		}
	}
	if schemeLen(raw) > 0 {
		s := string(raw)
		if !escaped {
			from := 0
			if wide {
				from = wideIRI
			}
			r.iris.put(r.iris.slot(raw), "", s, from)
		}
		return s, true
	}
	if r.format != Turtle {
		return "", r.fail(r.pos, "the IRI <%s> is relative; %s has only absolute IRIs", clip(raw), r.format)
	}
	if r.base == "" {
		return "", r.fail(r.pos, "the IRI <%s> is relative and there is no base", clip(raw))
	}
	s := ResolveIRI(r.base, string(raw))
	if len(s) > r.lim.IRIBytes {
		return "", r.overLimit("IRIBytes")
	}
	return s, true
}
