package kg

import (
	"context"

	"github.com/dgraph-io/badger/v4"
	"golang.org/x/sync/errgroup"
)

// check holds the store against its own account of itself and takes its state
// into memory. It makes the first record of a store that is new.
func (s *Store) check(ctx context.Context) error {
	txn := s.db.NewTransaction(false)
	defer txn.Discard()
	m, ok, err := readMeta(txn)
	if err != nil {
		return err
	}
	noted := s.high.read()
	if !ok {
		return s.create(ctx, txn, noted)
	}
	if m.commit < noted {
		return errLost("the store has lost its last commits, %d of them", noted-m.commit)
	}
	table, err := s.verify(ctx, txn, m)
	if err != nil {
		return err
	}
	s.adopt(m, table)
	return nil
}

// verify counts what the meta record speaks of: the triples of the graph table
// and the rows of every order.
func (s *Store) verify(ctx context.Context, txn *badger.Txn, m meta) (*graphTable, error) {
	table, sum, err := loadGraphs(txn, m.graphs)
	if err != nil {
		return nil, err
	}
	if sum != m.triples {
		return nil, errLost("the store's record speaks of %d triples, its graphs of %d", m.triples, sum)
	}
	return table, s.countRows(ctx, txn, table, m.triples)
}

// adopt takes a checked state into memory.
func (s *Store) adopt(m meta, table *graphTable) {
	s.meta, s.nextTerm, s.nextRow = m, m.nextTerm, m.nextRow
	s.table.Store(table)
	s.triples.Store(m.triples)
}

// create makes the first record of an empty store. A store that is empty but
// should not be has lost everything.
func (s *Store) create(ctx context.Context, txn *badger.Txn, noted uint64) error {
	it := txn.NewIterator(badger.IteratorOptions{})
	it.Rewind()
	empty := !it.Valid()
	it.Close()
	if !empty || noted > 0 {
		return errLost("the store has lost its own record of itself")
	}
	s.adopt(meta{format: formatVersion}, &graphTable{number: map[ID]ID{}, name: map[ID]ID{}})
	t := s.begin(ctx)
	defer t.txn.Discard()
	t.entries = 1 // the meta record alone
	return s.commit(t)
}

// countRows counts the visible rows of every order, two orders at a time.
func (s *Store) countRows(ctx context.Context, txn *badger.Txn, table *graphTable, want uint64) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2)
	for _, order := range orders {
		group.Go(func() error {
			r := reader{ctx: ctx, s: s, txn: txn}
			var n uint64
			for w, err := range r.scan([]byte{order}) {
				if err != nil {
					return err
				}
				if _, visible := table.nameOf(w.g); visible {
					n++
				}
			}
			if n != want {
				return errLost("the store's record speaks of %d triples, its rows of %d", want, n)
			}
			return nil
		})
	}
	return group.Wait()
}
