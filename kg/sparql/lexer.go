package sparql

import (
	"strings"
	"unicode/utf8"
)

// tokenKind tells tokens apart.
type tokenKind uint8

const (
	tokEOF     tokenKind = iota
	tokPunct             // text is the operator or bracket
	tokWord              // a keyword or a function's name, as written
	tokIRI               // text is the reference between the angle brackets
	tokName              // a prefixed name: text is the prefix, local the rest
	tokBlank             // text is the label
	tokVar               // text is the name
	tokLang              // text is the tag
	tokString            // text is the value
	tokInteger           // text is the lexical form
	tokDecimal
	tokDouble
)

// token is one token of a text.
type token struct {
	kind  tokenKind
	at    int // byte offset of its first character
	end   int // byte offset behind its last
	text  string
	local string
}

// lexer cuts a text into tokens. Codepoint escapes are taken where the grammar
// lets the character stand, inside IRIs, strings and names, so that an escape
// never ends the token that it stands in.
type lexer struct {
	text string
	pos  int
}

func (l *lexer) fail(at int, msg string) error { return syntaxAt(l.text, at, msg) }

// space passes over white space and comments.
func (l *lexer) space() {
	for l.pos < len(l.text) {
		switch l.text[l.pos] {
		case ' ', '\t', '\n', '\r':
			l.pos++
		case '#':
			n := strings.IndexAny(l.text[l.pos:], "\n\r")
			if n < 0 {
				l.pos = len(l.text)
				return
			}
			l.pos += n
		default:
			return
		}
	}
}

// next returns the next token.
func (l *lexer) next() (token, error) {
	l.space()
	t := token{at: l.pos}
	if l.pos >= len(l.text) {
		t.end = l.pos
		return t, nil
	}
	err := l.token(&t)
	t.end = l.pos
	return t, err
}

func (l *lexer) token(t *token) error {
	c := l.text[l.pos]
	switch {
	case c == '<':
		if l.iri(t) {
			return nil
		}
		return l.punct(t)
	case c == '?' || c == '$':
		return l.variable(t)
	case c == '@':
		return l.lang(t)
	case c == '"' || c == '\'':
		return l.str(t, c)
	case isDigit(rune(c)) || c == '.' && l.pos+1 < len(l.text) && isDigit(rune(l.text[l.pos+1])):
		l.number(t)
		return nil
	case c == '_' && strings.HasPrefix(l.text[l.pos:], "_:"):
		return l.blank(t)
	}
	if r, n := l.nameRune(l.pos); c == ':' || n > 0 && isBase(r) {
		return l.name(t)
	}
	return l.punct(t)
}

// punctuation lists the operators, the longer before their beginnings.
var punctuation = [...]string{
	"^^", "&&", "||", "!=", "<=", ">=",
	"{", "}", "(", ")", "[", "]", ".", ",", ";", "=", "<", ">", "!", "+", "-", "*", "/", "^", "|", "?",
}

func (l *lexer) punct(t *token) error {
	for _, p := range punctuation {
		if strings.HasPrefix(l.text[l.pos:], p) {
			t.kind, t.text = tokPunct, p
			l.pos += len(p)
			return nil
		}
	}
	r, _ := utf8.DecodeRuneInString(l.text[l.pos:])
	return l.fail(l.pos, "the character "+quote(string(r))+" cannot stand here")
}

// iri reads an IRIREF; false if the '<' does not begin one, so that it is the
// operator.
func (l *lexer) iri(t *token) bool {
	var b strings.Builder
	i := l.pos + 1
	for i < len(l.text) {
		if l.text[i] == '>' {
			t.kind, t.text = tokIRI, b.String()
			l.pos = i + 1
			return true
		}
		r, n := l.nameRune(i)
		if n == 0 || !isIRIChar(r) {
			return false
		}
		b.WriteRune(r)
		i += n
	}
	return false
}

// nameRune decodes the character at an offset, a codepoint escape as the
// character that it stands for; n is 0 if there is none.
func (l *lexer) nameRune(i int) (r rune, n int) {
	if i >= len(l.text) {
		return 0, 0
	}
	if l.text[i] == '\\' {
		return codepoint(l.text[i:])
	}
	r, n = utf8.DecodeRuneInString(l.text[i:])
	if r == utf8.RuneError && n <= 1 {
		return 0, 0
	}
	return r, n
}

// codepoint reads \uXXXX or \UXXXXXXXX; n is 0 if it is neither, or no
// character.
func codepoint(s string) (r rune, n int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch s[1] {
	case 'u':
		n = 6
	case 'U':
		n = 10
	}
	if n == 0 || len(s) < n {
		return 0, 0
	}
	for _, c := range []byte(s[2:n]) {
		d, ok := hexDigit(c)
		if !ok || r > utf8.MaxRune {
			return 0, 0
		}
		r = r<<4 | d
	}
	if !utf8.ValidRune(r) {
		return 0, 0
	}
	return r, n
}

// variable reads ?name or $name; a '?' without a name is the path's operator.
func (l *lexer) variable(t *token) error {
	r, n := l.nameRune(l.pos + 1)
	if n == 0 || !isNameU(r) && !isDigit(r) {
		return l.punct(t)
	}
	t.kind = tokVar
	l.pos++
	t.text = l.run(isVarChar)
	return nil
}

// run reads characters of a class.
func (l *lexer) run(class func(rune) bool) string {
	start, plain := l.pos, true
	var b strings.Builder
	for {
		r, n := l.nameRune(l.pos)
		if n == 0 || !class(r) {
			break
		}
		plain = plain && l.text[l.pos] != '\\'
		b.WriteRune(r)
		l.pos += n
	}
	if plain {
		return l.text[start:l.pos]
	}
	return b.String()
}

func (l *lexer) lang(t *token) error {
	i := l.pos + 1
	part, first := 0, true
	for ; i < len(l.text); i++ {
		c := rune(l.text[i])
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if c == '-' && part > 0 {
			part, first = 0, false
		} else if letter || isDigit(c) && !first {
			part++
		} else {
			break
		}
	}
	if part == 0 {
		return l.fail(l.pos, "a language tag is expected behind '@'")
	}
	t.kind, t.text = tokLang, l.text[l.pos+1:i]
	l.pos = i
	return nil
}

// number reads INTEGER, DECIMAL or DOUBLE, without a sign.
func (l *lexer) number(t *token) {
	i := l.digits(l.pos)
	t.kind = tokInteger
	if i < len(l.text) && l.text[i] == '.' {
		if j := l.digits(i + 1); j > i+1 {
			t.kind, i = tokDecimal, j
		} else if l.exponent(i+1) > i+1 {
			i++
		}
	}
	if j := l.exponent(i); j > i {
		t.kind, i = tokDouble, j
	}
	t.text = l.text[l.pos:i]
	l.pos = i
}

func (l *lexer) digits(i int) int {
	for i < len(l.text) && isDigit(rune(l.text[i])) {
		i++
	}
	return i
}

// exponent returns the offset behind an exponent at i, or i.
func (l *lexer) exponent(i int) int {
	if i >= len(l.text) || l.text[i]|0x20 != 'e' {
		return i
	}
	j := i + 1
	if j < len(l.text) && (l.text[j] == '+' || l.text[j] == '-') {
		j++
	}
	if k := l.digits(j); k > j {
		return k
	}
	return i
}
