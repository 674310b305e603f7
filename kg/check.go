package kg

import (
	"context"

	"github.com/dgraph-io/badger/v4"
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

// verify holds the graph table against the meta record. Of a store that was
// closed every row stands in a table whose checksums were verified before
// Badger opened it. One whose process was killed is replayed from logs, and a
// log that is damaged ends at the damage without a word: its rows are counted.
func (s *Store) verify(ctx context.Context, txn *badger.Txn, m meta) (*graphTable, error) {
	table, sum, err := loadGraphs(txn, m.graphs)
	if err != nil {
		return nil, err
	}
	if sum != m.triples {
		return nil, errLost("the store's record speaks of %d triples, its graphs of %d", m.triples, sum)
	}
	if !s.replayed {
		return table, nil
	}
	return table, s.recount(ctx, txn, table, m.triples)
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

// recount counts the visible rows of one order. A log that lost its end takes
// whole transactions along, each with its rows in all five orders; fsck counts
// them all.
func (s *Store) recount(ctx context.Context, txn *badger.Txn, table *graphTable, want uint64) error {
	r := reader{ctx: ctx, s: s, txn: txn}
	var n uint64
	for w, err := range r.scan([]byte{tagGSPO}) {
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
}
