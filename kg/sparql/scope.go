package sparql

// add appends an element and brings its variables into scope.
func (g *group) add(e elem) {
	g.elems = append(g.elems, e)
	switch e.kind {
	case elemTriples:
		for _, t := range e.triples {
			g.see(t.s)
			g.see(t.p)
			g.see(t.o)
		}
	case elemOptional, elemUnion, elemGraph, elemService:
		g.see(e.graph)
		for _, sub := range e.groups {
			g.seeAll(sub.vars)
		}
	case elemBind:
		g.see(variable(e.name))
	case elemValues:
		g.seeAll(e.values.vars)
	case elemSelect:
		g.seeAll(e.sub.columns())
	case elemFilter, elemMinus: // what they name is not in scope
	}
}

func (g *group) seeAll(names []string) {
	for _, n := range names {
		g.see(variable(n))
	}
}

func (g *group) see(n node) {
	if !n.isUserVar() || g.has[n.name] {
		return
	}
	if g.has == nil {
		g.has = map[string]bool{}
	}
	g.has[n.name] = true
	g.vars = append(g.vars, n.name)
}

// checkSelect applies the rules on variables that the grammar's notes and
// section 18.2.4 make.
func (p *parser) checkSelect(q *selectQuery) error {
	if q.star && q.kind == Select && q.values != nil {
		q.where.seeAll(q.values.vars) // SELECT * shows them too
	}
	keys := map[string]bool{}
	for _, k := range q.groupBy {
		if k.expr != nil && k.name != "" && q.where.has[k.name] {
			return p.fail(k.at, "the variable ?"+k.name+" is used in the pattern before GROUP BY names it")
		}
		keys[k.name] = true
	}
	grouped := q.aggregated()
	if grouped && q.star && q.kind == Select {
		return p.fail(p.tok.at, "SELECT * cannot stand with GROUP BY or an aggregate")
	}
	named := map[string]bool{}
	for _, c := range q.project {
		if err := p.checkColumn(q, c, named); err != nil {
			return err
		}
		if grouped {
			if name := ungrouped(c, keys); name != "" {
				return p.fail(c.at, "the variable ?"+name+" is neither grouped by nor inside an aggregate")
			}
		}
		if c.expr != nil {
			keys[c.name] = true
		}
		named[c.name] = true
	}
	return nil
}

// checkColumn refuses to name a column like a variable that there is.
func (p *parser) checkColumn(q *selectQuery, c projection, named map[string]bool) error {
	if c.expr == nil {
		return nil
	}
	if q.where.has[c.name] || named[c.name] {
		return p.fail(c.at, "the variable ?"+c.name+" is in use before AS names it")
	}
	for _, k := range q.groupBy {
		if k.name == c.name {
			return p.fail(c.at, "the variable ?"+c.name+" is in use before AS names it")
		}
	}
	return nil
}

// ungrouped returns a variable of a column that the groups do not fix.
func ungrouped(c projection, keys map[string]bool) string {
	if c.expr == nil {
		if keys[c.name] {
			return ""
		}
		return c.name
	}
	return ungroupedIn(c.expr, keys)
}

func ungroupedIn(e *expr, keys map[string]bool) string {
	if e.op == exAggregate {
		return ""
	}
	if e.op == exVar && !keys[e.name] {
		return e.name
	}
	for _, a := range e.args {
		if n := ungroupedIn(a, keys); n != "" {
			return n
		}
	}
	return ""
}
