package ttl

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// Format is a way to write RDF down.
type Format uint8

// The formats. Turtle is the zero value.
const (
	Turtle   Format = iota // RDF 1.1 Turtle, text/turtle
	NTriples               // RDF 1.1 N-Triples, application/n-triples
	NQuads                 // RDF 1.1 N-Quads, application/n-quads
)

// formats are the names of each format: its own, its media type, and what
// else users call it (file name extensions among it).
var formats = [...]struct {
	name, media string
	others      []string
}{
	Turtle:   {"turtle", "text/turtle", []string{"ttl", "application/x-turtle"}},
	NTriples: {"ntriples", "application/n-triples", []string{"nt", "n-triples"}},
	NQuads:   {"nquads", "application/n-quads", []string{"nq", "n-quads"}},
}

// String returns the format's name: "turtle", "ntriples" or "nquads".
func (f Format) String() string {
	if int(f) >= len(formats) {
		return "unknown"
	}
	return formats[f].name
}

// MediaType returns the format's registered media type, without parameters.
func (f Format) MediaType() string {
	if int(f) >= len(formats) {
		return "application/octet-stream"
	}
	return formats[f].media
}

// FormatByName finds a format by its name, its media type (parameters are
// ignored), its file name extension with or without the dot, or a file name
// that ends in one. Case does not count.
func FormatByName(name string) (Format, bool) {
	name, _, _ = strings.Cut(name, ";")
	name = strings.ToLower(strings.TrimSpace(name))
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		name = name[i+1:]
	}
	for f, info := range formats {
		if name == info.name || name == info.media {
			return Format(f), true
		}
		for _, other := range info.others {
			if name == other {
				return Format(f), true
			}
		}
	}
	return Turtle, false
}

// SniffFormat tells from a document's first bytes how to read it, where
// neither a name nor a media type says. N-Triples is a part of Turtle, so the
// only question is whether the first statement is a quad; the answer is NQuads
// if it is, and Turtle in all other cases.
func SniffFormat(head []byte) Format {
	for len(head) > 0 {
		line, rest, whole := bytes.Cut(head, []byte("\n"))
		head = rest
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if !whole && line[len(line)-1] != '.' {
			break // the first statement is cut off
		}
		q, err := NewReader(bytes.NewReader(line), Options{Format: NQuads}).ReadQuad()
		if (err == nil || errors.Is(err, io.EOF)) && q.G.Kind != None {
			return NQuads
		}
		break
	}
	return Turtle
}
