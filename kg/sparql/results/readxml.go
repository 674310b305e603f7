package results

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// xmlLangNS is what the prefix xml stands for.
const xmlLangNS = "http://www.w3.org/XML/1998/namespace"

// readXML reads the SPARQL Query Results XML Format. A document type is
// refused, so there are no entities but XML's own five. The format has a fixed
// depth, and each level is a function of its own: nothing recurses.
func readXML(data []byte, t *table) error {
	data = bytes.TrimPrefix(data, []byte("\uFEFF")) // the one format that may have a mark
	r := &xmlReader{dec: xml.NewDecoder(bytes.NewReader(data)), table: t}
	root, err := r.start("sparql")
	if err != nil {
		return err
	}
	if root.Name.Local != "sparql" {
		return r.fail("want the element sparql here")
	}
	if err := r.sparql(); err != nil {
		return err
	}
	return r.finish()
}

// finish takes white space up to the end of the document.
func (r *xmlReader) finish() error {
	for {
		tok, err := r.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if text, ok := tok.(xml.CharData); !ok || len(bytes.Trim(text, " \t\r\n")) > 0 {
			return r.fail("there is something behind the end")
		}
	}
}

type xmlReader struct {
	dec   *xml.Decoder
	table *table
	index map[string]int
	begun bool // whether a token was read: the declaration comes first
}

func (r *xmlReader) fail(format string, args ...any) error {
	e := errs.New(errs.Invalid, format, args...)
	line, column := r.dec.InputPos()
	return errs.New(errs.Invalid, "line %d, column %d: %s", line, column, e.Msg)
}

// next returns the next token that is not a comment: a start or end tag, or
// text. At the document's end it returns io.EOF.
func (r *xmlReader) next() (xml.Token, error) {
	for {
		tok, err := r.dec.Token()
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		if err != nil {
			return nil, r.fail("this is not XML in UTF-8")
		}
		first := !r.begun
		r.begun = true
		switch tok := tok.(type) {
		case xml.Comment:
		case xml.ProcInst:
			// Style sheets for browsers stand here and say nothing of the result.
			if tok.Target == "xml" && !first {
				return nil, r.fail("an XML declaration may stand at the start only")
			}
		case xml.Directive:
			return nil, r.fail("a document type is not taken here")
		case xml.StartElement:
			return tok, r.check(tok)
		default:
			return tok, nil
		}
	}
}

// check refuses foreign elements and attributes that are there twice.
func (r *xmlReader) check(e xml.StartElement) error {
	if e.Name.Space != xmlNS {
		return r.fail("the element %.100q is not of SPARQL results", e.Name.Local)
	}
	seen := make(map[xml.Name]bool, len(e.Attr))
	for _, a := range e.Attr {
		if seen[a.Name] {
			return r.fail("the attribute %.100q is there twice", a.Name.Local)
		}
		seen[a.Name] = true
	}
	return nil
}

// start returns the next start tag and passes over white space; an end tag
// gives io.EOF. what names the element for the message if neither comes.
func (r *xmlReader) start(what string) (e xml.StartElement, err error) {
	for {
		tok, err := r.next()
		if errors.Is(err, io.EOF) {
			return e, r.fail("want the element %s here", what)
		}
		if err != nil {
			return e, err
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			return tok, nil
		case xml.EndElement:
			return e, io.EOF
		case xml.CharData:
			if len(bytes.Trim(tok, " \t\r\n")) > 0 {
				return e, r.fail("text is not taken here")
			}
		}
	}
}

// children calls child for each element until the end tag of the parent.
func (r *xmlReader) children(what string, child func(xml.StartElement) error) error {
	for {
		e, err := r.start(what)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := child(e); err != nil {
			return err
		}
	}
}

// text returns the text up to the end tag.
func (r *xmlReader) text() (string, error) {
	var b strings.Builder
	for {
		tok, err := r.next()
		if errors.Is(err, io.EOF) {
			return "", r.fail("the document breaks off")
		}
		if err != nil {
			return "", err
		}
		switch tok := tok.(type) {
		case xml.CharData:
			b.Write(tok)
		case xml.EndElement:
			return b.String(), nil
		default:
			return "", r.fail("an element is not taken here")
		}
	}
}

// empty takes the end of an element without content.
func (r *xmlReader) empty() error {
	return r.children("end", func(e xml.StartElement) error {
		return r.fail("the element %.100q is not taken here", e.Name.Local)
	})
}

// sparql reads the content of the root: head, then results or boolean.
func (r *xmlReader) sparql() error {
	var order []string
	err := r.children("head", func(e xml.StartElement) error {
		order = append(order, e.Name.Local)
		if len(order) > 2 {
			return r.fail("the element %.100q is not taken here", e.Name.Local)
		}
		switch name := e.Name.Local; {
		case len(order) == 1 && name == "head":
			return r.head()
		case len(order) == 2 && name == "results":
			return r.results()
		case len(order) == 2 && name == "boolean":
			return r.boolean()
		default:
			return r.fail("the element %.100q is not taken here", name)
		}
	})
	if err == nil && len(order) != 2 {
		err = r.fail("the result needs head, and one of results and boolean")
	}
	return err
}

func (r *xmlReader) head() error {
	var vars []string
	err := r.children("variable", func(e xml.StartElement) error {
		switch e.Name.Local {
		case "variable":
			vars = append(vars, attr(e, "", "name"))
		case "link":
		default:
			return r.fail("the element %.100q is not taken here", e.Name.Local)
		}
		return r.empty()
	})
	if err != nil {
		return err
	}
	return r.table.head(vars)
}

func (r *xmlReader) boolean() error {
	text, err := r.text()
	if err != nil {
		return err
	}
	text = strings.Trim(text, " \t\r\n")
	if text != "true" && text != "false" {
		return r.fail("want true or false here")
	}
	yes := text == "true"
	r.table.set.Boolean = &yes
	return nil
}

func (r *xmlReader) results() error {
	r.index = r.table.columns()
	return r.children("result", func(e xml.StartElement) error {
		if e.Name.Local != "result" {
			return r.fail("the element %.100q is not taken here", e.Name.Local)
		}
		row, err := r.table.row()
		if err != nil {
			return err
		}
		return r.children("binding", func(e xml.StartElement) error { return r.binding(e, row) })
	})
}

func (r *xmlReader) binding(e xml.StartElement, row []ttl.Term) error {
	if e.Name.Local != "binding" {
		return r.fail("the element %.100q is not taken here", e.Name.Local)
	}
	name := attr(e, "", "name")
	i, ok := r.index[name]
	if !ok {
		return r.fail("%.100q is not among the variables of the head", name)
	}
	if !row[i].IsZero() {
		return r.fail("%.100q is bound twice", name)
	}
	err := r.children("term", func(e xml.StartElement) (err error) {
		if !row[i].IsZero() {
			return r.fail("%.100q is bound twice", name)
		}
		row[i], err = r.term(e)
		return err
	})
	if err == nil && row[i].IsZero() {
		err = r.fail("the binding of %.100q is empty", name)
	}
	return err
}

func (r *xmlReader) term(e xml.StartElement) (t ttl.Term, err error) {
	text, err := r.text()
	if err != nil {
		return t, err
	}
	switch e.Name.Local {
	case "uri":
		t, err = iri(text)
	case "bnode":
		t, err = blank(text)
	case "literal":
		t, err = literal(text, attr(e, xmlLangNS, "lang"), attr(e, "", "datatype"))
	default:
		return t, r.fail("the element %.100q is not taken here", e.Name.Local)
	}
	if err != nil {
		return t, r.fail("%s", errs.Public(err))
	}
	return t, nil
}

// attr returns the value of an attribute, "" if it is not there.
func attr(e xml.StartElement, space, local string) string {
	for _, a := range e.Attr {
		if a.Name.Space == space && a.Name.Local == local {
			return a.Value
		}
	}
	return ""
}
