package ttl

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// ValidIRI reports whether s is an absolute IRI that may stand between '<' and
// '>': it has a scheme, is UTF-8, and holds none of the characters that the
// grammar's IRIREF forbids (controls, space, <>"{}|^`\).
func ValidIRI(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x80 && !is(s[i], classIRI) {
			return false
		}
	}
	return schemeLen(s) > 0 && utf8.ValidString(s)
}

// schemeLen returns the length of s's scheme without its colon, 0 if s has
// none and so is a relative reference (RFC 3986, section 3.1).
func schemeLen[T ~string | ~[]byte](s T) int {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case is(c, classAlpha):
		case c == ':':
			return i
		case i == 0 || !is(c, classDigit) && c != '+' && c != '-' && c != '.':
			return 0
		}
	}
	return 0
}

// reference is an IRI in its five parts (RFC 3986, section 3).
type reference struct {
	scheme, authority, path, query, fragment string
	hasAuthority, hasQuery, hasFragment      bool
}

// splitReference takes a reference apart as the expression of RFC 3986,
// appendix B, does.
func splitReference(s string) (r reference) {
	if n := schemeLen(s); n > 0 {
		r.scheme, s = s[:n], s[n+1:]
	}
	s, r.fragment, r.hasFragment = strings.Cut(s, "#")
	s, r.query, r.hasQuery = strings.Cut(s, "?")
	if rest, ok := strings.CutPrefix(s, "//"); ok {
		r.hasAuthority = true
		n := strings.IndexByte(rest, '/')
		if n < 0 {
			n = len(rest)
		}
		r.authority, s = rest[:n], rest[n:]
	}
	r.path = s
	return r
}

// String puts the parts together again (RFC 3986, section 5.3).
func (r reference) String() string {
	var b strings.Builder
	if r.scheme != "" {
		b.WriteString(r.scheme + ":")
	}
	if r.hasAuthority {
		b.WriteString("//" + r.authority)
	}
	b.WriteString(r.path)
	if r.hasQuery {
		b.WriteString("?" + r.query)
	}
	if r.hasFragment {
		b.WriteString("#" + r.fragment)
	}
	return b.String()
}

// ResolveIRI resolves a reference against an absolute base (RFC 3986, section
// 5.2, strict). A reference that has a scheme is absolute and returned as it
// is: Turtle asks for no normalisation, and an IRI that was written must come
// back as the same term. It checks neither text; see ValidIRI.
func ResolveIRI(base, ref string) string {
	r := splitReference(ref)
	if r.scheme != "" {
		return ref
	}
	b := splitReference(base)
	t := r
	t.scheme = b.scheme
	switch {
	case r.hasAuthority:
		t.path = removeDots(r.path)
		return t.String()
	case r.path == "":
		t.path = b.path
		if !r.hasQuery {
			t.query, t.hasQuery = b.query, b.hasQuery
		}
	case r.path[0] == '/':
		t.path = removeDots(r.path)
	case b.hasAuthority && b.path == "":
		t.path = removeDots("/" + r.path)
	default:
		t.path = removeDots(b.path[:strings.LastIndexByte(b.path, '/')+1] + r.path)
	}
	t.authority, t.hasAuthority = b.authority, b.hasAuthority
	return t.String()
}

// removeDots takes "." and ".." out of a path (RFC 3986, section 5.2.4).
func removeDots(in string) string {
	if !strings.Contains(in, ".") {
		return in
	}
	out := make([]byte, 0, len(in))
	for in != "" {
		switch {
		case strings.HasPrefix(in, "../"):
			in = in[3:]
		case strings.HasPrefix(in, "./"), strings.HasPrefix(in, "/./"):
			in = in[2:]
		case in == "/.":
			in = "/"
		case strings.HasPrefix(in, "/../"), in == "/..":
			in = "/" + in[min(4, len(in)):]
			out = out[:max(bytes.LastIndexByte(out, '/'), 0)]
		case in == ".", in == "..":
			in = ""
		default:
			n := 1 + strings.IndexByte(in[1:], '/')
			if n == 0 {
				n = len(in)
			}
			out = append(out, in[:n]...)
			in = in[n:]
		}
	}
	return string(out)
}
