package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// readJSON reads SPARQL 1.1 Query Results JSON. Members of an object may come
// in any order, so rows before the head wait for a second reading.
func readJSON(data []byte, t *table) error {
	if err := checkSurrogates(data); err != nil {
		return err
	}
	r := newJSONReader(data, t)
	var head, results, boolean bool
	late := int64(-1)
	err := r.object(func(key string) error {
		switch key {
		case "head":
			head = true
			return r.head()
		case "results":
			results = true
			if head {
				return r.results()
			}
			late = r.dec.InputOffset()
			return r.skip()
		case "boolean":
			boolean = true
			return r.boolean()
		}
		return r.skip()
	})
	if err != nil {
		return err
	}
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return r.fail("there is something behind the end")
	}
	if !head || results == boolean {
		return r.fail(`the result needs "head", and one of "results" and "boolean"`)
	}
	if late >= 0 {
		return newJSONReader(afterColon(data[late:]), t).results()
	}
	return nil
}

// afterColon drops the colon between a key and its value.
func afterColon(data []byte) []byte {
	return bytes.TrimLeft(bytes.TrimLeft(data, " \t\r\n"), ":")
}

// jsonReader reads a document token by token: no value is held but a string,
// and nothing recurses by input depth.
type jsonReader struct {
	dec   *json.Decoder
	table *table
	index map[string]int
}

func newJSONReader(data []byte, t *table) *jsonReader {
	return &jsonReader{dec: json.NewDecoder(bytes.NewReader(data)), table: t}
}

func (r *jsonReader) fail(format string, args ...any) error {
	e := errs.New(errs.Invalid, format, args...)
	e.Msg = "byte " + strconv.FormatInt(r.dec.InputOffset(), 10) + ": " + e.Msg
	return e
}

// token returns the next token. The decoder's own error is not shown: it has
// nothing to say but that this is no JSON.
func (r *jsonReader) token() (json.Token, error) {
	tok, err := r.dec.Token()
	if err != nil {
		return nil, r.fail("this is not JSON")
	}
	return tok, nil
}

// open takes the start of an object or an array.
func (r *jsonReader) open(want json.Delim) error {
	tok, err := r.token()
	if err == nil && tok != want {
		err = r.fail("want %q here", want.String())
	}
	return err
}

// object reads an object; each key's value is read by member. A key that is
// there twice is an error, for nothing says which one counts.
func (r *jsonReader) object(member func(key string) error) error {
	if err := r.open('{'); err != nil {
		return err
	}
	seen := map[string]bool{}
	for r.dec.More() {
		key, err := r.str()
		if err != nil {
			return err
		}
		if seen[key] {
			return r.fail("%.100q is there twice", key)
		}
		seen[key] = true
		if err := member(key); err != nil {
			return err
		}
	}
	_, err := r.token()
	return err
}

// array reads an array; each item is read by item.
func (r *jsonReader) array(item func() error) error {
	if err := r.open('['); err != nil {
		return err
	}
	for r.dec.More() {
		if err := item(); err != nil {
			return err
		}
	}
	_, err := r.token()
	return err
}

func (r *jsonReader) str() (string, error) {
	tok, err := r.token()
	if err != nil {
		return "", err
	}
	s, ok := tok.(string)
	if !ok {
		return "", r.fail("want a string here")
	}
	return s, nil
}

// skip passes over one value of a kind that the reader has no use for.
func (r *jsonReader) skip() error {
	for depth := 0; ; {
		tok, err := r.token()
		if err != nil {
			return err
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth > r.table.limits.Depth {
			return r.fail("this nests deeper than %d levels", r.table.limits.Depth)
		}
		if depth == 0 {
			return nil
		}
	}
}

func (r *jsonReader) boolean() error {
	tok, err := r.token()
	if err != nil {
		return err
	}
	b, ok := tok.(bool)
	if !ok {
		return r.fail("want true or false here")
	}
	r.table.set.Boolean = &b
	return nil
}

func (r *jsonReader) head() error {
	return r.object(func(key string) error {
		if key != "vars" {
			return r.skip()
		}
		var vars []string
		err := r.array(func() error {
			v, err := r.str()
			vars = append(vars, v)
			return err
		})
		if err != nil {
			return err
		}
		return r.table.head(vars)
	})
}

func (r *jsonReader) results() error {
	r.index = r.table.columns()
	bindings := false
	err := r.object(func(key string) error {
		if key != "bindings" {
			return r.skip()
		}
		bindings = true
		return r.array(r.row)
	})
	if err == nil && !bindings {
		err = r.fail(`"results" has no "bindings"`)
	}
	return err
}

func (r *jsonReader) row() error {
	row, err := r.table.row()
	if err != nil {
		return err
	}
	return r.object(func(key string) error {
		i, ok := r.index[key]
		if !ok {
			return r.fail("%.100q is not among the variables of the head", key)
		}
		row[i], err = r.term()
		return err
	})
}

// term reads a binding. "typed-literal" is what services wrote before the
// recommendation, and some still do.
func (r *jsonReader) term() (t ttl.Term, err error) {
	part := map[string]string{}
	err = r.object(func(key string) (err error) {
		switch key {
		case "type", "value", "xml:lang", "datatype":
			part[key], err = r.str()
			return err
		}
		return r.skip()
	})
	if err != nil {
		return t, err
	}
	value, ok := part["value"]
	if !ok {
		return t, r.fail("a binding has no value")
	}
	switch part["type"] {
	case "uri":
		t, err = iri(value)
	case "bnode":
		t, err = blank(value)
	case "literal", "typed-literal":
		t, err = literal(value, part["xml:lang"], part["datatype"])
	default:
		return t, r.fail("%.100q is no type of a binding", part["type"])
	}
	if err != nil {
		return t, r.fail("%s", errs.Public(err))
	}
	return t, nil
}

// checkSurrogates refuses escapes of half a character ("\ud800"), which the
// standard library turns into U+FFFD without a word: another value. In JSON a
// backslash stands in strings only, so no more need be parsed.
func checkSurrogates(data []byte) error {
	for {
		i := bytes.IndexByte(data, '\\')
		if i < 0 || i+1 >= len(data) {
			return nil
		}
		data = data[i:]
		unit, ok := escapedUnit(data)
		switch {
		case !ok:
			data = data[2:]
		case unit>>10 == 0xD800>>10:
			if low, ok := escapedUnit(data[6:]); !ok || low>>10 != 0xDC00>>10 {
				return errs.New(errs.Invalid, "a string holds half of a surrogate pair")
			}
			data = data[12:]
		case unit>>10 == 0xDC00>>10:
			return errs.New(errs.Invalid, "a string holds half of a surrogate pair")
		default:
			data = data[6:]
		}
	}
}

// escapedUnit reads "\uXXXX" at the start of data.
func escapedUnit(data []byte) (uint64, bool) {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(data[2:6]), 16, 16)
	return unit, err == nil
}
