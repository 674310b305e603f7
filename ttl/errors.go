package ttl

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// Position is a place in a document. Line and Column count from 1; a column
// is a character (a code point), not a byte. A line ends at LF, CR LF or CR.
type Position struct{ Line, Column int }

// String returns "line 3, column 14".
func (p Position) String() string {
	return "line " + strconv.Itoa(p.Line) + ", column " + strconv.Itoa(p.Column)
}

// SyntaxError says where and why a document is not in its format. It unwraps
// to an *errs.Error of Kind Invalid.
type SyntaxError struct {
	Position
	Msg     string // one sentence without the place
	Excerpt string // part of the line and, below it, a caret; "" if there is none
}

// Error returns the place and the sentence on one line. It quotes the
// document, but with everything unprintable escaped.
func (e *SyntaxError) Error() string { return e.Position.String() + ": " + e.Msg }

// Unwrap returns the error in its classified form.
func (e *SyntaxError) Unwrap() error { return classify(errs.Invalid, e.Position, e.Msg) }

// LimitError says that a document is larger than one of the Limits allows. It
// unwraps to an *errs.Error of Kind TooLarge, but of Kind Invalid for Depth,
// where the document's form is at fault and not its size.
type LimitError struct {
	Position
	Limit string // the name of the field of Limits
	Max   int64  // its value
}

// limitTexts are the sentences of LimitError, by the field's name.
var limitTexts = map[string]string{
	"Bytes":        "the document is larger than the limit of %d bytes",
	"Triples":      "the document has more than the limit of %d statements",
	"Depth":        "brackets nest deeper than the limit of %d",
	"LiteralBytes": "a literal is longer than the limit of %d bytes",
	"IRIBytes":     "an IRI or a name is longer than the limit of %d bytes",
	"Prefixes":     "the document declares more than the limit of %d prefixes",
	"TermBytes":    "the document's terms, written out, are more than the limit of %d bytes",
}

// Error returns the place and the limit that was passed.
func (e *LimitError) Error() string { return e.Position.String() + ": " + e.sentence() }

func (e *LimitError) sentence() string { return fmt.Sprintf(limitTexts[e.Limit], e.Max) }

// Unwrap returns the error in its classified form.
func (e *LimitError) Unwrap() error {
	kind := errs.TooLarge
	if e.Limit == "Depth" {
		kind = errs.Invalid
	}
	return classify(kind, e.Position, e.sentence())
}

func classify(kind errs.Kind, at Position, msg string) error {
	return errs.New(kind, "%s: %s", at, msg).WithParts(errs.Part{
		Pointer: strconv.Itoa(at.Line) + ":" + strconv.Itoa(at.Column),
		Detail:  msg,
	})
}

// excerptRunes is how much of a line an excerpt shows before and behind the
// fault.
const excerptRunes = 40

// makeExcerpt returns the text around a fault and a caret under it. The text
// may come from a stranger and go to a terminal, so only what is printable
// stays as it is.
func makeExcerpt(before, after []byte) string {
	b := []rune(printable(before))
	if len(b) > excerptRunes {
		b = append([]rune("…"), b[len(b)-excerptRunes:]...)
	}
	a := []rune(printable(after))
	if len(a) > excerptRunes {
		a = append(a[:excerptRunes:excerptRunes], '…')
	}
	return string(b) + string(a) + "\n" + strings.Repeat(" ", len(b)) + "^"
}

// printable returns s with one rune for each character or broken byte of it.
func printable(s []byte) string {
	var out strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		switch {
		case r == '\t':
			r = ' '
		case r == utf8.RuneError || !unicode.IsPrint(r):
			r = '\uFFFD'
		}
		out.WriteRune(r)
		s = s[n:]
	}
	return out.String()
}
