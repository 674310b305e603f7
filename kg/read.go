package kg

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// ReadTx is a view of the store at one commit. It is valid inside the function
// it was handed to, and for one goroutine.
type ReadTx struct {
	reader
	meta meta
}

// graphLookup is the graph table as a reader sees it.
type graphLookup interface {
	numberOf(term ID) (ID, bool)
	nameOf(num ID) (ID, bool)
}

// reader is what reading needs, within a view or within a transaction.
type reader struct {
	ctx    context.Context //nolint:containedctx // a reader lives for one call
	s      *Store
	txn    *badger.Txn
	graphs graphLookup
	yields bool // its scans end when the store begins to close
}

// Read calls fn with a view of the store as the last commit left it. The view
// does not change while fn runs, and holds no writer up.
func (s *Store) Read(ctx context.Context, fn func(*ReadTx) error) error {
	if err := ctx.Err(); err != nil {
		return storeErr("read", err)
	}
	if !s.enter() {
		return errClosed("read")
	}
	defer s.leave()
	return s.readInside(ctx, func(r *ReadTx) error {
		r.yields = true
		return fn(r)
	})
}

// readInside is Read for a caller that the store waits for already when it
// closes.
func (s *Store) readInside(ctx context.Context, fn func(*ReadTx) error) error {
	txn := s.db.NewTransaction(false)
	defer txn.Discard()
	r, err := s.view(ctx, txn)
	if err != nil {
		return err
	}
	return fn(r)
}

// view makes a ReadTx of a Badger transaction. The graph table in memory is
// used if it is the one of this transaction, else the table is read.
func (s *Store) view(ctx context.Context, txn *badger.Txn) (*ReadTx, error) {
	m, ok, err := readMeta(txn)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errLost("the store has lost its own record of itself")
	}
	table := s.table.Load()
	if table.version != m.graphs {
		if table, _, err = loadGraphs(txn, m.graphs); err != nil {
			return nil, err
		}
	}
	return &ReadTx{reader: reader{ctx: ctx, s: s, txn: txn, graphs: table}, meta: m}, nil
}

// Match returns the quads that fit a pattern, in which a zero term is a
// wildcard; so a zero G is any graph, and DefaultGraph the unnamed one. A
// triple that stands in several graphs comes once for each, one after the
// other if no graph is asked for. The loop ends with an error if the context
// ends, the store closes or is damaged.
func (s *Store) Match(ctx context.Context, pattern ttl.Quad) iter.Seq2[ttl.Quad, error] {
	return func(yield func(ttl.Quad, error) bool) {
		stopped := errors.New("stopped")
		err := s.Read(ctx, func(r *ReadTx) error {
			for q, err := range r.Match(pattern) {
				if err != nil {
					return err
				}
				if !yield(q, nil) {
					return stopped
				}
			}
			return nil
		})
		if err != nil && err != stopped { //nolint:errorlint // compared by identity
			yield(ttl.Quad{}, err)
		}
	}
}

// Count returns how many quads fit a pattern.
func (s *Store) Count(ctx context.Context, pattern ttl.Quad) (n int64, err error) {
	err = s.Read(ctx, func(r *ReadTx) error {
		n, err = r.Count(pattern)
		return err
	})
	return n, err
}

// Triples returns the number of statements in all graphs, as of the last commit.
func (s *Store) Triples() int64 { return int64(s.triples.Load()) }

// Graphs returns the names of the graphs that hold at least one statement,
// sorted; the unnamed graph is "".
func (s *Store) Graphs(ctx context.Context) (names []ontology.IRI, err error) {
	err = s.Read(ctx, func(r *ReadTx) error {
		names, err = r.Graphs()
		return err
	})
	return names, err
}

// Triples returns the number of statements in all graphs.
func (r *ReadTx) Triples() int64 { return int64(r.meta.triples) }

// Graphs returns the names of the graphs of this view, sorted.
func (r *ReadTx) Graphs() ([]ontology.IRI, error) {
	table, ok := r.graphs.(*graphTable)
	if !ok {
		return nil, errLost("a view has no graph table")
	}
	names := make([]ontology.IRI, 0, len(table.number))
	for term := range table.number {
		t, err := r.graphTerm(term)
		if err != nil {
			return nil, err
		}
		names = append(names, ontology.IRI(t.Value))
	}
	slices.Sort(names)
	return names, nil
}

// Match returns the quads of this view that fit a pattern; see Store.Match.
// The loop's body may read from the view, not keep it.
func (r *ReadTx) Match(pattern ttl.Quad) iter.Seq2[ttl.Quad, error] { return r.match(pattern) }

// Count returns how many quads of this view fit a pattern.
func (r *ReadTx) Count(pattern ttl.Quad) (n int64, err error) {
	if pattern == (ttl.Quad{}) {
		return r.Triples(), nil
	}
	b, ok, err := r.bind(pattern)
	if err != nil || !ok {
		return 0, err
	}
	if b.s == 0 && b.p == 0 && b.o == 0 {
		term, _ := r.graphs.nameOf(b.g)
		e, err := readGraph(r.txn, term)
		return int64(e.count), err
	}
	for _, err := range r.rows(b) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// match decodes the rows of a pattern.
func (r *reader) match(pattern ttl.Quad) iter.Seq2[ttl.Quad, error] {
	return func(yield func(ttl.Quad, error) bool) {
		b, ok, err := r.bind(pattern)
		if err != nil {
			yield(ttl.Quad{}, err)
			return
		}
		if !ok {
			return
		}
		for w, err := range r.rows(b) {
			var q ttl.Quad
			if err == nil {
				q, err = r.quad(w, pattern)
			}
			if err != nil {
				yield(ttl.Quad{}, err)
				return
			}
			if !yield(q, nil) {
				return
			}
		}
	}
}

// bind turns a pattern into numbers, 0 for a wildcard. ok is false if the
// pattern names a term or a graph that the store does not know, so that
// nothing fits.
func (r *reader) bind(pattern ttl.Quad) (b row, ok bool, err error) {
	for _, slot := range [...]struct {
		t  ttl.Term
		id *ID
	}{{pattern.S, &b.s}, {pattern.P, &b.p}, {pattern.O, &b.o}} {
		if slot.t.IsZero() {
			continue
		}
		if *slot.id, _, ok, err = r.s.dict.find(r.txn, slot.t); err != nil || !ok {
			return row{}, false, err
		}
	}
	if pattern.G.IsZero() {
		return b, true, nil
	}
	var term ID
	if pattern.G != DefaultGraph {
		if term, _, ok, err = r.s.dict.find(r.txn, pattern.G); err != nil || !ok {
			return row{}, false, err
		}
	}
	b.g, ok = r.graphs.numberOf(term)
	return b, ok, nil
}

// quad turns a row back into terms; those the pattern binds need no look-up.
func (r *reader) quad(w row, pattern ttl.Quad) (q ttl.Quad, err error) {
	q = pattern
	if q.S.IsZero() {
		if q.S, err = r.s.dict.term(r.txn, w.s); err != nil {
			return q, err
		}
	}
	if q.P.IsZero() {
		if q.P, err = r.s.dict.term(r.txn, w.p); err != nil {
			return q, err
		}
	}
	if q.O.IsZero() {
		if q.O, err = r.s.dict.term(r.txn, w.o); err != nil {
			return q, err
		}
	}
	if q.G.IsZero() || q.G == DefaultGraph {
		name, _ := r.graphs.nameOf(w.g)
		q.G, err = r.graphTerm(name)
	}
	return q, err
}

// graphTerm returns the term of a graph; the unnamed graph is the zero term.
func (r *reader) graphTerm(name ID) (ttl.Term, error) {
	if name == 0 {
		return ttl.Term{}, nil
	}
	return r.s.dict.term(r.txn, name)
}
