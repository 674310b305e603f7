package sparql

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// SyntaxError says where and why a text is not SPARQL. It unwraps to an
// *errs.Error of Kind Invalid. Line and Column count from 1; a column is a
// code point.
type SyntaxError struct {
	Line, Column int
	Msg          string // one sentence without the place
}

// Error returns the place and the sentence on one line.
func (e *SyntaxError) Error() string {
	return "line " + strconv.Itoa(e.Line) + ", column " + strconv.Itoa(e.Column) + ": " + e.Msg
}

// Unwrap returns the error in its classified form.
func (e *SyntaxError) Unwrap() error {
	return errs.New(errs.Invalid, "%s", e.Error()).WithParts(errs.Part{
		Pointer: strconv.Itoa(e.Line) + ":" + strconv.Itoa(e.Column),
		Detail:  e.Msg,
	})
}

// syntaxAt makes a SyntaxError for a byte offset of a text.
func syntaxAt(text string, at int, msg string) *SyntaxError {
	at = min(at, len(text))
	before := text[:at]
	line := 1 + strings.Count(before, "\n")
	start := strings.LastIndexByte(before, '\n') + 1
	return &SyntaxError{Line: line, Column: 1 + utf8.RuneCountInString(before[start:]), Msg: msg}
}

// quote shows foreign text in a message: quoted, escaped and cut.
func quote(s string) string {
	const most = 60
	if len(s) > most {
		return strconv.Quote(s[:most]) + "…"
	}
	return strconv.Quote(s)
}
