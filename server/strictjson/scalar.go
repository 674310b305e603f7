package strictjson

import (
	"encoding"
	"errors"
	"reflect"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// text reads a string into a string, into a type that reads itself from text,
// or nowhere.
func (d *decoder) text(v reflect.Value) error {
	s, err := d.string()
	if err != nil || !v.IsValid() {
		return err
	}
	switch {
	case isText(v):
		u := v.Addr().Interface().(encoding.TextUnmarshaler)
		if err := u.UnmarshalText([]byte(s)); err != nil {
			// These types are the project's own vocabulary: what they say of a
			// bad name is a sentence for its author.
			d.fault("%s", clipText(err.Error()))
		}
	case v.Kind() == reflect.String:
		v.SetString(s)
	default:
		d.mismatch(v, "a string")
	}
	return nil
}

// clipText bounds a vocabulary type's sentence, which repeats the caller's text.
func clipText(s string) string {
	const most = 4 * maxShown
	if len(s) <= most {
		return s
	}
	return "not a known value: " + clip(s)
}

// string reads a JSON string.
func (d *decoder) string() (string, error) {
	d.pos++
	start := d.pos
	for ; d.pos < len(d.data); d.pos++ {
		switch c := d.data[d.pos]; {
		case c == '"':
			s := string(d.data[start:d.pos])
			d.pos++
			return s, nil
		case c == '\\':
			return d.escaped(append([]byte(nil), d.data[start:d.pos]...))
		case c < ' ':
			return "", d.syntax("a control character in a string; it must be escaped")
		}
	}
	return "", d.syntax("the text ends inside a string")
}

// escaped reads the rest of a string from its first escape on.
func (d *decoder) escaped(out []byte) (string, error) {
	for d.pos < len(d.data) {
		switch c := d.data[d.pos]; {
		case c == '"':
			d.pos++
			return string(out), nil
		case c < ' ':
			return "", d.syntax("a control character in a string; it must be escaped")
		case c != '\\':
			out = append(out, c)
			d.pos++
		default:
			var err error
			if out, err = d.escape(out); err != nil {
				return "", err
			}
		}
	}
	return "", d.syntax("the text ends inside a string")
}

// escape reads one escape and appends what it stands for.
func (d *decoder) escape(out []byte) ([]byte, error) {
	if d.pos+1 >= len(d.data) {
		return nil, d.syntax("the text ends inside a string")
	}
	c := d.data[d.pos+1]
	if c == 'u' {
		return d.unicode(out)
	}
	const plain, meant = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	for i := range len(plain) {
		if plain[i] == c {
			d.pos += 2
			return append(out, meant[i]), nil
		}
	}
	return nil, d.syntax("an escape that JSON does not have")
}

// unicode reads \uXXXX, and the second half where the first is a surrogate. A
// lone surrogate is no character: to replace it would change what was sent.
func (d *decoder) unicode(out []byte) ([]byte, error) {
	r, ok := d.hex4(d.pos)
	if !ok {
		return nil, d.syntax("\\u needs four hexadecimal digits")
	}
	n := 6
	if utf16.IsSurrogate(r) {
		low, ok := d.hex4(d.pos + 6)
		r = utf16.DecodeRune(r, low)
		if !ok || r == utf8.RuneError {
			return nil, d.syntax("half of a surrogate pair")
		}
		n = 12
	}
	d.pos += n
	return utf8.AppendRune(out, r), nil
}

// hex4 reads \uXXXX at i.
func (d *decoder) hex4(i int) (rune, bool) {
	if i+6 > len(d.data) || d.data[i] != '\\' || d.data[i+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range d.data[i+2 : i+6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// boolean reads true or false.
func (d *decoder) boolean(v reflect.Value, w string) error {
	if err := d.word(w); err != nil || !v.IsValid() {
		return err
	}
	if v.Kind() != reflect.Bool || isText(v) {
		d.mismatch(v, w)
		return nil
	}
	v.SetBool(w == "true")
	return nil
}

// number reads a number into an integer or a float, or nowhere.
func (d *decoder) number(v reflect.Value) error {
	lit, whole, err := d.numberLiteral()
	if err != nil || !v.IsValid() {
		return err
	}
	if isText(v) || !v.CanInt() && !v.CanUint() && !v.CanFloat() {
		d.mismatch(v, "a number")
		return nil
	}
	if !whole && !v.CanFloat() {
		d.fault("%s must be a whole number", clip(lit))
		return nil
	}
	bits := v.Type().Bits()
	switch {
	case v.CanInt():
		var n int64
		n, err = strconv.ParseInt(lit, 10, bits)
		v.SetInt(n)
	case v.CanUint():
		var n uint64
		n, err = strconv.ParseUint(lit, 10, bits)
		v.SetUint(n)
	default:
		var f float64
		if f, err = strconv.ParseFloat(lit, bits); err == nil {
			v.SetFloat(f)
		}
	}
	if err != nil {
		d.numberFault(lit, err)
	}
	return nil
}

// numberFault says why a number does not fit.
func (d *decoder) numberFault(lit string, err error) {
	if lit[0] == '-' && !errors.Is(err, strconv.ErrRange) {
		d.fault("%s must not be negative", clip(lit))
		return
	}
	d.fault("%s is out of range", clip(lit))
}

// numberLiteral reads a number by JSON's grammar; whole says that it has
// neither fraction nor exponent.
func (d *decoder) numberLiteral() (lit string, whole bool, err error) {
	start := d.pos
	if d.at('-') {
		d.pos++
	}
	switch {
	case d.at('0'):
		d.pos++
	case d.digits() == 0:
		return "", false, d.syntax("a digit must stand here")
	}
	whole = true
	if d.at('.') {
		whole = false
		d.pos++
		if d.digits() == 0 {
			return "", false, d.syntax("a digit must stand here")
		}
	}
	if d.at('e') || d.at('E') {
		whole = false
		d.pos++
		if d.at('+') || d.at('-') {
			d.pos++
		}
		if d.digits() == 0 {
			return "", false, d.syntax("a digit must stand here")
		}
	}
	return string(d.data[start:d.pos]), whole, nil
}

// digits skips decimal digits and returns how many there were.
func (d *decoder) digits() int {
	start := d.pos
	for d.pos < len(d.data) && d.data[d.pos] >= '0' && d.data[d.pos] <= '9' {
		d.pos++
	}
	return d.pos - start
}
