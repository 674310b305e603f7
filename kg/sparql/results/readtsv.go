package results

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// readTSV reads SPARQL 1.1 Query Results TSV: a line a row, terms as Turtle
// writes them in full (no prefixes, no long strings), an empty field where a
// variable is unbound. Lines may end in CR LF.
func readTSV(data []byte, t *table) error {
	text := string(data)
	line, text, _ := strings.Cut(text, "\n")
	vars, err := tsvHead(strings.TrimSuffix(line, "\r"), t.limits.Vars)
	if err != nil {
		return err
	}
	if err := t.head(vars); err != nil {
		return err
	}
	for n := 2; text != ""; n++ {
		line, text, _ = strings.Cut(text, "\n")
		row, err := t.row()
		if err != nil {
			return err
		}
		if err := tsvRow(strings.TrimSuffix(line, "\r"), row); err != nil {
			return errs.New(errs.Invalid, "line %d: %s", n, errs.Public(err))
		}
	}
	return nil
}

func tsvHead(line string, most int) ([]string, error) {
	if line == "" {
		return nil, nil
	}
	if strings.Count(line, "\t") >= most {
		return nil, errs.New(errs.TooLarge, "the result has more than %d variables", most)
	}
	vars := strings.Split(line, "\t")
	for i, v := range vars {
		if v == "" || v[0] != '?' && v[0] != '$' {
			return nil, errs.New(errs.Invalid, "line 1: %.100q is not a variable", v)
		}
		vars[i] = v[1:]
	}
	return vars, nil
}

func tsvRow(line string, row []ttl.Term) error {
	if len(row) == 0 && line == "" {
		return nil
	}
	if strings.Count(line, "\t") != len(row)-1 {
		return errs.New(errs.Invalid, "a row has another number of fields than the head")
	}
	for i := range row {
		var field string
		var err error
		field, line, _ = strings.Cut(line, "\t")
		if row[i], err = tsvTerm(field); err != nil {
			return err
		}
	}
	return nil
}

// tsvTerm reads one term.
func tsvTerm(s string) (ttl.Term, error) {
	switch {
	case s == "":
		return ttl.Term{}, nil
	case s == "true", s == "false":
		return ttl.NewTyped(s, ttl.XSDBoolean), nil
	case s[0] == '<':
		return tsvIRI(s)
	case s[0] == '"', s[0] == '\'':
		return tsvLiteral(s)
	}
	if label, ok := strings.CutPrefix(s, "_:"); ok && ttl.ValidBlankLabel(label) {
		return ttl.NewBlank(label), nil
	}
	if datatype := numberType(s); datatype != "" {
		return ttl.NewTyped(s, datatype), nil
	}
	return ttl.Term{}, errs.New(errs.Invalid, "%.100q is not a term", s)
}

func tsvIRI(s string) (ttl.Term, error) {
	text, ok := strings.CutSuffix(s[1:], ">")
	if !ok {
		return ttl.Term{}, errs.New(errs.Invalid, "%.100q is not a term", s)
	}
	value, ok := unescape(text, false)
	if !ok {
		return ttl.Term{}, errs.New(errs.Invalid, "%.100q has a bad escape", s)
	}
	return iri(value)
}

// tsvLiteral reads a quoted string and what stands behind it.
func tsvLiteral(s string) (ttl.Term, error) {
	end := 1
	for end < len(s) && s[end] != s[0] {
		if s[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(s) {
		return ttl.Term{}, errs.New(errs.Invalid, "%.100q has no end", s)
	}
	value, ok := unescape(s[1:end], true)
	if !ok {
		return ttl.Term{}, errs.New(errs.Invalid, "%.100q has a bad escape", s)
	}
	rest := s[end+1:]
	if rest == "" {
		return ttl.NewString(value), nil
	}
	if tag, ok := strings.CutPrefix(rest, "@"); ok && tag != "" {
		return literal(value, tag, "")
	}
	if name, ok := strings.CutPrefix(rest, "^^<"); ok {
		datatype, err := tsvIRI("<" + name)
		if err != nil {
			return ttl.Term{}, err
		}
		return literal(value, "", datatype.Value)
	}
	return ttl.Term{}, errs.New(errs.Invalid, "%.100q is not a term", s)
}

// unescape replaces the escapes of Turtle: ECHAR in strings only, UCHAR in
// IRIs too.
func unescape(s string, echar bool) (string, bool) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, `\`)
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		if after == "" {
			return "", false
		}
		kind := after[0]
		s = after[1:]
		size := map[byte]int{'u': 4, 'U': 8}[kind]
		switch at := strings.IndexByte(`tbnrf"'\`, kind); {
		case size > 0:
			if len(s) < size {
				return "", false
			}
			c, err := strconv.ParseUint(s[:size], 16, 32)
			if err != nil || !utf8.ValidRune(rune(c)) {
				return "", false
			}
			b.WriteRune(rune(c))
			s = s[size:]
		case echar && at >= 0:
			b.WriteByte("\t\b\n\r\f\"'\\"[at])
		default:
			return "", false
		}
	}
}
