package kg

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"

	"github.com/dgraph-io/badger/v4"
)

// sweepRows is how many rows one sweeping commit takes; sweepTerms how many
// terms that may be unused are gathered before they are looked at.
const (
	sweepRows  = 2000
	sweepTerms = 200_000
)

// sweepLeftovers sweeps the graph numbers that were listed when the process
// last ended: staged and never published, or replaced and not yet swept.
func (s *Store) sweepLeftovers(ctx context.Context) error {
	err := s.db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{tagDead}})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			key := it.Item().Key()
			if len(key) != 9 {
				return errLost("the list of graphs to sweep is damaged")
			}
			s.pending = append(s.pending, ID(binary.BigEndian.Uint64(key[1:])))
		}
		return nil
	})
	if err != nil {
		return storeErr("look for leftovers", err)
	}
	s.sweepPending(ctx)
	return nil
}

// sweepPending sweeps the listed numbers as far as the context lets it; what
// is left stays listed. The caller is the writer.
func (s *Store) sweepPending(ctx context.Context) {
	suspects := map[ID]struct{}{}
	for len(s.pending) > 0 && s.failed == nil {
		done, err := s.sweepSome(ctx, s.pending[0], suspects)
		if err != nil {
			s.log.Warn("rows of a replaced graph are still to be swept", "graphs", len(s.pending), "err", err)
			break
		}
		if done {
			s.pending = s.pending[1:]
		}
		if len(suspects) > sweepTerms {
			s.collect(suspects)
			clear(suspects)
		}
	}
	s.collect(suspects)
}

// sweepSome deletes some rows of a number, and takes it off the list with the
// last of them. The terms of the rows are added to suspects.
func (s *Store) sweepSome(ctx context.Context, num ID, suspects map[ID]struct{}) (done bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, storeErr("sweep", err)
	}
	if s.closing() {
		return false, errClosed("sweep")
	}
	rows, err := s.someRows(ctx, num)
	if err != nil {
		return false, err
	}
	t := s.begin(ctx)
	defer t.txn.Discard()
	for _, w := range rows {
		for _, order := range orders {
			if err := t.del(rowKey(order, w)); err != nil {
				return false, err
			}
		}
		t.countRow(w, -1)
		t.orphan(w.s, w.p, w.o)
	}
	done = len(rows) < sweepRows
	if done {
		if err := t.del(deadKey(num)); err != nil {
			return false, err
		}
	}
	if err := s.commit(t); err != nil {
		return false, err
	}
	maps.Copy(suspects, t.orphans)
	return done, nil
}

func (s *Store) someRows(ctx context.Context, num ID) (rows []row, err error) {
	txn := s.db.NewTransaction(false)
	defer txn.Discard()
	r := reader{ctx: ctx, s: s, txn: txn}
	for w, err := range r.scan(prefixKey(tagGSPO, num)) {
		if err != nil {
			return nil, err
		}
		if rows = append(rows, w); len(rows) == sweepRows {
			break
		}
	}
	return rows, nil
}

// collect takes terms out of the dictionary that no row and no graph uses any
// more. It runs after the commit that took their uses away, so a crash between
// the two, or an error, leaves unused terms behind, which harm nothing. The
// caller is the writer.
func (s *Store) collect(suspects map[ID]struct{}) {
	if len(suspects) == 0 || s.failed != nil {
		return
	}
	if err := s.forgetUnused(suspects); err != nil {
		s.log.Warn("unused terms were left in the dictionary", "err", err)
	}
}

func (s *Store) forgetUnused(suspects map[ID]struct{}) error {
	unused, err := s.unused(suspects)
	if err != nil || len(unused) == 0 {
		return err
	}
	t := s.begin(context.Background())
	defer func() { t.txn.Discard() }()
	for _, id := range unused {
		if err := t.forget(id); err != nil {
			return err
		}
		if t.full() {
			if err := s.commit(t); err != nil {
				return err
			}
			t = s.begin(context.Background())
		}
	}
	return s.commit(t)
}

// unused returns those of the suspects that stand in no row and name no graph.
func (s *Store) unused(suspects map[ID]struct{}) (ids []ID, err error) {
	txn := s.db.NewTransaction(false)
	defer txn.Discard()
	its := make([]*badger.Iterator, 0, 3)
	for _, order := range [...]byte{tagSPOG, tagOSPG, tagPOSG} {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{order}, AllVersions: true, Reverse: true})
		defer it.Close()
		its = append(its, it)
	}
	for id := range suspects {
		if _, ok := s.pinned[id]; ok {
			continue
		}
		used := has(its[0], prefixKey(tagSPOG, id)) || has(its[1], prefixKey(tagOSPG, id)) || has(its[2], prefixKey(tagPOSG, id))
		if used {
			continue
		}
		e, err := readGraph(txn, id)
		if err != nil {
			return nil, err
		}
		if e.num == 0 {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// forget deletes a term's two entries. A term that another one was filed
// behind, their hashes being the same, stays, or the other could not be found.
func (t *Tx) forget(id ID) error {
	term, err := t.s.dict.term(t.txn, id)
	if err != nil {
		return err
	}
	found, probe, ok, err := t.s.dict.find(t.txn, term)
	if err != nil || !ok || found != id {
		return err
	}
	hash := t.s.dict.hash(encodeTerm(term))
	if probe+1 < maxProbes {
		_, err = t.txn.Get(termKey(hash, probe+1))
		if err == nil {
			return nil
		}
		if !errors.Is(err, badger.ErrKeyNotFound) {
			return storeErr("forget a term", err)
		}
	}
	t.s.dict.ids.drop(term)
	if err := t.del(termKey(hash, probe)); err != nil {
		return err
	}
	return t.del(idKey(id))
}
