package sparql

// runeRange is a closed range of code points.
type runeRange struct{ lo, hi rune }

// nameStart is PN_CHARS_BASE (SPARQL 1.1, production 164).
var nameStart = [...]runeRange{
	{'A', 'Z'},
	{'a', 'z'},
	{0xC0, 0xD6},
	{0xD8, 0xF6},
	{0xF8, 0x2FF},
	{0x370, 0x37D},
	{0x37F, 0x1FFF},
	{0x200C, 0x200D},
	{0x2070, 0x218F},
	{0x2C00, 0x2FEF},
	{0x3001, 0xD7FF},
	{0xF900, 0xFDCF},
	{0xFDF0, 0xFFFD},
	{0x10000, 0xEFFFF},
}

func isBase(r rune) bool {
	for _, x := range nameStart {
		if r >= x.lo && r <= x.hi {
			return true
		}
	}
	return false
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// isNameU reports PN_CHARS_U.
func isNameU(r rune) bool { return r == '_' || isBase(r) }

// isVarChar reports what may follow in a variable's name (production 166).
func isVarChar(r rune) bool {
	return isNameU(r) || isDigit(r) || r == 0xB7 || r >= 0x300 && r <= 0x36F || r >= 0x203F && r <= 0x2040
}

// isName reports PN_CHARS.
func isName(r rune) bool { return r == '-' || isVarChar(r) }

// isIRIChar reports what may stand in an IRIREF.
func isIRIChar(r rune) bool {
	if r <= 0x20 {
		return false
	}
	switch r {
	case '<', '>', '"', '{', '}', '|', '^', '`', '\\':
		return false
	}
	return true
}

func hexDigit(c byte) (rune, bool) {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0'), true
	case c >= 'a' && c <= 'f':
		return rune(c-'a') + 10, true
	case c >= 'A' && c <= 'F':
		return rune(c-'A') + 10, true
	}
	return 0, false
}

// isLocalEscape reports PN_LOCAL_ESC's second character.
func isLocalEscape(c byte) bool {
	switch c {
	case '_', '~', '.', '-', '!', '$', '&', '\'', '(', ')', '*', '+', ',', ';', '=', '/', '?', '#', '@', '%':
		return true
	}
	return false
}
