package results

import "github.com/seed-ff860830/banyan/ttl"

// jsonEncoder writes SPARQL 1.1 Query Results JSON, one solution a line.
type jsonEncoder struct {
	keys []string // each variable as a JSON string
	rows bool     // whether one was written
}

func (e *jsonEncoder) begin(b []byte, vars []string) []byte {
	b = append(b, `{"head":{"vars":[`...)
	for i, v := range vars {
		if i > 0 {
			b = append(b, ',')
		}
		key := appendJSON(nil, v)
		e.keys = append(e.keys, string(key))
		b = append(b, key...)
	}
	return append(b, `]},"results":{"bindings":[`...)
}

func (e *jsonEncoder) row(b []byte, terms []ttl.Term) ([]byte, error) {
	if e.rows {
		b = append(b, ',')
	}
	e.rows = true
	b = append(b, "\n{"...)
	first := true
	for i, t := range terms {
		if t.IsZero() {
			continue // unbound: its key is absent
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(append(b, e.keys[i]...), ':')
		b = appendJSONTerm(b, t)
	}
	return append(b, '}'), nil
}

func (e *jsonEncoder) end(b []byte) []byte { return append(b, "\n]}}\n"...) }

func (e *jsonEncoder) boolean(b []byte, v bool) ([]byte, error) {
	if v {
		return append(b, "{\"head\":{},\"boolean\":true}\n"...), nil
	}
	return append(b, "{\"head\":{},\"boolean\":false}\n"...), nil
}

func appendJSONTerm(b []byte, t ttl.Term) []byte {
	switch t.Kind {
	case ttl.IRI:
		b = appendJSON(append(b, `{"type":"uri","value":`...), t.Value)
	case ttl.Blank:
		b = appendJSON(append(b, `{"type":"bnode","value":`...), ttl.WritableLabel(t.Value))
	default:
		b = appendJSON(append(b, `{"type":"literal","value":`...), t.Value)
		switch {
		case t.Lang != "":
			b = appendJSON(append(b, `,"xml:lang":`...), t.Lang)
		case t.Datatype != "" && t.Datatype != ttl.XSDString:
			b = appendJSON(append(b, `,"datatype":`...), t.Datatype)
		}
	}
	return append(b, '}')
}

// appendJSON appends a string in quotes. It is UTF-8, as was checked before.
func appendJSON(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c != 0x7F {
			continue
		}
		b = append(b, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
	}
	return append(append(b, s[start:]...), '"')
}
