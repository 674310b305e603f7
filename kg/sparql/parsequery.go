package sparql

// query reads a query of any form.
func (p *parser) query() (*selectQuery, error) {
	q := &selectQuery{limit: -1}
	var err error
	switch {
	case p.isWord("SELECT"):
		err = p.selectClause(q)
	case p.isWord("ASK"):
		q.kind = Ask
		err = p.advance()
	case p.isWord("CONSTRUCT"):
		q.kind = Construct
		return q, p.construct(q)
	case p.isWord("DESCRIBE"):
		q.kind = Describe
		err = p.describe(q)
	default:
		return nil, p.unexpected("SELECT, ASK, CONSTRUCT or DESCRIBE")
	}
	if err != nil {
		return nil, err
	}
	if err := p.fromClauses(&q.dataset); err != nil {
		return nil, err
	}
	if q.kind == Describe && !p.isWord("WHERE") && !p.isPunct("{") {
		q.where = &group{}
	} else if err := p.where(q); err != nil {
		return nil, err
	}
	return q, p.tail(q)
}

// subSelect reads SubSelect.
func (p *parser) subSelect() (*selectQuery, error) {
	q := &selectQuery{limit: -1}
	if err := p.selectClause(q); err != nil {
		return nil, err
	}
	if err := p.where(q); err != nil {
		return nil, err
	}
	return q, p.tail(q)
}

// tail reads what follows the pattern, and checks the whole.
func (p *parser) tail(q *selectQuery) error {
	if err := p.modifiers(q); err != nil {
		return err
	}
	if ok, err := p.word("VALUES"); err != nil {
		return err
	} else if ok {
		if q.values, err = p.dataBlock(); err != nil {
			return err
		}
	}
	return p.checkSelect(q)
}

func (p *parser) where(q *selectQuery) (err error) {
	if _, err := p.word("WHERE"); err != nil {
		return err
	}
	agg := p.agg
	p.agg = false
	q.where, err = p.group()
	p.agg = agg
	return err
}

func (p *parser) selectClause(q *selectQuery) (err error) {
	if err := p.advance(); err != nil {
		return err
	}
	if q.distinct, err = p.word("DISTINCT"); err != nil {
		return err
	}
	if !q.distinct {
		if q.reduced, err = p.word("REDUCED"); err != nil {
			return err
		}
	}
	if q.star, err = p.punct("*"); err != nil || q.star {
		return err
	}
	for p.tok.kind == tokVar || p.isPunct("(") {
		pr, err := p.projection(true)
		if err != nil {
			return err
		}
		q.project = append(q.project, pr)
	}
	if len(q.project) == 0 {
		return p.unexpected("a variable, '(' or '*'")
	}
	return nil
}

// projection reads a variable or "(expression AS variable)"; aggregates are
// let in if agg says so, and the AS is needed then.
func (p *parser) projection(agg bool) (pr projection, err error) {
	pr.at = p.tok.at
	if p.tok.kind == tokVar {
		n, err := p.varNode()
		pr.name = n.name
		return pr, err
	}
	if err := p.need("("); err != nil {
		return pr, err
	}
	p.agg = agg
	pr.expr, err = p.expression()
	p.agg = false
	if err != nil {
		return pr, err
	}
	if agg || p.isWord("AS") {
		if err := p.needWord("AS"); err != nil {
			return pr, err
		}
		n, err := p.varNode()
		if err != nil {
			return pr, err
		}
		pr.name = n.name
	}
	return pr, p.need(")")
}

func (p *parser) fromClauses(d *datasetClause) error {
	for p.isWord("FROM") {
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
			d.named = append(d.named, iri)
		} else {
			d.from = append(d.from, iri)
		}
	}
	return nil
}

func (p *parser) describe(q *selectQuery) error {
	if err := p.advance(); err != nil {
		return err
	}
	star, err := p.punct("*")
	if err != nil || star {
		q.star = true
		return err
	}
	for p.tok.kind == tokVar || p.isIRI() {
		n, err := p.varOrIRI()
		if err != nil {
			return err
		}
		q.describe = append(q.describe, n)
	}
	if len(q.describe) == 0 {
		return p.unexpected("a variable, an IRI or '*'")
	}
	return nil
}

// construct reads the rest of a CONSTRUCT, in its long or its short form.
func (p *parser) construct(q *selectQuery) (err error) {
	if err := p.advance(); err != nil {
		return err
	}
	short := !p.isPunct("{")
	if !short {
		if err := p.ownLabels(func() (err error) { q.template, err = p.template(); return err }); err != nil {
			return err
		}
	}
	if err := p.fromClauses(&q.dataset); err != nil {
		return err
	}
	if !short {
		if err := p.where(q); err != nil {
			return err
		}
		return p.tail(q)
	}
	if err := p.needWord("WHERE"); err != nil {
		return err
	}
	p.newPattern()
	if q.template, err = p.template(); err != nil {
		return err
	}
	q.where = &group{}
	q.where.add(elem{kind: elemTriples, triples: q.template})
	return p.tail(q)
}

// ownLabels reads a template, whose blank nodes are not those of the patterns.
func (p *parser) ownLabels(read func() error) error {
	labels := p.labels
	p.labels = map[string]int{}
	err := read()
	p.labels = labels
	return err
}

// template reads '{' triples without paths '}'.
func (p *parser) template() (found []triplePat, err error) {
	if err := p.need("{"); err != nil {
		return nil, err
	}
	err = p.triplesBlock(false, func(t triplePat) error {
		found = append(found, t)
		return p.part()
	})
	if err != nil {
		return nil, err
	}
	return found, p.need("}")
}
