package banyan

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg/sparql"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// QueryKind is the form of a SPARQL query.
type QueryKind = sparql.Kind

// The forms of queries.
const (
	QuerySelect    = sparql.Select    // rows
	QueryAsk       = sparql.Ask       // true or false
	QueryConstruct = sparql.Construct // triples
	QueryDescribe  = sparql.Describe  // triples
)

// QueryOptions name a query's dataset and narrow its bounds. A field of zero
// takes the engine's own bound, which none can go beyond.
type QueryOptions struct {
	// Base is what relative IRIs are resolved against until the text has BASE.
	Base string
	// DefaultGraphs and NamedGraphs are the dataset of the protocol; if either
	// is given, they stand in place of the text's FROM.
	DefaultGraphs, NamedGraphs []ontology.IRI
	// StandardDataset makes the unnamed graph the default graph; without it the
	// default graph is the union of all graphs.
	StandardDataset bool
	// Timeout bounds the evaluation, the time its caller takes to read included.
	Timeout time.Duration
	// MaxRows bounds the rows or triples; more are an error, never cut off.
	MaxRows int
}

// QueryResult is the answer to a query. Of Rows, Bool and Triples the one of
// its Kind is set.
//
// Rows and Triples are evaluated while they are read, on one view of the store.
// A reading takes one of the engine's places for queries when it begins and
// gives it back when it ends. It ends with an error if the context given to
// Query ends, a bound is passed, no place comes free (Exhausted) or the store
// fails; what was read until then is not the answer. Reading again evaluates
// again. A row has a term for each of Vars, of Kind None where it is unbound.
type QueryResult struct {
	Kind    QueryKind
	Vars    []string
	Rows    iter.Seq2[[]ttl.Term, error]
	Bool    bool
	Triples iter.Seq2[ttl.Triple, error]
}

// Query parses a SPARQL 1.1 query and evaluates it. A text that is not SPARQL
// is Invalid, with a part that says line and column; SERVICE is Unsupported.
func (e *Engine) Query(ctx context.Context, text string, o QueryOptions) (*QueryResult, error) {
	if e.closing.Load() {
		return nil, errClosing()
	}
	q, err := sparql.Parse(text, sparql.ParseOptions{Base: o.Base})
	if err != nil {
		return nil, syntax(err)
	}
	so := e.queryBounds(o)
	if q.Kind() == QueryAsk {
		return e.ask(ctx, q, so)
	}
	// Nothing runs yet: the iterators do, when they are read.
	res, err := q.Eval(ctx, e.store, so)
	if err != nil {
		return nil, err
	}
	out := &QueryResult{Kind: res.Kind, Vars: res.Vars}
	if res.Kind == QuerySelect {
		out.Rows = reading(ctx, e, func(ctx context.Context) (iter.Seq2[[]ttl.Term, error], error) {
			res, err := q.Eval(ctx, e.store, so)
			if err != nil {
				return nil, err
			}
			return func(yield func([]ttl.Term, error) bool) {
				for row, err := range res.Rows {
					if !yield(row, err) {
						return
					}
				}
			}, nil
		})
		return out, nil
	}
	out.Triples = reading(ctx, e, func(ctx context.Context) (iter.Seq2[ttl.Triple, error], error) {
		res, err := q.Eval(ctx, e.store, so)
		if err != nil {
			return nil, err
		}
		return res.Triples, nil
	})
	return out, nil
}

// ask evaluates an ASK at once.
func (e *Engine) ask(ctx context.Context, q *sparql.Query, so sparql.Options) (*QueryResult, error) {
	ctx, leave, err := e.enterQuery(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	res, err := q.Eval(ctx, e.store, so)
	if err != nil {
		return nil, e.cutOff(ctx, err)
	}
	return &QueryResult{Kind: res.Kind, Bool: res.Bool}, nil
}

// reading yields what eval gives, within a place for queries.
func reading[T any](ctx context.Context, e *Engine, eval func(context.Context) (iter.Seq2[T, error], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		ctx, leave, err := e.enterQuery(ctx)
		if err != nil {
			yield(none, err)
			return
		}
		defer leave()
		seq, err := eval(ctx)
		if err != nil {
			yield(none, err)
			return
		}
		for v, err := range seq {
			if err != nil {
				yield(none, e.cutOff(ctx, err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

// enterQuery takes a place for a query. The context that it returns ends with
// the engine as well.
func (e *Engine) enterQuery(ctx context.Context) (context.Context, func(), error) {
	if e.closing.Load() {
		return nil, nil, errClosing()
	}
	leave, err := e.queries.enter(ctx)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(e.life, func() { cancel(errEngineClosed) })
	return ctx, func() {
		unhook()
		cancel(nil)
		leave()
	}, nil
}

// errEngineClosed is the cause of the end of what the engine's Close cut off.
var errEngineClosed = errors.New("the engine was closed")

// cutOff tells a query that Close ended from one whose caller went away.
func (e *Engine) cutOff(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errEngineClosed) {
		return errClosing()
	}
	return err
}

// queryBounds are the options of a query within the engine's bounds.
func (e *Engine) queryBounds(o QueryOptions) sparql.Options {
	return sparql.Options{
		Base: o.Base, DefaultGraphs: o.DefaultGraphs, NamedGraphs: o.NamedGraphs, StandardDataset: o.StandardDataset,
		Timeout: within(o.Timeout, e.cfg.QueryTimeout), MaxRows: within(o.MaxRows, e.cfg.MaxQueryRows), MaxMemory: e.cfg.MaxQueryMemory,
	}
}

// within returns what is asked for, or most if nothing or too much is.
func within[T int | time.Duration](asked, most T) T {
	if asked <= 0 || asked > most {
		return most
	}
	return asked
}

// syntax classifies what a parser returned, so that the part with the place is
// found by those who look for the classified form only.
func syntax(err error) error {
	var se *sparql.SyntaxError
	var classified *errs.Error
	if errors.As(err, &se) && errors.As(se.Unwrap(), &classified) {
		return classified
	}
	return err
}
