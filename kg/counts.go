package kg

import (
	"encoding/binary"
	"errors"

	"github.com/dgraph-io/badger/v4"
)

// The rows of each predicate are counted under each graph number, in the
// transaction that writes or deletes them. A number that is not in the graph
// table counts for no one: what is staged is counted before it can be seen,
// and what was replaced until it is swept.

// predicateAt names one count.
type predicateAt struct{ p, g ID }

func (c predicateAt) key() []byte { return prefixKey(tagCount, c.p, c.g) }

// countRow notes that a row came (1) or went (-1).
func (t *Tx) countRow(w row, by int64) {
	at := predicateAt{w.p, w.g}
	if n := t.counts[at] + by; n != 0 {
		t.counts[at] = n
	} else {
		delete(t.counts, at)
	}
}

// finishCounts writes the counts that changed. A count of nothing is no count.
func (t *Tx) finishCounts() error {
	for at, by := range t.counts {
		n, err := readCount(t.txn, at)
		if err != nil {
			return err
		}
		switch n += by; {
		case n < 0:
			return errLost("a predicate has fewer rows than were counted")
		case n == 0:
			err = t.del(at.key())
		default:
			err = t.set(at.key(), binary.BigEndian.AppendUint64(nil, uint64(n)))
		}
		if err != nil {
			return err
		}
	}
	clear(t.counts)
	return nil
}

// readCount returns one count as it is stored.
func readCount(txn *badger.Txn, at predicateAt) (n int64, err error) {
	item, err := txn.Get(at.key())
	if errors.Is(err, badger.ErrKeyNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, storeErr("read a count", err)
	}
	return countOf(item)
}

func countOf(item *badger.Item) (n int64, err error) {
	err = item.Value(func(b []byte) error {
		if len(b) != 8 || b[0]&0x80 != 0 {
			return errLost("a count of the store is damaged")
		}
		n = int64(binary.BigEndian.Uint64(b))
		return nil
	})
	return n, storeErr("read a count", err)
}

// PredicateCount returns how many rows a predicate has in all graphs: a triple
// that stands in two graphs counts twice. It reads one small entry a graph in
// which the predicate stands. Within a transaction its changes count.
func (c *Scanner) PredicateCount(p ID) (sum int64, err error) {
	err = c.eachCount(p, func(g ID, n int64) {
		if _, visible := c.r.graphs.nameOf(g); visible {
			sum += n
		}
	})
	for at, by := range c.counts {
		// What it dropped counts no more, with what it had changed there.
		if _, visible := c.r.graphs.nameOf(at.g); visible && at.p == p {
			sum += by
		}
	}
	return sum, err
}

// eachCount yields the stored counts of a predicate.
func (c *Scanner) eachCount(p ID, yield func(g ID, n int64)) error {
	prefix := prefixKey(tagCount, p)
	it := c.r.txn.NewIterator(badger.IteratorOptions{Prefix: prefix, PrefetchValues: true, PrefetchSize: 16})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		key := it.Item().Key()
		if len(key) != 1+8+8 {
			return errLost("a count of the store is damaged")
		}
		n, err := countOf(it.Item())
		if err != nil {
			return err
		}
		yield(ID(binary.BigEndian.Uint64(key[9:])), n)
	}
	return nil
}
