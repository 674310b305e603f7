package planner

import "strings"

// This file is the scanner's knowledge of Python's strings. Up to Python 3.11
// an f-string is one token that ends at the next quote of its kind; from 3.12 on
// (PEP 701) the quote may stand again inside a replacement field. A program that
// is valid under the old rule has no such quote there, so reading by the new
// rule is right for both.

// skipString consumes a string literal; pos is at its quote and prefix is the
// word in front of it. nested counts the f-strings around it.
func (s *pyScanner) skipString(prefix string, nested int) {
	quote := s.code[s.pos : s.pos+1]
	if strings.HasPrefix(s.code[s.pos:], strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	s.pos += len(quote)
	switch strings.ToLower(prefix) {
	case "f", "t": // t: PEP 750
		s.skipFormatted(quote, false, nested)
		return
	case "fr", "rf", "tr", "rt":
		s.skipFormatted(quote, true, nested)
		return
	}
	for s.pos < len(s.code) {
		switch c := s.code[s.pos]; {
		case c == '\\': // also in a raw string it keeps the quote from closing
			s.skipEscaped()
		case s.closes(quote):
			return
		default:
			s.pos++
		}
	}
}

// skipEscaped consumes a backslash and what it escapes.
func (s *pyScanner) skipEscaped() {
	s.pos = min(s.pos+1+max(newlineLen(s.code[s.pos+1:]), 1), len(s.code))
}

// closes consumes the closing quote, if it is there. A string with single
// quotes also ends with its line: it was never closed, a syntax error, and what
// follows is better read as code.
func (s *pyScanner) closes(quote string) bool {
	if strings.HasPrefix(s.code[s.pos:], quote) {
		s.pos += len(quote)
		return true
	}
	return len(quote) == 1 && isNewline(s.code[s.pos])
}

// skipFormatted consumes the rest of an f-string behind its opening quote.
func (s *pyScanner) skipFormatted(quote string, raw bool, nested int) {
	if nested > maxPyNesting {
		s.pos = len(s.code)
		return
	}
	for s.pos < len(s.code) {
		switch c := s.code[s.pos]; {
		case c == '\\':
			s.skipFormattedEscape(raw)
		case s.closes(quote):
			return
		case c == '{' && strings.HasPrefix(s.code[s.pos:], "{{"):
			s.pos += 2
		case c == '{':
			s.pos++
			s.skipField(quote, raw, nested)
		default:
			s.pos++
		}
	}
}

// skipFormattedEscape consumes a backslash in an f-string. It does not escape a
// brace; \N{NAME} is one character and no field, unless the string is raw.
func (s *pyScanner) skipFormattedEscape(raw bool) {
	rest := s.code[s.pos+1:]
	switch {
	case strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "}"):
		s.pos++
	case !raw && strings.HasPrefix(rest, "N{"):
		s.pos += 3
		for s.pos < len(s.code) && (isIdent(s.code[s.pos]) || s.code[s.pos] == ' ' || s.code[s.pos] == '-') {
			s.pos++
		}
		if s.pos < len(s.code) && s.code[s.pos] == '}' {
			s.pos++
		}
	default:
		s.skipEscaped()
	}
}

// skipField consumes a replacement field behind its '{': an expression, then
// perhaps a format, which may hold fields again. Where a format ends its string
// (a syntax error), the string's own loop sees the quote.
func (s *pyScanner) skipField(quote string, raw bool, nested int) {
	if nested > maxPyNesting {
		s.pos = len(s.code)
		return
	}
	for depth := 0; s.pos < len(s.code); {
		c := s.code[s.pos]
		switch {
		case c == '#':
			s.skipComment()
		case isIdent(c):
			word := s.ident()
			if s.atQuote() {
				s.skipString(word, nested+1)
			}
		case c == '"' || c == '\'':
			s.skipString("", nested+1)
		case c == '}' && depth == 0:
			s.pos++
			return
		case c == ':' && depth == 0:
			s.pos++
			s.skipFormat(quote, raw, nested)
			return
		default:
			s.pos++
			depth += bracketStep(c)
		}
	}
}

// skipFormat consumes a field's format behind its ':', its '}' included.
func (s *pyScanner) skipFormat(quote string, raw bool, nested int) {
	for s.pos < len(s.code) {
		switch c := s.code[s.pos]; {
		case c == '}':
			s.pos++
			return
		case c == '{':
			s.pos++
			s.skipField(quote, raw, nested+1)
		case c == '\\':
			s.skipFormattedEscape(raw)
		case strings.HasPrefix(s.code[s.pos:], quote) || len(quote) == 1 && isNewline(c):
			return
		default:
			s.pos++
		}
	}
}

func bracketStep(c byte) int {
	switch c {
	case '(', '[', '{':
		return 1
	case ')', ']', '}':
		return -1
	}
	return 0
}
