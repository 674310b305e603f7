package sparql

import (
	"slices"
	"strconv"
	"strings"
)

// aggregates are the set functions.
var aggregates = []string{"COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"}

// call reads a built-in call.
func (p *parser) call() (*expr, error) {
	name, at := strings.ToUpper(p.tok.text), p.tok.at
	switch name {
	case "NOT", "EXISTS":
		return p.exists()
	}
	if slices.Contains(aggregates, name) {
		return p.aggregate(name)
	}
	f, ok := builtins[name]
	if !ok {
		return nil, p.fail(at, quote(p.tok.text)+" is no function")
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if name == "BOUND" {
		return p.bound()
	}
	args, err := p.exprList()
	if err != nil {
		return nil, err
	}
	if len(args) < f.min || len(args) > f.max {
		return nil, p.fail(at, name+" takes "+arity(f.min, f.max)+", not "+strconv.Itoa(len(args)))
	}
	return &expr{op: exCall, name: name, args: args}, nil
}

func arity(low, high int) string {
	switch {
	case low == high && low == 1:
		return "1 argument"
	case low == high:
		return strconv.Itoa(low) + " arguments"
	case high == anyArgs:
		return strconv.Itoa(low) + " or more arguments"
	}
	return strconv.Itoa(low) + " to " + strconv.Itoa(high) + " arguments"
}

func (p *parser) bound() (*expr, error) {
	if err := p.need("("); err != nil {
		return nil, err
	}
	n, err := p.varNode()
	if err != nil {
		return nil, err
	}
	return &expr{op: exCall, name: "BOUND", args: []*expr{{op: exVar, name: n.name}}}, p.need(")")
}

func (p *parser) exists() (*expr, error) {
	e := &expr{op: exExists}
	not, err := p.word("NOT")
	if err != nil {
		return nil, err
	}
	if not {
		e.op = exNotExists
	}
	if err := p.needWord("EXISTS"); err != nil {
		return nil, err
	}
	agg := p.agg
	p.agg = false
	e.group, err = p.group()
	p.agg = agg
	return e, err
}

// aggregate reads a set function.
func (p *parser) aggregate(name string) (*expr, error) {
	if !p.agg {
		return nil, p.fail(p.tok.at, name+" cannot stand here: aggregates belong into SELECT, HAVING and ORDER BY, and not into one another")
	}
	p.agg = false
	defer func() { p.agg = true }()
	e := &expr{op: exAggregate, name: name, sep: " "}
	err := p.advance()
	if err != nil {
		return nil, err
	}
	if err := p.need("("); err != nil {
		return nil, err
	}
	if e.distinct, err = p.word("DISTINCT"); err != nil {
		return nil, err
	}
	if name == "COUNT" && p.isPunct("*") {
		e.star = true
		if err := p.advance(); err != nil {
			return nil, err
		}
		return e, p.need(")")
	}
	arg, err := p.expression()
	if err != nil {
		return nil, err
	}
	e.args = []*expr{arg}
	if name == "GROUP_CONCAT" {
		if err := p.separator(e); err != nil {
			return nil, err
		}
	}
	return e, p.need(")")
}

// separator reads "; SEPARATOR = string" if it is there.
func (p *parser) separator(e *expr) error {
	if ok, err := p.punct(";"); err != nil || !ok {
		return err
	}
	if err := p.needWord("SEPARATOR"); err != nil {
		return err
	}
	if err := p.need("="); err != nil {
		return err
	}
	if p.tok.kind != tokString {
		return p.unexpected("a string")
	}
	e.sep = p.tok.text
	return p.advance()
}
