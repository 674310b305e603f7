package planner

import (
	"strings"

	"github.com/seed-ff860830/banyan/ontology"
)

// maxPyNesting bounds f-strings within f-strings, each a call deep. CPython
// itself allows 150 levels.
const maxPyNesting = 64

// pyScanner walks a Python program's tokens far enough to see where statements
// begin (Python reference, chapter 2, "Lexical analysis", and 7.11, "The import
// statement"). It reads each byte a bounded number of times and builds no tree.
//
// "import" is a keyword that occurs in import statements only, and "from" opens
// a statement only in them; so it is enough to know strings, comments, brackets
// and joined lines well, and to look at the first word of each statement.
type pyScanner struct {
	code  string
	pos   int
	depth int  // open brackets
	start bool // the next token opens a statement, if no bracket is open
	names []string
	seen  map[string]bool
}

// pythonImports returns the modules that a Python program imports.
func pythonImports(code string) []string {
	s := &pyScanner{code: strings.TrimPrefix(code, "\uFEFF"), start: true, seen: map[string]bool{}}
	for s.pos < len(s.code) && len(s.names) < MaxImportNames {
		s.token()
	}
	return s.names
}

// token consumes one token, or one import statement.
func (s *pyScanner) token() {
	switch c := s.code[s.pos]; {
	case c == 0:
		s.pos = len(s.code) // Python refuses a program with a NUL
	case s.skipBlank():
	case c == '#':
		s.skipComment()
	case isNewline(c):
		s.pos++
		s.start = true
	case c == ';' || c == ':':
		s.pos++
		s.start = true // ':' also opens the body of "try: import x"
	case isIdent(c):
		s.name()
	case c == '"' || c == '\'':
		s.start = false
		s.skipString("", 0)
	default:
		s.pos++
		s.start = false
		s.bracket(c)
	}
}

// bracket keeps count of what is open. A closing bracket too many is a syntax
// error; staying at zero keeps the rest readable.
func (s *pyScanner) bracket(c byte) {
	switch c {
	case '(', '[', '{':
		s.depth++
	case ')', ']', '}':
		s.depth = max(s.depth-1, 0)
	}
}

// name consumes a word: a string's prefix, the head of an import, or neither.
func (s *pyScanner) name() {
	atStart := s.start && s.depth == 0
	s.start = false
	word := s.ident()
	if s.atQuote() {
		s.skipString(word, 0)
		return
	}
	switch {
	case atStart && word == "import":
		s.importStatement()
	case atStart && word == "from":
		s.fromStatement()
	}
}

// importStatement reads "a.b as c, d" behind "import".
func (s *pyScanner) importStatement() {
	for {
		name, ok := s.dotted()
		if !ok {
			return
		}
		next := s.ahead(s.ident)
		if next == "as" {
			if s.ahead(s.ident) == "" {
				return
			}
			next = ""
		}
		if next != "" {
			return // two words in a row: no import statement
		}
		s.add(name)
		if !s.accept(',') {
			return
		}
	}
}

// fromStatement reads "a.b import" behind "from"; what follows is walked over
// like any other tokens. A name that begins with a dot is relative.
func (s *pyScanner) fromStatement() {
	relative := false
	for s.accept('.') {
		relative = true
	}
	if relative {
		return
	}
	if name, ok := s.dotted(); ok && s.ahead(s.ident) == "import" {
		s.add(name)
	}
}

// dotted reads "a . b", blanks and joined lines between allowed.
func (s *pyScanner) dotted() (string, bool) {
	var parts []string
	size := 0
	for {
		part := s.ahead(s.ident)
		if part == "" || part[0] >= '0' && part[0] <= '9' {
			return "", false
		}
		if size += len(part) + 1; size <= ontology.MaxNameLen+1 {
			parts = append(parts, part)
		}
		if !s.accept('.') {
			break
		}
	}
	if size > ontology.MaxNameLen+1 {
		return "", true // too long to be a capability; the statement goes on
	}
	return strings.Join(parts, "."), true
}

// add keeps a name, once. Python folds names beyond ASCII (NFKC), so that the
// text is not the module's name: those are left out.
func (s *pyScanner) add(name string) {
	if name == "" || s.seen[name] || len(s.names) >= MaxImportNames {
		return
	}
	for i := range len(name) {
		if name[i] >= 0x80 {
			return
		}
	}
	s.seen[name] = true
	s.names = append(s.names, name)
}

// ahead skips blanks and then reads.
func (s *pyScanner) ahead(read func() string) string {
	for s.skipBlank() {
	}
	return read()
}

// accept consumes c if it comes next, behind blanks.
func (s *pyScanner) accept(c byte) bool {
	for s.skipBlank() {
	}
	if s.pos < len(s.code) && s.code[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

// ident consumes the letters, digits and bytes beyond ASCII that come next.
func (s *pyScanner) ident() string {
	from := s.pos
	for s.pos < len(s.code) && isIdent(s.code[s.pos]) {
		s.pos++
	}
	return s.code[from:s.pos]
}

// skipBlank consumes one blank or one joined line; false if there is none.
func (s *pyScanner) skipBlank() bool {
	if s.pos >= len(s.code) {
		return false
	}
	switch s.code[s.pos] {
	case ' ', '\t', '\f':
		s.pos++
		return true
	case '\\':
		if n := newlineLen(s.code[s.pos+1:]); n > 0 {
			s.pos += 1 + n
			return true
		}
	}
	return false
}

func (s *pyScanner) skipComment() {
	for s.pos < len(s.code) && !isNewline(s.code[s.pos]) {
		s.pos++
	}
}

func (s *pyScanner) atQuote() bool {
	return s.pos < len(s.code) && (s.code[s.pos] == '"' || s.code[s.pos] == '\'')
}

// isNewline accepts a lone CR too, as Python does.
func isNewline(c byte) bool { return c == '\n' || c == '\r' }

// newlineLen returns the length of the line end that s begins with, 0 if none.
func newlineLen(s string) int {
	switch {
	case strings.HasPrefix(s, "\r\n"):
		return 2
	case s != "" && isNewline(s[0]):
		return 1
	}
	return 0
}

func isIdent(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}
