package sparql

import (
	"strings"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// ParseUpdate reads an update request: operations with ';' between them.
func ParseUpdate(text string, o ParseOptions) (*UpdateRequest, error) {
	p, err := newParser(text, o)
	if err != nil {
		return nil, err
	}
	u := &UpdateRequest{uses: p.uses}
	for {
		if err := p.prologue(); err != nil {
			return nil, err
		}
		if p.tok.kind == tokEOF {
			return u, nil
		}
		p.newPattern()
		if len(u.ops) >= p.o.MaxParts {
			return nil, errs.New(errs.TooLarge, "the request has more than the limit of %d operations", p.o.MaxParts)
		}
		op, err := p.operation()
		if err != nil {
			return nil, err
		}
		op.base = p.base
		u.ops = append(u.ops, op)
		if ok, err := p.punct(";"); err != nil {
			return nil, err
		} else if !ok && p.tok.kind != tokEOF {
			return nil, p.unexpected("';' or the end of the request")
		}
	}
}

// operation reads one operation.
func (p *parser) operation() (op updateOp, err error) {
	word := ""
	if p.tok.kind == tokWord {
		word = strings.ToUpper(p.tok.text)
	}
	switch word {
	case "INSERT", "DELETE", "WITH":
		return p.modify()
	case "LOAD":
		return p.load()
	case "CLEAR", "DROP":
		return p.clearOrDrop(word)
	case "CREATE":
		op.kind = opCreate
		if err := p.advanceSilent(&op); err != nil {
			return op, err
		}
		op.to, err = p.graphRef()
		return op, err
	case "ADD", "MOVE", "COPY":
		return p.transfer(word)
	}
	return op, p.unexpected("an update operation")
}

// advanceSilent passes over the operation's word and reads SILENT.
func (p *parser) advanceSilent(op *updateOp) (err error) {
	if err := p.advance(); err != nil {
		return err
	}
	op.silent, err = p.word("SILENT")
	return err
}

func (p *parser) load() (op updateOp, err error) {
	op.kind = opLoad
	if err := p.advanceSilent(&op); err != nil {
		return op, err
	}
	iri, err := p.iri()
	if err != nil {
		return op, err
	}
	op.source = iri.Value
	if ok, err := p.word("INTO"); err != nil || !ok {
		return op, err
	}
	op.to, err = p.graphRef()
	return op, err
}

// graphRef reads GRAPH iri.
func (p *parser) graphRef() (t target, err error) {
	if err := p.needWord("GRAPH"); err != nil {
		return t, err
	}
	t.graph, err = p.iri()
	return t, err
}

func (p *parser) clearOrDrop(word string) (op updateOp, err error) {
	op.kind = opClear
	if word == "DROP" {
		op.kind = opDrop
	}
	if err := p.advanceSilent(&op); err != nil {
		return op, err
	}
	for w, flag := range map[string]*bool{"DEFAULT": &op.to.deflt, "NAMED": &op.to.named, "ALL": &op.to.all} {
		if p.isWord(w) {
			*flag = true
			return op, p.advance()
		}
	}
	op.to, err = p.graphRef()
	return op, err
}

// transfer reads ADD, MOVE or COPY.
func (p *parser) transfer(word string) (op updateOp, err error) {
	op.kind = map[string]updateKind{"ADD": opAdd, "MOVE": opMove, "COPY": opCopy}[word]
	if err := p.advanceSilent(&op); err != nil {
		return op, err
	}
	if op.from, err = p.graphOrDefault(); err != nil {
		return op, err
	}
	if err := p.needWord("TO"); err != nil {
		return op, err
	}
	op.to, err = p.graphOrDefault()
	return op, err
}

func (p *parser) graphOrDefault() (t target, err error) {
	if t.deflt, err = p.word("DEFAULT"); err != nil || t.deflt {
		return t, err
	}
	if _, err := p.word("GRAPH"); err != nil {
		return t, err
	}
	t.graph, err = p.iri()
	return t, err
}

// modify reads INSERT DATA, DELETE DATA, DELETE WHERE and Modify.
func (p *parser) modify() (op updateOp, err error) {
	op.kind = opModify
	if ok, err := p.word("WITH"); err != nil {
		return op, err
	} else if ok {
		g, err := p.iri()
		if err != nil {
			return op, err
		}
		op.with = &g
		if !p.isWord("INSERT") && !p.isWord("DELETE") {
			return op, p.unexpected("INSERT or DELETE")
		}
	}
	if ok, err := p.word("DELETE"); err != nil {
		return op, err
	} else if ok {
		done, err := p.deletePart(&op)
		if err != nil || done {
			return op, err
		}
		if !p.isWord("INSERT") {
			return op, p.usingWhere(&op)
		}
	}
	if err := p.needWord("INSERT"); err != nil {
		return op, err
	}
	if op.with == nil && op.del == nil && p.isWord("DATA") {
		return op, p.insertData(&op)
	}
	if err := p.ownLabels(func() (err error) { op.ins, err = p.quads(); return err }); err != nil {
		return op, err
	}
	return op, p.usingWhere(&op)
}

func (p *parser) insertData(op *updateOp) (err error) {
	op.kind = opInsertData
	if err := p.advance(); err != nil {
		return err
	}
	p.data = true
	op.quads, err = p.quads()
	p.data = false
	return err
}

// deletePart reads what follows DELETE; done says that the operation ends with
// it.
func (p *parser) deletePart(op *updateOp) (done bool, err error) {
	p.noBlank = true
	defer func() { p.noBlank, p.data = false, false }()
	if op.with == nil && p.isWord("DATA") {
		op.kind, p.data = opDeleteData, true
		if err := p.advance(); err != nil {
			return true, err
		}
		op.quads, err = p.quads()
		return true, err
	}
	if op.with == nil && p.isWord("WHERE") {
		if err := p.advance(); err != nil {
			return true, err
		}
		op.del, err = p.quads()
		op.where = quadsAsGroup(op.del)
		return true, err
	}
	op.del, err = p.quads()
	if op.del == nil {
		op.del = []quadPat{}
	}
	return false, err
}
