package sparql

import "strconv"

// modifiers reads SolutionModifier.
func (p *parser) modifiers(q *selectQuery) error {
	for _, m := range [...]struct {
		word string
		read func(*selectQuery) error
	}{{"GROUP", p.groupBy}, {"HAVING", p.having}, {"ORDER", p.orderBy}} {
		if ok, err := p.word(m.word); err != nil {
			return err
		} else if ok {
			if err := m.read(q); err != nil {
				return err
			}
		}
	}
	for range 2 {
		if ok, err := p.word("LIMIT"); err != nil {
			return err
		} else if ok && q.limit < 0 {
			if q.limit, err = p.count(); err != nil {
				return err
			}
		}
		if ok, err := p.word("OFFSET"); err != nil {
			return err
		} else if ok {
			if q.offset, err = p.count(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *parser) count() (int64, error) {
	if p.tok.kind != tokInteger {
		return 0, p.unexpected("a number")
	}
	n, err := strconv.ParseInt(p.tok.text, 10, 64)
	if err != nil {
		return 0, p.fail(p.tok.at, "the number is too large")
	}
	return n, p.advance()
}

func (p *parser) groupBy(q *selectQuery) error {
	if err := p.needWord("BY"); err != nil {
		return err
	}
	for p.tok.kind == tokVar || p.isPunct("(") || p.startsCall() {
		pr := projection{at: p.tok.at}
		var err error
		if p.tok.kind == tokVar || p.isPunct("(") {
			pr, err = p.projection(false)
		} else {
			pr.expr, err = p.constraint()
		}
		if err != nil {
			return err
		}
		q.groupBy = append(q.groupBy, pr)
	}
	if len(q.groupBy) == 0 {
		return p.unexpected("a condition to group by")
	}
	return nil
}

// startsCall reports whether a function call is next, and no keyword that ends
// a clause.
func (p *parser) startsCall() bool {
	if p.isIRI() {
		return true
	}
	for _, w := range [...]string{"HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES", "ASC", "DESC"} {
		if p.isWord(w) {
			return false
		}
	}
	return p.tok.kind == tokWord
}

func (p *parser) having(q *selectQuery) error {
	p.agg = true
	defer func() { p.agg = false }()
	for p.isPunct("(") || p.startsCall() {
		e, err := p.constraint()
		if err != nil {
			return err
		}
		q.having = append(q.having, e)
	}
	if len(q.having) == 0 {
		return p.unexpected("a condition")
	}
	return nil
}

func (p *parser) orderBy(q *selectQuery) error {
	if err := p.needWord("BY"); err != nil {
		return err
	}
	p.agg = true
	defer func() { p.agg = false }()
	for {
		var k orderKey
		var err error
		switch {
		case p.isWord("ASC"), p.isWord("DESC"):
			k.desc = p.isWord("DESC")
			if err = p.advance(); err == nil && !p.isPunct("(") {
				err = p.unexpected("'('")
			}
			if err == nil {
				k.expr, err = p.primary()
			}
		case p.tok.kind == tokVar:
			k.expr, err = p.primary()
		case p.isPunct("(") || p.startsCall():
			k.expr, err = p.constraint()
		case len(q.orderBy) == 0:
			return p.unexpected("a condition to order by")
		default:
			return nil
		}
		if err != nil {
			return err
		}
		q.orderBy = append(q.orderBy, k)
	}
}
