package ttl

// The character classes of the grammar (Turtle 1.1, section 6.5), one bit a
// class, for ASCII. Every class leaves out NUL, so that the byte after the end
// of the input buffer, which is always NUL, stops a scanning loop.
const (
	classIRI    = 1 << iota // may stand in an IRIREF unescaped
	classString             // may stand in any string unescaped; no quote, no line end
	className               // PN_CHARS: letters, digits, '_', '-'
	classLocal              // className and ':'
	classAlpha              // A-Z a-z
	classDigit              // 0-9
	classHex                // 0-9 A-F a-f
	classEscape             // may follow '\' in a local name (PN_LOCAL_ESC)
)

// class holds the classes of each byte; bytes from 0x80 up have none.
var class = makeClasses()

func makeClasses() (t [256]uint8) {
	for c := 1; c < 0x80; c++ {
		switch b := byte(c); {
		case b >= '0' && b <= '9':
			t[c] |= classDigit | className | classLocal | classHex
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z':
			t[c] |= classAlpha | className | classLocal
			if b|0x20 <= 'f' {
				t[c] |= classHex
			}
		}
		if c > 0x20 {
			t[c] |= classIRI
		}
		t[c] |= classString
	}
	clear := func(chars string, bits uint8) {
		for _, c := range []byte(chars) {
			t[c] &^= bits
		}
	}
	set := func(chars string, bits uint8) {
		for _, c := range []byte(chars) {
			t[c] |= bits
		}
	}
	clear("<>\"{}|^`\\", classIRI)
	clear("\"'\\\n\r", classString)
	set("_-", className|classLocal)
	set(":", classLocal)
	set("_~.-!$&'()*+,;=/?#@%", classEscape)
	return t
}

func is(c byte, bits uint8) bool { return class[c]&bits != 0 }

// runeRange is a closed range of code points.
type runeRange struct{ lo, hi rune }

// nameStart is PN_CHARS_BASE above ASCII (Turtle 1.1, production 163s).
var nameStart = []runeRange{
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

// nameMore is what PN_CHARS adds to it (production 166s).
var nameMore = []runeRange{{0xB7, 0xB7}, {0x300, 0x36F}, {0x203F, 0x2040}}

func inRanges(r rune, ranges []runeRange) bool {
	for _, x := range ranges {
		if r >= x.lo && r <= x.hi {
			return true
		}
	}
	return false
}

// isNameStart reports whether r is in PN_CHARS_BASE.
func isNameStart(r rune) bool {
	if r < 0x80 {
		return is(byte(r), classAlpha)
	}
	return inRanges(r, nameStart)
}

// isNameChar reports whether r is in PN_CHARS.
func isNameChar(r rune) bool {
	if r < 0x80 {
		return is(byte(r), className)
	}
	return inRanges(r, nameStart) || inRanges(r, nameMore)
}

// hexValue returns the value of a hexadecimal digit.
func hexValue(c byte) rune {
	switch {
	case c <= '9':
		return rune(c - '0')
	default:
		return rune(c|0x20-'a') + 10
	}
}
