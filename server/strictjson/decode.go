// Package strictjson decodes untrusted JSON into Go values and accepts nothing
// that it does not fully understand.
//
// It differs from encoding/json where leniency hides a caller's mistake or lets
// two readers see two different requests: member names match exactly; unknown
// and repeated members are faults; so are trailing data, invalid UTF-8, lone
// surrogates, and null inside an array or a map. Depth and number of values are
// bounded, so a small body cannot grow large in memory nor overflow the stack.
//
// Faults of content (a wrong type, an unknown member) are gathered, each with
// its JSON pointer; a fault of syntax ends the decoding at once.
package strictjson

import (
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// Limits bound a document. A zero field takes the default.
type Limits struct {
	Depth  int // nesting of arrays and objects; default 32
	Values int // values of every kind, members included; default 200,000
	Faults int // faults that are reported before the rest is only counted; default 16
}

// The defaults of Limits. A request nests four deep; a long list of files has
// some thousands of values.
const (
	defaultDepth  = 32
	defaultValues = 200_000
	defaultFaults = 16
)

// maxShown bounds how much of a caller's text an error repeats, in bytes.
const maxShown = 64

// Decode reads one JSON document into the value that into points to. Members
// that the document leaves out, and struct members that are null, keep what
// they hold. The value may be partly written when an error is returned.
//
// The error is an *errs.Error of kind Invalid whose Parts carry the place of
// every fault; its texts are made for the caller. Safe for concurrent use on
// different values.
func Decode(data []byte, into any, lim Limits) error {
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return errs.New(errs.Internal, "decode into a %T, which is no pointer", into)
	}
	d := &decoder{data: data, lim: lim.withDefaults()}
	if err := d.document(target.Elem()); err != nil {
		return err
	}
	return d.faultsError()
}

func (l Limits) withDefaults() Limits {
	if l.Depth <= 0 {
		l.Depth = defaultDepth
	}
	if l.Values <= 0 {
		l.Values = defaultValues
	}
	if l.Faults <= 0 {
		l.Faults = defaultFaults
	}
	return l
}

// decoder is the state of one Decode.
type decoder struct {
	data   []byte
	pos    int
	depth  int
	values int
	lim    Limits
	path   []string // tokens of the JSON pointer to the present value
	faults []errs.Part
	unseen int // faults beyond lim.Faults
}

// document reads the one value and makes sure that nothing follows.
func (d *decoder) document(v reflect.Value) error {
	if i := invalidUTF8(d.data); i >= 0 {
		d.pos = i
		return d.syntax("the text is not UTF-8")
	}
	d.space()
	if d.pos == len(d.data) {
		return d.syntax("there is no JSON value")
	}
	if d.data[d.pos] == 'n' {
		// A null document would leave the target as it was: accepted silence.
		if err := d.word("null"); err != nil {
			return err
		}
		d.mismatch(v, "null")
	} else if err := d.value(v); err != nil {
		return err
	}
	d.space()
	if d.pos != len(d.data) {
		return d.syntax("something follows the JSON value")
	}
	return nil
}

// invalidUTF8 returns the place of the first byte that is not UTF-8, or -1.
func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// value reads the next value into v. An invalid v means: check it and forget it.
func (d *decoder) value(v reflect.Value) error {
	if d.values++; d.values > d.lim.Values {
		return d.syntax("more than %d values", d.lim.Values)
	}
	if d.pos == len(d.data) {
		return d.syntax("the text ends where a value must stand")
	}
	if v.IsValid() && v.Kind() == reflect.Pointer && d.data[d.pos] != 'n' {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch c := d.data[d.pos]; {
	case c == '{':
		return d.object(v)
	case c == '[':
		return d.array(v)
	case c == '"':
		return d.text(v)
	case c == 't':
		return d.boolean(v, "true")
	case c == 'f':
		return d.boolean(v, "false")
	case c == 'n':
		return d.word("null")
	case c == '-' || c >= '0' && c <= '9':
		return d.number(v)
	}
	return d.syntax("a value must stand here")
}

// element reads a value for which null is no answer: one in an array or a map.
func (d *decoder) element(v reflect.Value) error {
	if d.pos < len(d.data) && d.data[d.pos] == 'n' && v.IsValid() {
		d.mismatch(v, "null")
	}
	return d.value(v)
}

// enter and leave bound the recursion of arrays and objects.
func (d *decoder) enter() error {
	if d.depth++; d.depth > d.lim.Depth {
		return d.syntax("nested deeper than %d levels", d.lim.Depth)
	}
	d.pos++
	d.space()
	return nil
}

func (d *decoder) leave() {
	d.depth--
	d.pos++
}

// space skips JSON's white space.
func (d *decoder) space() {
	for d.pos < len(d.data) {
		switch d.data[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return
		}
	}
}

// at reports whether the next byte is c.
func (d *decoder) at(c byte) bool { return d.pos < len(d.data) && d.data[d.pos] == c }

// separator reads what stands between two elements. It returns true if another
// element follows, false at the closing byte, which it leaves to the caller.
func (d *decoder) separator(closing byte) (more bool, err error) {
	d.space()
	switch {
	case d.at(closing):
		return false, nil
	case d.at(','):
		d.pos++
		d.space()
		return true, nil
	}
	return false, d.syntax("',' or '%c' must stand here", closing)
}

// word reads a literal name.
func (d *decoder) word(w string) error {
	if len(d.data)-d.pos < len(w) || string(d.data[d.pos:d.pos+len(w)]) != w {
		return d.syntax("a value must stand here")
	}
	d.pos += len(w)
	return nil
}

// push and pop keep the path of the present value.
func (d *decoder) push(token string) { d.path = append(d.path, token) }
func (d *decoder) pop()              { d.path = d.path[:len(d.path)-1] }

// pointer returns the JSON pointer (RFC 6901) of the present value.
func (d *decoder) pointer() string {
	var b strings.Builder
	for _, t := range d.path {
		b.WriteByte('/')
		b.WriteString(pointerEscape.Replace(clip(t)))
	}
	return b.String()
}

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// clip bounds a caller's text in an error.
func clip(s string) string {
	if len(s) <= maxShown {
		return s
	}
	cut := maxShown
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// fault notes a fault of content at the present value.
func (d *decoder) fault(format string, args ...any) {
	if len(d.faults) >= d.lim.Faults {
		d.unseen++
		return
	}
	d.faults = append(d.faults, errs.Part{Pointer: d.pointer(), Detail: fmt.Sprintf(format, args...)})
}

// syntax makes the error that ends the decoding, with the line and column
// (counted in bytes from 1) where it stopped.
func (d *decoder) syntax(format string, args ...any) error {
	before := string(d.data[:d.pos])
	line := 1 + strings.Count(before, "\n")
	column := d.pos - strings.LastIndex(before, "\n")
	detail := fmt.Sprintf("line %d, column %d: ", line, column) + fmt.Sprintf(format, args...)
	return errs.New(errs.Invalid, "not valid JSON: %s", detail).
		WithParts(errs.Part{Pointer: d.pointer(), Detail: detail})
}

// faultsError returns the gathered faults as one error, nil if there are none.
func (d *decoder) faultsError() error {
	total := len(d.faults) + d.unseen
	switch total {
	case 0:
		return nil
	case 1:
		f := d.faults[0]
		where := f.Pointer
		if where == "" {
			where = "the document"
		}
		return errs.New(errs.Invalid, "%s: %s", where, f.Detail).WithParts(f)
	}
	f := d.faults[0]
	return errs.New(errs.Invalid, "%d faults, the first at %s: %s", total, f.Pointer, f.Detail).WithParts(d.faults...)
}
