package ttl

import (
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// generatedMark begins every label that a Reader makes. No document can write
// such a label, so `_:b0` or `_:genid1` in a document is never the node of a
// "[ … ]", whatever labels the document uses later on.
const generatedMark = "#"

// IsGenerated reports whether a label was made by a Reader for a blank node
// without one ("[ … ]" or a cell of a collection).
func IsGenerated(label string) bool { return strings.HasPrefix(label, generatedMark) }

// ValidBlankLabel reports whether label may stand behind "_:" in every format.
func ValidBlankLabel(label string) bool {
	for i, c := range label {
		switch {
		case c == utf8.RuneError && !strings.HasPrefix(label[i:], "\uFFFD"):
			return false
		case i == 0 && !isNameStart(c) && c != '_' && (c < '0' || c > '9'):
			return false
		case i > 0 && !isNameChar(c) && c != '.':
			return false
		}
	}
	return label != "" && label[len(label)-1] != '.'
}

// anonMark begins the labels under which others are written down.
const anonMark = "anon-"

// WritableLabel returns the label under which a blank node is written down: the
// label itself where it can be, "anon-7" for the seventh generated one,
// "anon-_" and the label for one that begins with "anon-", and "anon-x" and
// hexadecimal digits for what cannot stand in a document. Two labels never
// become the same one, and it needs no memory of those before.
func WritableLabel(label string) string {
	if ValidBlankLabel(label) {
		if strings.HasPrefix(label, anonMark) {
			return anonMark + "_" + label
		}
		return label
	}
	if n, ok := strings.CutPrefix(label, generatedMark); ok && n != "" && strings.Trim(n, "0123456789") == "" {
		return anonMark + n
	}
	return anonMark + "x" + hex.EncodeToString([]byte(label))
}
