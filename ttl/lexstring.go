package ttl

import "unicode/utf8"

// readString reads a string in any of the quotes that the format has. The
// scan finds its end and checks it; only then is it copied, and unescaped if
// there was an escape.
func (r *Reader) readString() (string, bool) {
	quote, q := r.buf[r.pos], 1
	if r.at(1) == quote && r.format == Turtle {
		if r.at(2) != quote {
			r.pos += 2
			return "", true
		}
		q = 3
	}
	end, escaped, general, ok := r.scanString(quote, q)
	if !ok {
		return "", false
	}
	raw := r.buf[r.pos+q : r.pos+end]
	if len(raw) > r.lim.LiteralBytes {
		return "", r.overLimit("LiteralBytes")
	}
	if escaped {
		r.scratch = unescape(r.scratch[:0], raw)
		raw = r.scratch
	}
	s := r.text(raw)
	r.pass(r.pos+end+q, general)
	return s, true
}

// text makes a literal's lexical form. Short ones tend to come again.
func (r *Reader) text(raw []byte) string {
	if len(raw) <= 24 {
		return r.literals.plain(raw)
	}
	return string(raw)
}

// scanString finds the end of the string at pos, which has q quotes of its
// kind on each side, and returns how far behind pos the closing quotes are.
// general says that it holds line ends or characters of several bytes.
func (r *Reader) scanString(quote byte, q int) (end int, escaped, general, ok bool) {
	i := r.pos + q
	for {
		for is(r.buf[i], classString) {
			i++
		}
		rel := i - r.pos
		switch c := r.buf[i]; {
		case c == quote:
			if q == 1 || r.at(rel+1) == quote && r.at(rel+2) == quote {
				return rel, escaped, general, true
			}
			i = r.pos + rel + 1
		case c == '\\':
			n, ok := r.stringEscape(rel)
			if !ok {
				return 0, false, false, false
			}
			escaped = true
			i = r.pos + rel + n
		case c == '"' || c == '\'':
			i++
		case c == '\n' || c == '\r':
			if q == 1 {
				return 0, false, false, r.fail(r.pos, "this string is not closed on its line")
			}
			general = true
			i++
		case c == 0:
			if i < r.end {
				i++ // a NUL of the document's own
			} else if i, ok = r.more(i); !ok {
				return 0, false, false, r.fail(r.pos, "this string is not closed")
			}
		default:
			_, n, at := r.rune(i)
			if n == 0 {
				return 0, false, false, r.failUTF8(at)
			}
			general = true
			i = at + n
		}
		if rel > r.lim.LiteralBytes+escapeSlack {
			return 0, false, false, r.overLimit("LiteralBytes")
		}
	}
}

// stringEscape checks the escape rel bytes behind pos and returns its length.
func (r *Reader) stringEscape(rel int) (int, bool) {
	switch r.at(rel + 1) {
	case 't', 'b', 'n', 'r', 'f', '"', '\'', '\\':
		return 2, true
	}
	return r.unicodeEscape(rel)
}

// unicodeEscape checks a \uXXXX or \UXXXXXXXX rel bytes behind pos and returns
// its length. Surrogates are not characters, so they are refused.
func (r *Reader) unicodeEscape(rel int) (int, bool) {
	var n int
	switch r.at(rel + 1) {
	case 'u':
		n = 4
	case 'U':
		n = 8
	default:
		return 0, r.fail(r.pos+rel, "there is no such escape")
	}
	var v rune
	for k := range n {
		c := r.at(rel + 2 + k)
		if !is(c, classHex) {
			return 0, r.fail(r.pos+rel, "this escape needs %d hexadecimal digits", n)
		}
		if v = v<<4 | hexValue(c); v > utf8.MaxRune {
			return 0, r.fail(r.pos+rel, "this escape is beyond U+10FFFF")
		}
	}
	if v >= 0xD800 && v <= 0xDFFF {
		return 0, r.fail(r.pos+rel, "this escape is half of a surrogate pair, which is no character")
	}
	return n + 2, true
}

// unescape appends raw with its escapes replaced; they were checked before.
func unescape(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		c := raw[i]
		if c != '\\' {
			dst = append(dst, c)
			i++
			continue
		}
		var n int
		switch c = raw[i+1]; c {
		case 't':
			dst = append(dst, '\t')
		case 'b':
			dst = append(dst, '\b')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 'f':
			dst = append(dst, '\f')
		case 'u':
			n = 4
		case 'U':
			n = 8
		default:
			dst = append(dst, c)
		}
		i += 2
		if n > 0 {
			var v rune
			for _, h := range raw[i : i+n] {
				v = v<<4 | hexValue(h)
			}
			dst = utf8.AppendRune(dst, v)
			i += n
		}
	}
	return dst
}

// unescapeLocal appends a local name without the backslashes of its escapes.
// "%41" stays: in a name it is three characters.
func unescapeLocal(dst, raw []byte) []byte {
	for i := 0; i < len(raw); i++ {
		if raw[i] == '\\' {
			i++
		}
		dst = append(dst, raw[i])
	}
	return dst
}
