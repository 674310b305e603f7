package sparql

// usingWhere reads USING clauses and WHERE.
func (p *parser) usingWhere(op *updateOp) error {
	for p.isWord("USING") {
		if err := p.advance(); err != nil {
			return err
		}
		named, err := p.word("NAMED")
		if err != nil {
			return err
		}
		iri, err := p.iri()
		if err != nil {
			return err
		}
		if named {
			op.using.named = append(op.using.named, iri)
		} else {
			op.using.from = append(op.using.from, iri)
		}
	}
	if err := p.needWord("WHERE"); err != nil {
		return err
	}
	p.newPattern()
	var err error
	op.where, err = p.group()
	return err
}

// quads reads '{' triples and GRAPH blocks '}'.
func (p *parser) quads() (found []quadPat, err error) {
	if err := p.need("{"); err != nil {
		return nil, err
	}
	var g node
	named := false
	add := func(t triplePat) error {
		found = append(found, quadPat{triplePat: t, g: g, named: named})
		if p.data {
			return nil
		}
		return p.part()
	}
	for {
		if err := p.triplesBlock(false, add); err != nil {
			return nil, err
		}
		if ok, err := p.word("GRAPH"); err != nil {
			return nil, err
		} else if !ok {
			return found, p.need("}")
		}
		if g, err = p.varOrIRI(); err != nil {
			return nil, err
		}
		named = true
		if err := p.need("{"); err != nil {
			return nil, err
		}
		if err := p.triplesBlock(false, add); err != nil {
			return nil, err
		}
		g, named = node{}, false
		if err := p.need("}"); err != nil {
			return nil, err
		}
		if _, err := p.punct("."); err != nil {
			return nil, err
		}
	}
}

// quadsAsGroup is the pattern of DELETE WHERE, which is also its template.
func quadsAsGroup(qs []quadPat) *group {
	g := &group{}
	for _, q := range qs {
		e := elem{kind: elemTriples, triples: []triplePat{q.triplePat}}
		if q.named {
			inner := &group{}
			inner.add(e)
			e = elem{kind: elemGraph, graph: q.g, groups: []*group{inner}}
		}
		g.add(e)
	}
	return g
}
