package sparql

import "github.com/seed-ff860830/banyan/ttl"

// path reads PathAlternative.
func (p *parser) path() (*path, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	return p.pathOf(pathAlt, "|", func() (*path, error) { return p.pathOf(pathSeq, "/", p.pathElt) })
}

// pathOf reads operands with an operator between them.
func (p *parser) pathOf(op pathOp, sign string, operand func() (*path, error)) (*path, error) {
	first, err := operand()
	if err != nil || !p.isPunct(sign) {
		return first, err
	}
	all := &path{op: op, args: []*path{first}}
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

// pathElt reads PathEltOrInverse.
func (p *parser) pathElt() (*path, error) {
	if err := p.part(); err != nil {
		return nil, err
	}
	inverse, err := p.punct("^")
	if err != nil {
		return nil, err
	}
	pa, err := p.pathPrimary()
	if err != nil {
		return nil, err
	}
	for sign, op := range map[string]pathOp{"*": pathZeroOrMore, "+": pathOneOrMore, "?": pathZeroOrOne} {
		if p.isPunct(sign) && !(sign == "+" && p.signed()) {
			if err := p.advance(); err != nil {
				return nil, err
			}
			pa = &path{op: op, args: []*path{pa}}
			break
		}
	}
	if inverse {
		pa = &path{op: pathInverse, args: []*path{pa}}
	}
	return pa, nil
}

func (p *parser) pathPrimary() (*path, error) {
	switch {
	case p.isPunct("("):
		if err := p.advance(); err != nil {
			return nil, err
		}
		pa, err := p.path()
		if err != nil {
			return nil, err
		}
		return pa, p.need(")")
	case p.isPunct("!"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		return p.negatedSet()
	}
	link, err := p.pathLink()
	return &path{op: pathLink, link: link}, err
}

// pathLink reads an IRI or 'a'.
func (p *parser) pathLink() (ttl.Term, error) {
	if p.tok.kind == tokWord && p.tok.text == "a" {
		return ttl.NewIRI(ttl.RDFType), p.advance()
	}
	return p.iri()
}

// negatedSet reads PathNegatedPropertySet behind its '!'.
func (p *parser) negatedSet() (*path, error) {
	neg := &path{op: pathNegated}
	several, err := p.punct("(")
	if err != nil {
		return nil, err
	}
	if several {
		if empty, err := p.punct(")"); err != nil || empty {
			neg.hasFwd = true
			return neg, err
		}
	}
	for {
		if err := p.negatedOne(neg); err != nil {
			return nil, err
		}
		if !several {
			return neg, nil
		}
		if more, err := p.punct("|"); err != nil {
			return nil, err
		} else if !more {
			return neg, p.need(")")
		}
	}
}

func (p *parser) negatedOne(neg *path) error {
	if err := p.part(); err != nil {
		return err
	}
	inverse, err := p.punct("^")
	if err != nil {
		return err
	}
	link, err := p.pathLink()
	if inverse {
		neg.inv, neg.hasInv = append(neg.inv, link), true
	} else {
		neg.fwd, neg.hasFwd = append(neg.fwd, link), true
	}
	return err
}
