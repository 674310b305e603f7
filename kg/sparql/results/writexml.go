package results

import (
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// xmlNS is the namespace of the XML format's elements.
const xmlNS = "http://www.w3.org/2005/sparql-results#"

const xmlHead = `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<sparql xmlns="` + xmlNS + `">` + "\n"

// xmlEncoder writes the SPARQL Query Results XML Format, one solution a line.
type xmlEncoder struct {
	open []string // the start tag of each variable's binding
}

func (e *xmlEncoder) begin(b []byte, vars []string) []byte {
	b = append(b, xmlHead+"<head>"...)
	for _, v := range vars {
		b = append(append(append(b, `<variable name="`...), v...), `"/>`...)
		e.open = append(e.open, `<binding name="`+v+`">`)
	}
	return append(b, "</head>\n<results>\n"...)
}

func (e *xmlEncoder) row(b []byte, terms []ttl.Term) ([]byte, error) {
	b = append(b, "<result>"...)
	for i, t := range terms {
		if t.IsZero() {
			continue
		}
		var err error
		if b, err = appendXMLTerm(append(b, e.open[i]...), t); err != nil {
			return b, err
		}
		b = append(b, "</binding>"...)
	}
	return append(b, "</result>\n"...), nil
}

func (e *xmlEncoder) end(b []byte) []byte { return append(b, "</results>\n</sparql>\n"...) }

func (e *xmlEncoder) boolean(b []byte, v bool) ([]byte, error) {
	b = append(b, xmlHead+"<head/>\n<boolean>"...)
	if v {
		b = append(b, "true"...)
	} else {
		b = append(b, "false"...)
	}
	return append(b, "</boolean>\n</sparql>\n"...), nil
}

func appendXMLTerm(b []byte, t ttl.Term) (_ []byte, err error) {
	switch t.Kind {
	case ttl.IRI:
		if b, err = appendXML(append(b, "<uri>"...), t.Value); err != nil {
			return b, err
		}
		return append(b, "</uri>"...), nil
	case ttl.Blank:
		b = append(append(b, "<bnode>"...), ttl.WritableLabel(t.Value)...)
		return append(b, "</bnode>"...), nil
	}
	b = append(b, "<literal"...)
	switch {
	case t.Lang != "":
		b = append(append(append(b, ` xml:lang="`...), t.Lang...), '"')
	case t.Datatype != "" && t.Datatype != ttl.XSDString:
		if b, err = appendXML(append(b, ` datatype="`...), t.Datatype); err != nil {
			return b, err
		}
		b = append(b, '"')
	}
	if b, err = appendXML(append(b, '>'), t.Value); err != nil {
		return b, err
	}
	return append(b, "</literal>"...), nil
}

// appendXML appends text that is safe in an element and between double quotes.
// A carriage return is written as a reference, for a reader of XML turns a
// plain one into a line feed. XML 1.0 has no way at all to write most control
// characters: to drop one would change the value, so they are refused.
func appendXML(b []byte, s string) ([]byte, error) {
	start := 0
	for i, c := range s {
		var ref string
		switch {
		case c == '<':
			ref = "&lt;"
		case c == '>':
			ref = "&gt;"
		case c == '&':
			ref = "&amp;"
		case c == '"':
			ref = "&#34;"
		case c == '\r':
			ref = "&#13;"
		case c < 0x20 && c != '\t' && c != '\n', c == 0xFFFE, c == 0xFFFF:
			return b, errs.New(errs.Unsupported, "a value holds the character U+%04X, which XML cannot write", c).
				WithHint("ask for application/sparql-results+json")
		default:
			continue
		}
		b = append(append(b, s[start:i]...), ref...)
		start = i + 1
	}
	return append(b, s[start:]...), nil
}
