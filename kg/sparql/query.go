package sparql

import (
	"context"
	"errors"
	"iter"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ttl"
)

// Result is the answer to a query. Of its parts the one of its Kind is set:
// Rows for SELECT, Bool for ASK, Triples for CONSTRUCT and DESCRIBE.
//
// Rows and Triples are evaluated while they are read, on a view of the store
// that is taken when the reading begins and let go of when it ends. They end
// with an error if the context ends, a bound is passed or the store fails; a
// row or triple that comes with an error is none. Each reading evaluates the
// query anew.
type Result struct {
	Kind    Kind
	Vars    []string
	Rows    iter.Seq2[Row, error]
	Bool    bool
	Triples iter.Seq2[ttl.Triple, error]
}

// Run parses a query and evaluates it. The context and Options.Timeout bound
// the evaluation; a text that is not SPARQL is a *SyntaxError.
func Run(ctx context.Context, store *kg.Store, text string, o Options) (*Result, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	q, err := Parse(text, o.parse())
	if err != nil {
		return nil, err
	}
	return q.Eval(ctx, store, o)
}

// Eval evaluates a parsed query.
func (q *Query) Eval(ctx context.Context, store *kg.Store, o Options) (*Result, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	if q.base != "" {
		o.Base = q.base
	}
	if q.body.where.usesService() {
		return nil, errService()
	}
	r := &Result{Kind: q.kind, Vars: q.Vars()}
	switch q.kind {
	case Ask:
		err := q.solutions(ctx, store, o, func(x *exec, p plan, row []kg.ID, _ []int) (err error) {
			r.Bool, err = x.exists(p, row)
			return err
		})
		return r, err
	case Select:
		r.Rows = q.rows(ctx, store, o)
	case Construct:
		r.Triples = q.triples(ctx, store, o, (*exec).construct)
	default:
		r.Triples = q.triples(ctx, store, o, (*exec).describe)
	}
	return r, nil
}

// solutions calls use with the query's plan, compiled for one view.
func (q *Query) solutions(ctx context.Context, store *kg.Store, o Options, use func(x *exec, p plan, row []kg.ID, cols []int) error) error {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	return store.Read(ctx, func(tx *kg.ReadTx) error {
		sc, err := tx.Scanner()
		if err != nil {
			return err
		}
		defer sc.Close()
		x := newExec(ctx, sc, o)
		if x.ds, err = newDataset(x, q.body.dataset); err != nil {
			return err
		}
		c := &compiler{x: x, uses: q.uses}
		x.scope = c.scope()
		p, cols, err := x.scope.query(q.body, graphRef{})
		if err != nil {
			return err
		}
		return use(x, p, make([]kg.ID, x.width), cols)
	})
}

// rows evaluates a SELECT.
func (q *Query) rows(ctx context.Context, store *kg.Store, o Options) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		stop := &stopped{}
		err := q.solutions(ctx, store, o, func(x *exec, p plan, row []kg.ID, cols []int) error {
			n := 0
			return p.run(x, row, func() error {
				if n++; n > o.MaxRows {
					return errRows("solutions", o.MaxRows)
				}
				out := make(Row, len(cols))
				for i, slot := range cols {
					t, err := x.terms.term(row[slot])
					if err != nil {
						return err
					}
					out[i] = t
				}
				if !yield(out, nil) {
					return stop
				}
				return nil
			})
		})
		if err != nil && !errors.Is(err, stop) {
			yield(nil, err)
		}
	}
}

func errRows(what string, most int) error {
	return errs.New(errs.TooLarge, "the result has more than the limit of %d %s", most, what).
		WithHint("ask for a part of it with LIMIT")
}

func errService() error {
	return errs.New(errs.Unsupported, "SERVICE is not supported: a query does not reach out to the network")
}

// usesService reports whether SERVICE stands anywhere in a group.
func (g *group) usesService() bool {
	for _, e := range g.elems {
		if e.kind == elemService || e.sub != nil && e.sub.where.usesService() || e.expr.usesService() {
			return true
		}
		for _, sub := range e.groups {
			if sub.usesService() {
				return true
			}
		}
	}
	return false
}

func (e *expr) usesService() bool {
	if e == nil {
		return false
	}
	if e.group != nil && e.group.usesService() {
		return true
	}
	for _, a := range e.args {
		if a.usesService() {
			return true
		}
	}
	return false
}
