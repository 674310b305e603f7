// Package rdfchars holds the character classes of names that the grammars of
// Turtle, N-Triples and SPARQL share, so that a name that one of them writes is
// one that the others read.
package rdfchars

// runeRange is a closed range of code points.
type runeRange struct{ lo, hi rune }

// nameStart is PN_CHARS_BASE (Turtle 1.1, production 163s; SPARQL 1.1,
// production 164) above ASCII, whose part of it is the letters.
var nameStart = [...]runeRange{
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

// nameMore is what PN_CHARS adds to it above ASCII (Turtle 1.1, production
// 166s; SPARQL 1.1, production 167). A variable's name may go on with the same.
var nameMore = [...]runeRange{{0xB7, 0xB7}, {0x300, 0x36F}, {0x203F, 0x2040}}

// IsBase reports whether r is in PN_CHARS_BASE: a name may begin with it.
func IsBase(r rune) bool {
	if r < 0x80 {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	return within(r, nameStart[:])
}

// IsVarChar reports whether r may follow in a variable's name (SPARQL 1.1,
// production 166): PN_CHARS without the hyphen.
func IsVarChar(r rune) bool {
	return IsBase(r) || r == '_' || IsDigit(r) || within(r, nameMore[:])
}

// IsName reports whether r is in PN_CHARS: a name may go on with it.
func IsName(r rune) bool { return r == '-' || IsVarChar(r) }

// IsDigit reports whether r is one of the digits 0 to 9.
func IsDigit(r rune) bool { return '0' <= r && r <= '9' }

func within(r rune, ranges []runeRange) bool {
	for _, x := range ranges {
		if r >= x.lo && r <= x.hi {
			return true
		}
	}
	return false
}
