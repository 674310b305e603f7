package kg

import (
	"context"
	"fmt"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// lockWriter makes the caller the one writer, or gives up when its context
// ends or the store closes.
func (s *Store) lockWriter(ctx context.Context) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, storeErr("wait for the writer", err)
	}
	if !s.enter() {
		return nil, errClosed("write")
	}
	select {
	case s.writer <- struct{}{}:
	case <-ctx.Done():
		s.leave()
		return nil, storeErr("wait for the writer", ctx.Err())
	}
	unlock = func() {
		if s.failed == nil {
			s.cat.unforesee(s.meta.commit)
		}
		<-s.writer
		s.leave()
	}
	if s.failed != nil {
		unlock()
		return nil, &errs.Error{
			Op: "write", Kind: errs.Unavailable, Err: s.failed,
			Msg: "the store takes no more writes, since one failed; it has to be opened again",
		}
	}
	return unlock, nil
}

// write runs one transaction: lock, change, commit, bring memory up to date,
// sweep. after, if not nil, runs once the commit is on disk, still under the
// writer's lock.
func (s *Store) write(ctx context.Context, fn func(*Tx) error, after ...func()) error {
	unlock, err := s.lockWriter(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	t := s.begin(ctx)
	defer t.txn.Discard()
	if err := fn(t); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return storeErr("commit", err)
	}
	if err := s.commit(t); err != nil {
		return err
	}
	for _, f := range after {
		f()
	}
	return s.settle(ctx, t)
}

// settle brings memory up to date after a commit and sweeps what it left. The
// commit stands whatever comes of it: a sweep that fails is only put off, and
// an index that cannot be rebuilt stops the writes.
func (s *Store) settle(ctx context.Context, t *Tx) error {
	if t.marks.snapshots || t.marks.catalogue {
		if err := s.refresh(context.WithoutCancel(ctx), t.marks); err != nil {
			s.failed = fmt.Errorf("rebuild the index: %w", err)
			return err
		}
	}
	s.pending = append(s.pending, t.dead...)
	s.sweepPending(ctx)
	s.collect(t.orphans)
	return nil
}

// begin starts a transaction. The caller is the writer, and discards it.
func (s *Store) begin(ctx context.Context) *Tx {
	t := &Tx{
		meta:    s.meta,
		base:    s.table.Load(),
		touched: map[ID]*graphEntry{},
		fresh:   map[ttl.Term]ID{},
		counts:  map[predicateAt]int64{},
		orphans: map[ID]struct{}{},
	}
	t.reader = reader{ctx: ctx, s: s, txn: s.db.NewTransaction(true), graphs: t}
	return t
}

// commit writes the graph table and the meta record and commits. Memory is
// changed only when the commit is on disk.
func (s *Store) commit(t *Tx) error {
	if t.entries == 0 {
		return nil
	}
	if err := s.room.check(); err != nil {
		return err
	}
	changes, err := t.finishGraphs()
	if err != nil {
		return err
	}
	if err := t.finishCounts(); err != nil {
		return err
	}
	t.meta.commit++
	if len(changes) > 0 {
		t.meta.graphs = t.meta.commit
	}
	t.meta.nextTerm, t.meta.nextRow = s.nextTerm, s.nextRow
	if err := t.set(metaKey, t.meta.encode()); err != nil {
		return err
	}
	if err := t.txn.Commit(); err != nil {
		// Whether the commit reached the disk is not known; another one on top
		// of it could contradict it.
		s.failed = err
		return storeErr("commit", err)
	}
	s.meta = t.meta
	if len(changes) > 0 {
		s.table.Store(t.base.with(t.meta.graphs, changes))
	}
	s.triples.Store(t.meta.triples)
	for term, id := range t.fresh {
		s.dict.remember(term, id)
	}
	if err := s.high.write(t.meta.commit); err != nil {
		s.log.Warn("the number of the last commit could not be noted", "err", err)
	}
	return nil
}

// finishGraphs writes the entries of the graphs that changed and returns the
// changes to the table: a graph without statements is no graph.
func (t *Tx) finishGraphs() (map[ID]ID, error) {
	changes := map[ID]ID{}
	for term, e := range t.touched {
		before, there := t.base.numberOf(term)
		if e.count == 0 {
			if !there {
				continue
			}
			if err := t.del(graphKey(term)); err != nil {
				return nil, err
			}
			changes[term] = 0
			continue
		}
		if err := t.set(graphKey(term), e.encode()); err != nil {
			return nil, err
		}
		if before != e.num {
			changes[term] = e.num
		}
	}
	return changes, nil
}

// newTerm and newNumber hand out sequence numbers. A number that a dropped
// transaction took is not used again, so that the caches stay right.
func (s *Store) newTerm() uint64 { s.nextTerm++; return s.nextTerm }
func (s *Store) newNumber() ID   { s.nextRow++; return ID(s.nextRow) }
