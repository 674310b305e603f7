package kg

import (
	"iter"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/seed-ff860830/banyan/ttl"
)

// LocalID is the first id that no stored term ever has: a reader may number
// terms of its own from here on.
const LocalID = ID(15) << kindShift

// Row is a stored quad as numbers. G is the graph's number, not its name; see
// Scanner.Graphs. In a pattern a zero is a wildcard.
type Row struct{ S, P, O, G ID }

// Scanner reads a view by the numbers of terms. It is valid inside the
// function that its transaction was handed to, until Close, and for one
// goroutine.
type Scanner struct {
	r      *reader
	names  map[ID]ID             // graph name to number; the unnamed graph's name is 0
	chunks bool                  // one iterator at a time: Badger's rule where there are writes
	meta   meta                  // of the commit that is seen; none where there are writes
	counts map[predicateAt]int64 // by which a transaction has changed the stored counts
	done   func()
}

// Scanner returns a scanner of the view.
func (r *ReadTx) Scanner() (*Scanner, error) {
	table, ok := r.graphs.(*graphTable)
	if !ok {
		return nil, errLost("a view has no graph table")
	}
	return &Scanner{r: &r.reader, names: table.number, meta: r.meta, done: func() {}}, nil
}

// Scanner returns a scanner of the state that the transaction has made so far.
// The store must not be changed between a scan's first row and its last.
func (t *Tx) Scanner() (*Scanner, error) {
	names := make(map[ID]ID, len(t.base.number))
	for name, num := range t.base.number {
		names[name] = num
	}
	for name, e := range t.touched {
		if e.num == 0 {
			delete(names, name)
		} else {
			names[name] = e.num
		}
	}
	if t.entries > 0 {
		return &Scanner{r: &t.reader, names: names, chunks: true, counts: t.counts, done: func() {}}, nil
	}
	// Nothing is written yet, and no one else can write: a read-only
	// transaction sees the same, without the rule of one iterator.
	txn := t.s.db.NewTransaction(false)
	r := &reader{ctx: t.ctx, s: t.s, txn: txn, graphs: t}
	return &Scanner{r: r, names: names, meta: t.s.meta, done: txn.Discard}, nil
}

// Close ends the scanner.
func (c *Scanner) Close() { c.done() }

// Graphs returns the number of each graph by the id of its name; the unnamed
// graph's name is 0. The map must not be changed.
func (c *Scanner) Graphs() map[ID]ID { return c.names }

// Find returns a term's id; ok is false if the store does not know the term.
func (c *Scanner) Find(t ttl.Term) (id ID, ok bool, err error) {
	id, _, ok, err = c.r.s.dict.find(c.r.txn, t)
	return id, ok, err
}

// Term returns the term of an id.
func (c *Scanner) Term(id ID) (ttl.Term, error) { return c.r.s.dict.term(c.r.txn, id) }

// Scan yields the rows that fit a pattern. The rows of one triple that stands
// in several graphs follow one another unless a graph is asked for.
func (c *Scanner) Scan(p Row) iter.Seq2[Row, error] {
	if c.chunks {
		return c.scanChunks(p)
	}
	return func(yield func(Row, error) bool) {
		for w, err := range c.r.rows(row{s: p.S, p: p.P, o: p.O, g: p.G}) {
			if !yield(Row{S: w.s, P: w.p, O: w.o, G: w.g}, err) {
				return
			}
		}
	}
}

// Count returns how many rows fit a pattern, but looks at no more than limit.
func (c *Scanner) Count(p Row, limit int) (n int, err error) {
	for _, err := range c.Scan(p) {
		if err != nil {
			return 0, err
		}
		if n++; n >= limit {
			break
		}
	}
	return n, nil
}

// Triples returns the number of statements in all graphs as of the last commit.
func (c *Scanner) Triples() int64 { return int64(c.r.s.triples.Load()) }

// scanChunk is how many rows one iterator of a chunked scan reads.
const scanChunk = 512

// scanChunks reads some rows, ends the iterator, yields them, and goes on
// behind the last.
func (c *Scanner) scanChunks(p Row) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		b := row{s: p.S, p: p.P, o: p.O, g: p.G}
		order, bound := accessPath(b)
		prefix := prefixKey(order, bound...)
		from := prefix
		for {
			keys, err := c.chunk(prefix, from)
			if err != nil {
				yield(Row{}, err)
				return
			}
			for _, w := range keys {
				if _, visible := c.r.graphs.nameOf(w.g); !visible || b.g != 0 && w.g != b.g {
					continue
				}
				if !yield(Row{S: w.s, P: w.p, O: w.o, G: w.g}, nil) {
					return
				}
			}
			if len(keys) < scanChunk {
				return
			}
			from = append(rowKey(order, keys[len(keys)-1]), 0)
		}
	}
}

// chunk reads the next rows under a prefix, from a key on.
func (c *Scanner) chunk(prefix, from []byte) ([]row, error) {
	if err := c.r.wanted(); err != nil {
		return nil, err
	}
	it := c.r.txn.NewIterator(badger.IteratorOptions{Prefix: slices.Clone(prefix)})
	defer it.Close()
	var rows []row
	for it.Seek(from); it.ValidForPrefix(prefix) && len(rows) < scanChunk; it.Next() {
		w, ok := parseRow(it.Item().Key())
		if !ok {
			return nil, errLost("a row of the store is damaged")
		}
		rows = append(rows, w)
	}
	return rows, nil
}
