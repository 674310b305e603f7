package kg

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// The bounds of a manifest. The values are bounded by its bytes.
const (
	maxManifestBytes = 4 << 20
	maxManifestDepth = 16
)

// jsonNode is a value of a JSON document with the place where it begins.
type jsonNode struct {
	value   any // string, json.Number, bool or nil; unused for the other two
	members []jsonMember
	items   []*jsonNode
	kind    json.Delim // '{', '[', or 0
	at      int
}

// jsonMember is a member of an object, in the order of the document.
type jsonMember struct {
	name  string
	at    int // where the name begins
	value *jsonNode
}

// jsonTree reads one JSON document with its places. What encoding/json lets
// pass is refused: a member that is there twice, text that is not UTF-8, and
// anything behind the document.
type jsonTree struct {
	text  []byte
	dec   *json.Decoder
	marks []jsonMark // every markEvery bytes
}

// jsonMark is the place of an offset.
type jsonMark struct{ line, column int }

// markEvery is how many bytes are counted for a place at most: without the
// marks, a document that is all one line and asks for its places in another
// order than theirs would be counted through for each.
const markEvery = 1 << 10

// readJSON reads the whole document.
func readJSON(ctx context.Context, src io.Reader) (*jsonTree, *jsonNode, error) {
	text, err := io.ReadAll(io.LimitReader(ctxReader{ctx, src}, maxManifestBytes+1))
	t := &jsonTree{text: text}
	switch {
	case ctx.Err() != nil:
		return t, nil, storeErr("read the file", ctx.Err())
	case err != nil:
		return t, nil, errs.Wrap(errs.Invalid, err, "the document could not be read to its end")
	case len(text) > maxManifestBytes:
		return t, nil, errs.New(errs.TooLarge, "a manifest has at most %d bytes", maxManifestBytes)
	}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return t, nil, &jsonFault{i, "the text is not UTF-8"}
		}
		i += n
	}
	t.dec = json.NewDecoder(bytes.NewReader(text))
	t.dec.UseNumber()
	root, err := t.node(1)
	if err != nil {
		return t, nil, err
	}
	if at := t.behind(); at < len(text) {
		return t, nil, &jsonFault{at, "something stands behind the end of the document"}
	}
	return t, root, nil
}

// jsonFault is a fault with its place in the text.
type jsonFault struct {
	at   int
	text string
}

// Error implements error.
func (f *jsonFault) Error() string { return f.text }

// next returns where the next token begins.
func (t *jsonTree) next() int {
	at := int(t.dec.InputOffset())
	for at < len(t.text) && bytes.IndexByte([]byte(" \t\r\n,:"), t.text[at]) >= 0 {
		at++
	}
	return at
}

// behind returns where something stands behind what was read, or the end.
func (t *jsonTree) behind() int {
	at := int(t.dec.InputOffset())
	for at < len(t.text) && bytes.IndexByte([]byte(" \t\r\n"), t.text[at]) >= 0 {
		at++
	}
	return at
}

// token reads one token.
func (t *jsonTree) token() (json.Token, int, error) {
	at := t.next()
	tok, err := t.dec.Token()
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return tok, at, nil
	case errors.As(err, &syntax):
		return nil, at, &jsonFault{at, "this is not JSON: " + syntax.Error()}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, at, &jsonFault{len(t.text), "the document ends in the middle"}
	}
	return nil, at, &jsonFault{at, "this is not JSON"}
}

// node reads one value, which stands at a depth.
func (t *jsonTree) node(depth int) (*jsonNode, error) {
	tok, at, err := t.token()
	if err != nil {
		return nil, err
	}
	if depth > maxManifestDepth {
		return nil, &jsonFault{at, fmt.Sprintf("a manifest is nested at most %d deep", maxManifestDepth)}
	}
	delim, ok := tok.(json.Delim)
	if !ok {
		return &jsonNode{value: tok, at: at}, nil
	}
	n := &jsonNode{kind: delim, at: at}
	seen := map[string]bool{}
	for t.dec.More() {
		if delim == '{' {
			err = t.member(n, seen, depth)
		} else {
			var item *jsonNode
			item, err = t.node(depth + 1)
			n.items = append(n.items, item)
		}
		if err != nil {
			return nil, err
		}
	}
	_, _, err = t.token() // the closing bracket
	return n, err
}

// member reads one member of an object.
func (t *jsonTree) member(n *jsonNode, seen map[string]bool, depth int) error {
	tok, at, err := t.token()
	if err != nil {
		return err
	}
	name, _ := tok.(string)
	if seen[name] {
		return &jsonFault{at, "the member " + quote(name) + " is there twice"}
	}
	seen[name] = true
	value, err := t.node(depth + 1)
	n.members = append(n.members, jsonMember{name, at, value})
	return err
}

// place returns the line and column of an offset, in characters from 1.
func (t *jsonTree) place(at int) (line, column int) {
	at = min(at, len(t.text))
	if t.marks == nil {
		m := jsonMark{1, 1}
		for from := 0; from <= len(t.text); from += markEvery {
			t.marks = append(t.marks, m)
			m = m.past(t.text[from:min(from+markEvery, len(t.text))])
		}
	}
	m := t.marks[at/markEvery].past(t.text[at/markEvery*markEvery : at])
	return m.line, m.column
}

// past returns the place behind a piece of text that begins at m.
func (m jsonMark) past(text []byte) jsonMark {
	for _, c := range text {
		switch {
		case c == '\n':
			m.line, m.column = m.line+1, 1
		case utf8.RuneStart(c):
			m.column++
		}
	}
	return m
}
