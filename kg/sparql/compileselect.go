package sparql

import "strconv"

// subselect translates a subquery. Only the variables that it projects are
// those of the query around it.
func (s *scope) subselect(q *selectQuery, at graphRef) (plan, error) {
	inner := s.c.scope()
	for _, name := range q.columns() {
		slot, err := s.slot(name)
		if err != nil {
			return nil, err
		}
		inner.slots[name] = slot
	}
	p, _, err := inner.query(q, at)
	return p, err
}

// query translates a query's pattern and modifiers (section 18.2.4) and returns
// the slots of its columns.
func (s *scope) query(q *selectQuery, at graphRef) (plan, []int, error) {
	p, err := s.group(q.where, at)
	if err != nil {
		return nil, nil, err
	}
	project, orders := q.project, q.orderBy
	if q.aggregated() {
		if p, project, orders, err = s.grouped(p, q, at); err != nil {
			return nil, nil, err
		}
	}
	if q.values != nil {
		v, err := s.values(q.values)
		if err != nil {
			return nil, nil, err
		}
		p = newJoin(p, v)
	}
	for _, c := range project {
		if c.expr == nil {
			continue
		}
		if p, err = s.extend(p, c, at); err != nil {
			return nil, nil, err
		}
	}
	var cols []int
	for _, name := range q.columns() {
		slot, err := s.slot(name)
		if err != nil {
			return nil, nil, err
		}
		cols = append(cols, slot)
	}
	if q.kind != Select { // templates and DESCRIBE see every variable
		cols = p.facts().possible.list()
	}
	p, err = s.modified(p, q, orders, cols, at)
	return p, cols, err
}

func (s *scope) extend(p plan, c projection, at graphRef) (plan, error) {
	slot, err := s.slot(c.name)
	if err != nil {
		return nil, err
	}
	e, err := s.expr(c.expr, at)
	if err != nil {
		return nil, err
	}
	return newExtend(p, slot, e), nil
}

// modified adds ORDER BY, the projection, DISTINCT, OFFSET and LIMIT.
func (s *scope) modified(p plan, q *selectQuery, orders []orderKey, cols []int, at graphRef) (plan, error) {
	all := p.facts().mentions.with(cols...)
	visible := p.facts().possible.common(slotsOf(cols...))
	f := &varFacts{certain: p.facts().certain.common(visible), possible: visible, mentions: all}
	if len(orders) > 0 {
		o := &planOrder{varFacts: f, in: p, keep: cols, top: -1}
		if q.limit >= 0 && !q.distinct {
			o.top = q.limit + q.offset
		}
		for _, k := range orders {
			e, err := s.expr(k.expr, at)
			if err != nil {
				return nil, err
			}
			f.mentions = f.mentions.union(e.mentions())
			o.keys = append(o.keys, orderKey{expr: e, desc: k.desc})
		}
		p = o
	} else {
		p = &planProject{varFacts: f, in: p, slots: cols}
	}
	if q.distinct {
		p = &planDistinct{varFacts: f, in: p, slots: cols}
	}
	if q.limit >= 0 || q.offset > 0 {
		p = &planSlice{varFacts: f, in: p, offset: q.offset, limit: q.limit}
	}
	return p, nil
}

// grouped translates GROUP BY, the aggregates and HAVING. It returns the
// columns and orders with the aggregates replaced by variables.
func (s *scope) grouped(p plan, q *selectQuery, at graphRef) (plan, []projection, []orderKey, error) {
	g := &planGroup{in: p}
	r := &replacer{s: s, at: at, group: g}
	var bound slotSet
	mentions := p.facts().mentions
	for _, k := range q.groupBy {
		key, err := s.groupKey(k, at)
		if err != nil {
			return nil, nil, nil, err
		}
		if key.expr != nil {
			mentions = mentions.union(key.expr.mentions())
		}
		g.keys = append(g.keys, key)
		bound = bound.with(key.slot)
	}
	project := append([]projection(nil), q.project...)
	for i := range project {
		project[i].expr = r.replace(project[i].expr)
	}
	orders := append([]orderKey(nil), q.orderBy...)
	for i := range orders {
		orders[i].expr = r.replace(orders[i].expr)
	}
	having := make([]*expr, len(q.having))
	for i, e := range q.having {
		having[i] = r.replace(e)
	}
	if r.err != nil {
		return nil, nil, nil, r.err
	}
	for _, a := range g.aggs {
		bound = bound.with(a.slot)
		mentions = mentions.union(a.expr.mentions())
	}
	g.varFacts = &varFacts{possible: bound, mentions: mentions.union(bound)}
	out, err := s.havingOver(g, having, at)
	return out, project, orders, err
}

func (s *scope) havingOver(p plan, having []*expr, at graphRef) (plan, error) {
	var conds []*filter
	for _, e := range having {
		f, err := s.filter(e, at)
		if err != nil {
			return nil, err
		}
		conds = append(conds, f)
	}
	return filtered(p, conds), nil
}

func (s *scope) groupKey(k projection, at graphRef) (groupKey, error) {
	if k.expr == nil {
		slot, err := s.slot(k.name)
		return groupKey{slot: slot}, err
	}
	e, err := s.expr(k.expr, at)
	if err != nil {
		return groupKey{}, err
	}
	if k.name != "" {
		slot, err := s.slot(k.name)
		return groupKey{expr: e, slot: slot}, err
	}
	slot, err := s.c.fresh()
	return groupKey{expr: e, slot: slot}, err
}

// replacer takes the aggregates out of expressions and puts variables in.
type replacer struct {
	s     *scope
	at    graphRef
	group *planGroup
	err   error
}

func (r *replacer) replace(e *expr) *expr {
	if e == nil || r.err != nil || !e.hasAggregate() {
		return e
	}
	out := *e
	out.args = make([]*expr, len(e.args))
	if e.op != exAggregate {
		for i, a := range e.args {
			out.args[i] = r.replace(a)
		}
		return &out
	}
	for i, a := range e.args {
		if out.args[i], r.err = r.s.expr(a, r.at); r.err != nil {
			return nil
		}
	}
	name := blankMark + "agg" + strconv.Itoa(len(r.group.aggs)) + "#" + strconv.Itoa(r.s.c.x.width)
	slot, err := r.s.slot(name)
	r.err = err
	r.group.aggs = append(r.group.aggs, &aggregate{expr: &out, slot: slot})
	return &expr{op: exVar, name: name}
}
