package sparql

// constraint reads Constraint: what stands behind FILTER or HAVING.
func (p *parser) constraint() (*expr, error) {
	if p.isPunct("(") || p.isIRI() || p.tok.kind == tokWord && !p.isWord("true") && !p.isWord("false") {
		return p.primary()
	}
	return nil, p.unexpected("a function call or an expression in parentheses")
}

// expression reads Expression: ConditionalOrExpression.
func (p *parser) expression() (*expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	return p.chain(exOr, "||", func() (*expr, error) { return p.chain(exAnd, "&&", p.relational) })
}

// chain reads operands with one operator between them as one expression.
func (p *parser) chain(op exprOp, sign string, operand func() (*expr, error)) (*expr, error) {
	first, err := operand()
	if err != nil || !p.isPunct(sign) {
		return first, err
	}
	all := &expr{op: op, args: []*expr{first}}
	for p.isPunct(sign) {
		if err := p.advance(); err != nil {
			return nil, err
		}
		next, err := operand()
		if err != nil {
			return nil, err
		}
		all.args = append(all.args, next)
	}
	return all, nil
}

func (p *parser) relational() (*expr, error) {
	left, err := p.additive()
	if err != nil {
		return nil, err
	}
	switch {
	case p.tok.kind == tokPunct:
		switch p.tok.text {
		case "=", "!=", "<", ">", "<=", ">=":
			e := &expr{op: exCompare, name: p.tok.text}
			if err := p.advance(); err != nil {
				return nil, err
			}
			right, err := p.additive()
			e.args = []*expr{left, right}
			return e, err
		}
	case p.isWord("IN"):
		return p.inList(&expr{op: exIn, args: []*expr{left}})
	case p.isWord("NOT"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		if !p.isWord("IN") {
			return nil, p.unexpected("IN")
		}
		return p.inList(&expr{op: exNotIn, args: []*expr{left}})
	}
	return left, nil
}

func (p *parser) inList(e *expr) (*expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	list, err := p.exprList()
	e.args = append(e.args, list...)
	return e, err
}

// additive and multiplicative build to the left, as the operators group. The
// number of parts bounds how deep that goes.
func (p *parser) additive() (*expr, error) { return p.binary(p.multiplicative, "+", "-") }

func (p *parser) multiplicative() (*expr, error) { return p.binary(p.unary, "*", "/") }

func (p *parser) binary(operand func() (*expr, error), signs ...string) (*expr, error) {
	left, err := operand()
	for err == nil && (p.isPunct(signs[0]) || p.isPunct(signs[1])) {
		e := &expr{op: exArith, name: p.tok.text}
		if err := p.advance(); err != nil {
			return nil, err
		}
		var right *expr
		right, err = operand()
		e.args = []*expr{left, right}
		left = e
	}
	return left, err
}

func (p *parser) unary() (*expr, error) {
	op, ok := map[string]exprOp{"!": exNot, "-": exNegate, "+": exPlus}[p.tok.text]
	if p.tok.kind != tokPunct || !ok || p.signed() {
		return p.primary()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	if err := p.advance(); err != nil {
		return nil, err
	}
	operand := p.unary
	if op != exNot {
		operand = p.primary
	}
	arg, err := operand()
	return &expr{op: op, args: []*expr{arg}}, err
}

// primary reads PrimaryExpression.
func (p *parser) primary() (*expr, error) {
	if err := p.part(); err != nil {
		return nil, err
	}
	switch {
	case p.isPunct("("):
		if err := p.advance(); err != nil {
			return nil, err
		}
		e, err := p.expression()
		if err != nil {
			return nil, err
		}
		return e, p.need(")")
	case p.tok.kind == tokVar:
		n, err := p.varNode()
		return &expr{op: exVar, name: n.name}, err
	case p.isLiteral():
		t, err := p.literal()
		return &expr{op: exConst, term: t}, err
	case p.isIRI():
		return p.iriOrFunction()
	case p.tok.kind == tokWord:
		return p.call()
	}
	return nil, p.unexpected("an expression")
}

func (p *parser) iriOrFunction() (*expr, error) {
	iri, err := p.iri()
	if err != nil || !p.isPunct("(") {
		return &expr{op: exConst, term: iri}, err
	}
	e := &expr{op: exCast, name: iri.Value}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if e.distinct, err = p.word("DISTINCT"); err != nil {
		return nil, err
	}
	if e.distinct {
		return nil, p.unexpected("an argument without DISTINCT (there are no custom aggregates)")
	}
	e.args, err = p.argsBehind()
	return e, err
}

// exprList reads ExpressionList: '(' arguments ')'.
func (p *parser) exprList() ([]*expr, error) {
	if err := p.need("("); err != nil {
		return nil, err
	}
	return p.argsBehind()
}

// argsBehind reads arguments up to and with the ')'.
func (p *parser) argsBehind() (args []*expr, err error) {
	if ok, err := p.punct(")"); err != nil || ok {
		return nil, err
	}
	for {
		e, err := p.expression()
		if err != nil {
			return nil, err
		}
		args = append(args, e)
		if ok, err := p.punct(","); err != nil {
			return nil, err
		} else if !ok {
			return args, p.need(")")
		}
	}
}
