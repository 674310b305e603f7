package kg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// document is an imported file in memory, every term once. It is read and
// checked whole before the store is touched: a file that is refused leaves
// nothing behind, and the writer never waits for a slow sender.
type document struct {
	name  string
	terms []ttl.Term
	ids   map[ttl.Term]uint32
	rows  []docRow
}

// docRow is one statement by the numbers of its terms, and where it stands.
type docRow struct {
	s, p, o      uint32
	line, column int32
}

// importLimits hold for what a caller of ImportTurtle leaves zero. They bound
// the memory that one import takes.
var importLimits = ttl.Limits{
	Bytes:        32 << 20,
	Triples:      250_000,
	Depth:        256,
	LiteralBytes: 256 << 10,
	IRIBytes:     8 << 10,
	Prefixes:     1000,
	TermBytes:    128 << 20,
}

// withImportLimits fills in what is zero.
func withImportLimits(l ttl.Limits) ttl.Limits {
	def := importLimits
	for _, f := range [...]struct{ got, def *int64 }{
		{&l.Bytes, &def.Bytes}, {&l.Triples, &def.Triples}, {&l.TermBytes, &def.TermBytes},
	} {
		if *f.got == 0 {
			*f.got = *f.def
		}
	}
	for _, f := range [...]struct{ got, def *int }{
		{&l.Depth, &def.Depth}, {&l.LiteralBytes, &def.LiteralBytes}, {&l.IRIBytes, &def.IRIBytes}, {&l.Prefixes, &def.Prefixes},
	} {
		if *f.got == 0 {
			*f.got = *f.def
		}
	}
	return l
}

// readDocument reads a file into memory.
func readDocument(ctx context.Context, src io.Reader, name string, o ttl.Options) (*document, error) {
	d := &document{name: name, ids: map[ttl.Term]uint32{}}
	r := ttl.NewReader(ctxReader{ctx, src}, o)
	for {
		t, err := r.Read()
		if errors.Is(err, io.EOF) {
			return d, nil
		}
		if err != nil {
			return nil, d.readFault(ctx, err)
		}
		at := r.Position()
		d.rows = append(d.rows, docRow{d.id(t.S), d.id(t.P), d.id(t.O), int32(at.Line), int32(at.Column)})
	}
}

func (d *document) id(t ttl.Term) uint32 {
	id, ok := d.ids[t]
	if !ok {
		id = uint32(len(d.terms))
		d.ids[t] = id
		d.terms = append(d.terms, t)
	}
	return id
}

// readFault says where and why the file could not be read.
func (d *document) readFault(ctx context.Context, err error) error {
	var syntax *ttl.SyntaxError
	var limit *ttl.LimitError
	var classified *errs.Error
	switch {
	case errors.As(err, &syntax):
		where := d.place(syntax.Line, syntax.Column)
		detail := syntax.Msg
		if syntax.Excerpt != "" {
			detail += "\n" + syntax.Excerpt
		}
		return errs.Wrap(errs.Invalid, err, "%s: %s", where, syntax.Msg).WithParts(errs.Part{Pointer: where, Detail: detail})
	case errors.As(err, &limit):
		where := d.place(limit.Line, limit.Column)
		_, msg, _ := cutPlace(limit.Error())
		return errs.Wrap(errs.KindOf(err), err, "%s: %s", where, msg).WithParts(errs.Part{Pointer: where, Detail: msg})
	case ctx.Err() != nil:
		return storeErr("read the file", ctx.Err())
	case errors.As(err, &classified):
		return err
	}
	return errs.Wrap(errs.Invalid, err, "%s could not be read to its end", d.title())
}

// cutPlace splits "line 3, column 4: text" at the colon.
func cutPlace(s string) (place, text string, ok bool) {
	for i := range len(s) - 1 {
		if s[i] == ':' && s[i+1] == ' ' {
			return s[:i], s[i+2:], true
		}
	}
	return "", s, false
}

// title is what messages call the file.
func (d *document) title() string {
	if d.name == "" {
		return "the document"
	}
	return path.Base(d.name)
}

// place is file:line:column.
func (d *document) place(line, column int) string {
	if d.name == "" {
		return fmt.Sprintf("%d:%d", line, column)
	}
	return fmt.Sprintf("%s:%d:%d", path.Base(d.name), line, column)
}

// triples yields the statements.
func (d *document) triples() iter.Seq2[ttl.Triple, error] {
	return func(yield func(ttl.Triple, error) bool) {
		for _, w := range d.rows {
			if !yield(ttl.Triple{S: d.terms[w.s], P: d.terms[w.p], O: d.terms[w.o]}, nil) {
				return
			}
		}
	}
}

// statements returns the different statements, each by the numbers of its terms.
func (d *document) statements() map[[3]uint32]struct{} {
	seen := make(map[[3]uint32]struct{}, len(d.rows))
	for _, w := range d.rows {
		seen[[3]uint32{w.s, w.p, w.o}] = struct{}{}
	}
	return seen
}

// distinct returns how many different statements there are.
func (d *document) distinct() int { return len(d.statements()) }

// show names a node in a message.
func (d *document) show(id uint32) string {
	t := d.terms[id]
	switch t.Kind {
	case ttl.IRI:
		return shortIRI(ontology.IRI(t.Value))
	case ttl.Blank:
		return "a blank node"
	default:
		return quote(t.Value)
	}
}

// shortIRI is an IRI as people write it.
func shortIRI(i ontology.IRI) string {
	if local, ok := cutBase(i); ok {
		return "bn:" + local
	}
	if short := ontology.Capability(i).Short(); short != string(i) && len(short) <= 80 {
		return short
	}
	if len(i) > 120 {
		return "<" + string(i[:120]) + "…>"
	}
	return "<" + string(i) + ">"
}

// ctxReader lets the end of a context end the reading.
type ctxReader struct {
	ctx context.Context //nolint:containedctx // lives for one call
	r   io.Reader
}

func (c ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
