package kg

import (
	"encoding/binary"
	"errors"
	"maps"

	"github.com/dgraph-io/badger/v4"

	"github.com/seed-ff860830/banyan/ttl"
)

// DefaultGraph stands for the unnamed graph in the G of a pattern, where the
// zero term is any graph. In a quad to store it means the same as the zero term.
var DefaultGraph = ttl.Term{Kind: ttl.IRI}

// graphTable maps graphs to their numbers at one commit. It is immutable. The
// unnamed graph has the term id 0.
type graphTable struct {
	version uint64 // meta.graphs of the commit that made it
	number  map[ID]ID
	name    map[ID]ID
}

// with returns the table after changes: a number of 0 takes the graph out.
func (t *graphTable) with(version uint64, changes map[ID]ID) *graphTable {
	next := &graphTable{version: version, number: maps.Clone(t.number), name: maps.Clone(t.name)}
	for term, num := range changes {
		if old, ok := next.number[term]; ok {
			delete(next.name, old)
			delete(next.number, term)
		}
		if num != 0 {
			next.number[term] = num
			next.name[num] = term
		}
	}
	return next
}

// numberOf returns a graph's number.
func (t *graphTable) numberOf(term ID) (ID, bool) { n, ok := t.number[term]; return n, ok }

// nameOf returns the graph of a number; ok is false for rows that are staged
// or dead.
func (t *graphTable) nameOf(num ID) (ID, bool) { n, ok := t.name[num]; return n, ok }

// graphEntry is the stored value of a graph: its number and its rows.
type graphEntry struct{ num, count ID }

func (e graphEntry) encode() []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(e.num))
	return binary.BigEndian.AppendUint64(b, uint64(e.count))
}

func decodeGraphEntry(b []byte) (graphEntry, error) {
	if len(b) != 16 {
		return graphEntry{}, errLost("an entry of the graph table is damaged")
	}
	return graphEntry{ID(binary.BigEndian.Uint64(b)), ID(binary.BigEndian.Uint64(b[8:]))}, nil
}

// readGraph reads a graph's entry; a graph that is not there has number 0.
func readGraph(txn *badger.Txn, term ID) (e graphEntry, err error) {
	item, err := txn.Get(graphKey(term))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return graphEntry{}, nil
	}
	if err != nil {
		return graphEntry{}, storeErr("read the graph table", err)
	}
	err = item.Value(func(b []byte) (err error) {
		e, err = decodeGraphEntry(b)
		return err
	})
	return e, storeErr("read the graph table", err)
}

// loadGraphs reads the whole table, and the sum of the graphs' rows.
func loadGraphs(txn *badger.Txn, version uint64) (t *graphTable, rows uint64, err error) {
	t = &graphTable{version: version, number: map[ID]ID{}, name: map[ID]ID{}}
	opt := badger.DefaultIteratorOptions
	opt.Prefix = []byte{tagGraph}
	it := txn.NewIterator(opt)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		key := it.Item().Key()
		if len(key) != 9 {
			return nil, 0, errLost("an entry of the graph table is damaged")
		}
		term := ID(binary.BigEndian.Uint64(key[1:]))
		err := it.Item().Value(func(b []byte) error {
			e, err := decodeGraphEntry(b)
			if err == nil {
				t.number[term], t.name[e.num] = e.num, term
				rows += uint64(e.count)
			}
			return err
		})
		if err != nil {
			return nil, 0, storeErr("read the graph table", err)
		}
	}
	return t, rows, nil
}
