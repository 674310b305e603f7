package sparql

import "strings"

// name reads a prefixed name, or a word that no colon follows.
func (l *lexer) name(t *token) error {
	prefix := l.dotted(isName)
	if l.pos < len(l.text) && l.text[l.pos] == ':' {
		l.pos++
		t.kind, t.text = tokName, prefix
		local, err := l.localName()
		t.local = local
		return err
	}
	// A word holds neither dots nor hyphens; what follows is another token.
	l.pos = t.at
	t.kind, t.text = tokWord, l.run(func(r rune) bool { return r < 0x80 && isVarChar(r) })
	if t.text == "" {
		return l.fail(t.at, "a prefixed name needs a colon")
	}
	return nil
}

// dotted reads characters of a class with dots between them, not behind them.
func (l *lexer) dotted(class func(rune) bool) string {
	start := l.pos
	text := l.run(func(r rune) bool { return class(r) || r == '.' })
	good := strings.TrimRight(text, ".")
	if n := len(text) - len(good); n > 0 {
		l.pos = max(start, l.pos-n)
	}
	return good
}

// localName reads PN_LOCAL, which may be empty.
func (l *lexer) localName() (string, error) {
	var b strings.Builder
	good, goodPos := 0, l.pos
	for first := true; l.pos < len(l.text); first = false {
		c := l.text[l.pos]
		switch {
		case c == '%':
			if !l.percent() {
				return "", l.fail(l.pos, "'%' in a name is followed by two hexadecimal digits")
			}
			b.WriteString(l.text[l.pos : l.pos+3])
			l.pos += 3
		case c == '\\' && l.pos+1 < len(l.text) && isLocalEscape(l.text[l.pos+1]):
			b.WriteByte(l.text[l.pos+1])
			l.pos += 2
		case c == '.' && !first:
			b.WriteByte(c)
			l.pos++
			continue
		default:
			r, n := l.nameRune(l.pos)
			if n == 0 && c == '\\' {
				return "", l.fail(l.pos, "this escape cannot stand in a name")
			}
			if n == 0 || first && !isNameU(r) && !isDigit(r) && r != ':' || !first && !isName(r) && r != ':' {
				l.pos = goodPos
				return b.String()[:good], nil
			}
			b.WriteRune(r)
			l.pos += n
		}
		good, goodPos = b.Len(), l.pos
	}
	l.pos = goodPos
	return b.String()[:good], nil
}

func (l *lexer) percent() bool {
	if l.pos+2 >= len(l.text) {
		return false
	}
	_, a := hexDigit(l.text[l.pos+1])
	_, b := hexDigit(l.text[l.pos+2])
	return a && b
}

// blank reads a blank node's label.
func (l *lexer) blank(t *token) error {
	l.pos += 2
	r, n := l.nameRune(l.pos)
	if n == 0 || !isNameU(r) && !isDigit(r) {
		return l.fail(t.at, "a label is expected behind '_:'")
	}
	t.kind, t.text = tokBlank, l.dotted(isName)
	return nil
}

// str reads a string in one or three quotes.
func (l *lexer) str(t *token, q byte) error {
	t.kind = tokString
	long := strings.Repeat(string(q), 3)
	triple := strings.HasPrefix(l.text[l.pos:], long)
	if triple {
		l.pos += 3
	} else {
		l.pos++
	}
	var b strings.Builder
	for l.pos < len(l.text) {
		rest := l.text[l.pos:]
		switch c := rest[0]; {
		case triple && strings.HasPrefix(rest, long):
			l.pos += 3
			t.text = b.String()
			return nil
		case !triple && c == q:
			l.pos++
			t.text = b.String()
			return nil
		case c == '\\':
			if err := l.escape(&b); err != nil {
				return err
			}
		case !triple && (c == '\n' || c == '\r'):
			return l.fail(t.at, "this string is not closed on its line")
		default:
			n := strings.IndexAny(rest[1:], "\\\n\r\"'") + 1
			if n == 0 {
				n = len(rest)
			}
			b.WriteString(rest[:n])
			l.pos += n
		}
	}
	return l.fail(t.at, "this string is not closed")
}

// escapes are the one-letter escapes of ECHAR.
var escapes = map[byte]byte{'t': '\t', 'b': '\b', 'n': '\n', 'r': '\r', 'f': '\f', '\\': '\\', '"': '"', '\'': '\''}

func (l *lexer) escape(b *strings.Builder) error {
	rest := l.text[l.pos:]
	if len(rest) > 1 {
		if c, ok := escapes[rest[1]]; ok {
			b.WriteByte(c)
			l.pos += 2
			return nil
		}
	}
	r, n := codepoint(rest)
	if n == 0 {
		return l.fail(l.pos, "there is no such escape in a string")
	}
	b.WriteRune(r)
	l.pos += n
	return nil
}
