package sparql

import "github.com/seed-ff860830/banyan/ttl"

// group reads GroupGraphPattern: '{' SubSelect or elements '}'.
func (p *parser) group() (*group, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	if err := p.part(); err != nil {
		return nil, err
	}
	if err := p.need("{"); err != nil {
		return nil, err
	}
	g := &group{}
	p.newPattern()
	if p.isWord("SELECT") {
		at := p.tok.at
		sub, err := p.subSelect()
		if err != nil {
			return nil, err
		}
		g.add(elem{kind: elemSelect, sub: sub, at: at})
	} else if err := p.groupBody(g); err != nil {
		return nil, err
	}
	p.newPattern()
	return g, p.need("}")
}

// newPattern begins another basic graph pattern, as far as labels go.
func (p *parser) newPattern() {
	p.patterns++
	p.pattern = p.patterns
}

// groupBody reads GroupGraphPatternSub. A FILTER does not end a basic graph
// pattern; every other element does (section 5.1).
func (p *parser) groupBody(g *group) error {
	for !p.isPunct("}") {
		if p.startsTriples() {
			if err := p.patternBlock(g); err != nil {
				return err
			}
			if p.startsTriples() {
				return p.unexpected("'.'")
			}
			continue
		}
		if p.tok.kind == tokEOF {
			return p.unexpected("'}'")
		}
		if err := p.element(g); err != nil {
			return err
		}
		if _, err := p.punct("."); err != nil {
			return err
		}
	}
	return nil
}

// patternBlock reads triple patterns into the group's current basic graph
// pattern.
func (p *parser) patternBlock(g *group) error {
	var found []triplePat
	at := p.tok.at
	err := p.triplesBlock(true, func(t triplePat) error {
		found = append(found, t)
		return p.part()
	})
	if err == nil {
		g.add(elem{kind: elemTriples, triples: found, at: at})
	}
	return err
}

// element reads one GraphPatternNotTriples or Filter.
func (p *parser) element(g *group) (err error) {
	e := elem{at: p.tok.at}
	if err := p.part(); err != nil {
		return err
	}
	if p.isPunct("{") {
		err = p.union(&e)
	} else if read, ok := p.elementReader(); !ok {
		return p.unexpected("a pattern")
	} else {
		if err := p.advance(); err != nil {
			return err
		}
		err = read(&e)
	}
	if err != nil {
		return err
	}
	if e.kind != elemFilter {
		p.newPattern()
	}
	if e.kind == elemBind && g.has[e.name] {
		return p.fail(e.at, "the variable ?"+e.name+" is used in the group before BIND names it")
	}
	g.add(e)
	return nil
}

// elementReader returns what reads an element behind its keyword.
func (p *parser) elementReader() (func(*elem) error, bool) {
	switch {
	case p.isWord("FILTER"):
		return p.filter, true
	case p.isWord("OPTIONAL"):
		return func(e *elem) error { return p.oneGroup(e, elemOptional) }, true
	case p.isWord("MINUS"):
		return func(e *elem) error { return p.oneGroup(e, elemMinus) }, true
	case p.isWord("GRAPH"):
		return p.graphGroup, true
	case p.isWord("SERVICE"):
		return p.service, true
	case p.isWord("BIND"):
		return p.bind, true
	case p.isWord("VALUES"):
		return p.inlineData, true
	}
	return nil, false
}

func (p *parser) union(e *elem) error {
	e.kind = elemUnion
	for {
		g, err := p.group()
		if err != nil {
			return err
		}
		e.groups = append(e.groups, g)
		if ok, err := p.word("UNION"); err != nil || !ok {
			return err
		}
	}
}

func (p *parser) oneGroup(e *elem, kind elemKind) error {
	e.kind = kind
	g, err := p.group()
	e.groups = []*group{g}
	return err
}

func (p *parser) filter(e *elem) (err error) {
	e.kind = elemFilter
	pattern := p.pattern // an EXISTS in it has patterns of its own
	e.expr, err = p.constraint()
	p.pattern = pattern
	return err
}

func (p *parser) graphGroup(e *elem) (err error) {
	if e.graph, err = p.varOrIRI(); err != nil {
		return err
	}
	return p.oneGroup(e, elemGraph)
}

func (p *parser) service(e *elem) (err error) {
	if _, err := p.word("SILENT"); err != nil {
		return err
	}
	if e.graph, err = p.varOrIRI(); err != nil {
		return err
	}
	return p.oneGroup(e, elemService)
}

func (p *parser) bind(e *elem) (err error) {
	e.kind = elemBind
	if err := p.need("("); err != nil {
		return err
	}
	if e.expr, err = p.expression(); err != nil {
		return err
	}
	if err := p.needWord("AS"); err != nil {
		return err
	}
	n, err := p.varNode()
	if err != nil {
		return err
	}
	e.name = n.name
	return p.need(")")
}

func (p *parser) inlineData(e *elem) (err error) {
	e.kind = elemValues
	e.values, err = p.dataBlock()
	return err
}

// dataBlock reads DataBlock behind VALUES.
func (p *parser) dataBlock() (*values, error) {
	v := &values{}
	if p.tok.kind == tokVar {
		v.vars = []string{p.tok.text}
		if err := p.advance(); err != nil {
			return nil, err
		}
		return v, p.dataRows(v, false)
	}
	if err := p.need("("); err != nil {
		return nil, err
	}
	for p.tok.kind == tokVar {
		v.vars = append(v.vars, p.tok.text)
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if err := p.need(")"); err != nil {
		return nil, err
	}
	return v, p.dataRows(v, true)
}

// dataRows reads the rows between braces, each in parentheses or not.
func (p *parser) dataRows(v *values, brackets bool) error {
	if err := p.need("{"); err != nil {
		return err
	}
	for !p.isPunct("}") {
		at := p.tok.at
		var row []ttl.Term
		if !brackets {
			t, err := p.dataValue()
			if err != nil {
				return err
			}
			row = append(row, t)
		} else if err := p.dataTuple(&row); err != nil {
			return err
		}
		if len(row) != len(v.vars) {
			return p.fail(at, "a row of VALUES has another number of terms than there are variables")
		}
		v.rows = append(v.rows, row)
	}
	return p.advance()
}

func (p *parser) dataTuple(row *[]ttl.Term) error {
	if err := p.need("("); err != nil {
		return err
	}
	for !p.isPunct(")") {
		t, err := p.dataValue()
		if err != nil {
			return err
		}
		*row = append(*row, t)
	}
	return p.advance()
}

func (p *parser) dataValue() (ttl.Term, error) {
	if p.isWord("UNDEF") {
		return ttl.Term{}, p.advance()
	}
	if p.isIRI() {
		return p.iri()
	}
	if p.isLiteral() {
		return p.literal()
	}
	return ttl.Term{}, p.unexpected("an IRI, a literal or UNDEF")
}
