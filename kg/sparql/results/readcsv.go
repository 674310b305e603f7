package results

import (
	"bytes"
	"strings"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// readCSV reads SPARQL 1.1 Query Results CSV. A line may end in LF alone. An
// empty field is unbound; one of two quotes is the empty string. A value with
// the form of a blank node is read as one, all others as plain strings.
func readCSV(data []byte, t *table) error {
	r := &csvReader{data: data, line: 1}
	fields, err := r.record(t.limits.Vars)
	if err != nil {
		return err
	}
	if err := t.head(names(fields)); err != nil {
		return err
	}
	for len(r.data) > 0 {
		row, err := t.row()
		if err != nil {
			return err
		}
		fields, err := r.record(len(row))
		if err != nil {
			return err
		}
		if len(row) == 0 && fields[0] == (csvField{}) {
			continue
		}
		if len(fields) != len(row) {
			return r.fail("a row has another number of fields than the head")
		}
		for i, f := range fields {
			row[i] = f.term()
		}
	}
	return nil
}

// names returns the fields of the head. A head that is an empty line has none.
func names(fields []csvField) []string {
	if len(fields) == 1 && fields[0] == (csvField{}) {
		return nil
	}
	vars := make([]string, len(fields))
	for i, f := range fields {
		vars[i] = f.text
	}
	return vars
}

// csvField is a field; the quotes matter where it is empty.
type csvField struct {
	text   string
	quoted bool
}

func (f csvField) term() ttl.Term {
	if f.text == "" && !f.quoted {
		return ttl.Term{}
	}
	if label, ok := strings.CutPrefix(f.text, "_:"); ok && !f.quoted && ttl.ValidBlankLabel(label) {
		return ttl.NewBlank(label)
	}
	return ttl.NewString(f.text)
}

type csvReader struct {
	data []byte // what is left
	line int    // of the record in hand
}

func (r *csvReader) fail(format string, args ...any) error {
	return errs.New(errs.Invalid, "line %d: %s", r.line, errs.New(errs.Invalid, format, args...).Msg)
}

// record reads one record of at most most fields, or one.
func (r *csvReader) record(most int) ([]csvField, error) {
	var fields []csvField
	lines := 0
	for {
		f, err := r.field()
		if err != nil {
			return nil, err
		}
		lines += strings.Count(f.text, "\n")
		if fields = append(fields, f); len(fields) > max(most, 1) {
			return nil, r.fail("a row has more than %d fields", max(most, 1))
		}
		switch {
		case len(r.data) == 0:
			return fields, nil
		case r.data[0] == ',':
			r.data = r.data[1:]
			continue
		case r.data[0] == '\n':
			r.data = r.data[1:]
		case bytes.HasPrefix(r.data, []byte("\r\n")):
			r.data = r.data[2:]
		default:
			return nil, r.fail("a field is not well formed")
		}
		r.line += lines + 1
		return fields, nil
	}
}

func (r *csvReader) field() (csvField, error) {
	if len(r.data) == 0 || r.data[0] != '"' {
		n := bytes.IndexAny(r.data, "\",\r\n")
		if n < 0 {
			n = len(r.data)
		}
		f := csvField{text: string(r.data[:n])}
		r.data = r.data[n:]
		return f, nil
	}
	var b strings.Builder
	for rest := r.data[1:]; ; {
		n := bytes.IndexByte(rest, '"')
		if n < 0 {
			return csvField{}, r.fail("a quoted field has no end")
		}
		b.Write(rest[:n])
		rest = rest[n+1:]
		if len(rest) == 0 || rest[0] != '"' {
			r.data = rest
			return csvField{text: b.String(), quoted: true}, nil
		}
		b.WriteByte('"')
		rest = rest[1:]
	}
}
