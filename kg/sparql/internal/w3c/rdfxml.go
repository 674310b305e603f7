package w3c

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/seed-ff860830/banyan/ttl"
)

// readRDFXML reads the small part of RDF/XML that the suites' 16 files use:
// node elements with rdf:about, rdf:nodeID or neither, and property elements
// with text, a datatype, a language, rdf:resource, rdf:nodeID, node elements,
// or rdf:parseType="Resource". All else is an error.
func readRDFXML(data []byte, base string) ([]ttl.Triple, error) {
	r := &rdfXML{dec: xml.NewDecoder(bytes.NewReader(data)), base: base}
	for {
		tok, err := r.dec.Token()
		if errors.Is(err, io.EOF) {
			return r.triples, nil
		}
		if err != nil {
			return nil, err
		}
		if e, ok := tok.(xml.StartElement); ok {
			if name(e.Name) != ttl.RDFNS+"RDF" {
				return nil, fmt.Errorf("%s where rdf:RDF should be", name(e.Name))
			}
			if err := r.each(func(e xml.StartElement) error { _, err := r.node(e); return err }); err != nil {
				return nil, err
			}
		}
	}
}

type rdfXML struct {
	dec     *xml.Decoder
	base    string
	triples []ttl.Triple
	blanks  int
}

func name(n xml.Name) string { return n.Space + n.Local }

func (r *rdfXML) blank() ttl.Term {
	r.blanks++
	return ttl.NewBlank("x" + strconv.Itoa(r.blanks))
}

func (r *rdfXML) add(s ttl.Term, p string, o ttl.Term) {
	r.triples = append(r.triples, ttl.Triple{S: s, P: ttl.NewIRI(p), O: o})
}

// attrs returns an element's attributes by their full names, without
// namespaces, which are not attributes in XML's sense.
func (r *rdfXML) attrs(e xml.StartElement, known ...string) (map[string]string, error) {
	m := map[string]string{}
	for _, a := range e.Attr {
		if a.Name.Space == "xmlns" || a.Name.Local == "xmlns" {
			continue
		}
		m[name(a.Name)] = a.Value
	}
	n := 0
	for _, k := range known {
		if _, ok := m[k]; ok {
			n++
		}
	}
	if n != len(m) {
		return nil, fmt.Errorf("an attribute of %s is not known here", name(e.Name))
	}
	return m, nil
}

// each calls child for every element up to the end of the one that is open.
func (r *rdfXML) each(child func(xml.StartElement) error) error {
	for {
		tok, err := r.dec.Token()
		if err != nil {
			return err
		}
		switch tok := tok.(type) {
		case xml.EndElement:
			return nil
		case xml.StartElement:
			if err := child(tok); err != nil {
				return err
			}
		case xml.CharData:
			if len(bytes.TrimSpace(tok)) > 0 {
				return fmt.Errorf("text %q between elements", tok)
			}
		}
	}
}

// node reads a node element and returns its subject.
func (r *rdfXML) node(e xml.StartElement) (ttl.Term, error) {
	attrs, err := r.attrs(e, ttl.RDFNS+"about", ttl.RDFNS+"nodeID")
	if err != nil {
		return ttl.Term{}, err
	}
	subject, ok := r.named(attrs, "about")
	if !ok {
		subject = r.blank()
	}
	if name(e.Name) != ttl.RDFNS+"Description" {
		r.add(subject, ttl.RDFType, ttl.NewIRI(name(e.Name)))
	}
	return subject, r.each(func(p xml.StartElement) error { return r.property(subject, p) })
}

// named returns the term that rdf:about, rdf:resource or rdf:nodeID names.
func (r *rdfXML) named(attrs map[string]string, iri string) (ttl.Term, bool) {
	if ref, ok := attrs[ttl.RDFNS+iri]; ok {
		return ttl.NewIRI(ttl.ResolveIRI(r.base, ref)), true
	}
	if id, ok := attrs[ttl.RDFNS+"nodeID"]; ok {
		return ttl.NewBlank("n" + id), true
	}
	return ttl.Term{}, false
}

const xmlLang = "http://www.w3.org/XML/1998/namespacelang"

func (r *rdfXML) property(subject ttl.Term, p xml.StartElement) error {
	attrs, err := r.attrs(p, ttl.RDFNS+"resource", ttl.RDFNS+"nodeID", ttl.RDFNS+"datatype", ttl.RDFNS+"parseType", xmlLang)
	if err != nil {
		return err
	}
	if object, ok := r.named(attrs, "resource"); ok {
		r.add(subject, name(p.Name), object)
		return r.dec.Skip()
	}
	if kind, ok := attrs[ttl.RDFNS+"parseType"]; ok {
		if kind != "Resource" {
			return fmt.Errorf("parseType %q is not known here", kind)
		}
		object := r.blank()
		r.add(subject, name(p.Name), object)
		return r.each(func(p xml.StartElement) error { return r.property(object, p) })
	}
	object, err := r.content(attrs)
	if err != nil {
		return err
	}
	r.add(subject, name(p.Name), object)
	return nil
}

// content reads a property's value: one node element, or text.
func (r *rdfXML) content(attrs map[string]string) (object ttl.Term, err error) {
	var text strings.Builder
	for {
		tok, err := r.dec.Token()
		if err != nil {
			return object, err
		}
		switch tok := tok.(type) {
		case xml.CharData:
			text.Write(tok)
		case xml.StartElement:
			if !object.IsZero() {
				return object, errors.New("a property has two values")
			}
			if object, err = r.node(tok); err != nil {
				return object, err
			}
		case xml.EndElement:
			switch lang, datatype := attrs[xmlLang], attrs[ttl.RDFNS+"datatype"]; {
			case !object.IsZero():
				if strings.TrimSpace(text.String()) != "" {
					return object, errors.New("a property has text beside its node")
				}
				return object, nil
			case datatype != "":
				return ttl.NewTyped(text.String(), datatype), nil
			default:
				return ttl.NewLang(text.String(), lang), nil
			}
		}
	}
}
