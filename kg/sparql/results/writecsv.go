package results

import (
	"strings"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// csvEncoder writes SPARQL 1.1 Query Results CSV: RFC 4180, with CR LF.
type csvEncoder struct{}

func (csvEncoder) begin(b []byte, vars []string) []byte {
	for i, v := range vars {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, v...)
	}
	return append(b, "\r\n"...)
}

func (csvEncoder) row(b []byte, terms []ttl.Term) ([]byte, error) {
	for i, t := range terms {
		if i > 0 {
			b = append(b, ',')
		}
		switch t.Kind {
		case ttl.None:
		case ttl.Blank:
			b = append(append(b, "_:"...), ttl.WritableLabel(t.Value)...)
		default:
			b = appendCSV(b, t.Value)
		}
	}
	return append(b, "\r\n"...), nil
}

func (csvEncoder) end(b []byte) []byte { return b }

func (csvEncoder) boolean(b []byte, _ bool) ([]byte, error) { return b, errNoBoolean("CSV") }

// errNoBoolean says that a format has no form for the answer of an ASK.
func errNoBoolean(format string) error {
	return errs.New(errs.Unsupported, "%s has no form for the answer of an ASK query", format).
		WithHint("ask for application/sparql-results+json or application/sparql-results+xml")
}

// appendCSV appends a field, in quotes where it needs them. The empty string
// has them too: that tells it from an unbound variable for those who look.
func appendCSV(b []byte, s string) []byte {
	if s != "" && !strings.ContainsAny(s, "\",\r\n") {
		return append(b, s...)
	}
	b = append(b, '"')
	for i := range len(s) {
		if s[i] == '"' {
			b = append(b, '"')
		}
		b = append(b, s[i])
	}
	return append(b, '"')
}
