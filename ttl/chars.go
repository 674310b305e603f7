package ttl

import "github.com/seed-ff860830/banyan/internal/rdfchars"

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

// isNameStart reports whether r is in PN_CHARS_BASE.
func isNameStart(r rune) bool {
	if r < 0x80 {
		return is(byte(r), classAlpha)
	}
	return rdfchars.IsBase(r)
}

// isNameChar reports whether r is in PN_CHARS.
func isNameChar(r rune) bool {
	if r < 0x80 {
		return is(byte(r), className)
	}
	return rdfchars.IsName(r)
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
