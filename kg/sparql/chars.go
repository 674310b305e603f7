package sparql

import "github.com/seed-ff860830/banyan/internal/rdfchars"

// The classes of names are those of the grammar's productions 164 to 167.
func isBase(r rune) bool    { return rdfchars.IsBase(r) }
func isDigit(r rune) bool   { return rdfchars.IsDigit(r) }
func isNameU(r rune) bool   { return r == '_' || rdfchars.IsBase(r) }
func isVarChar(r rune) bool { return rdfchars.IsVarChar(r) }
func isName(r rune) bool    { return rdfchars.IsName(r) }

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
