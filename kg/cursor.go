package kg

import "github.com/dgraph-io/badger/v4"

// Cursor stands in the ordered subjects of one predicate and object. It is for
// one goroutine, valid until Close, and must be closed before its scanner is.
type Cursor struct {
	r      *reader
	it     *badger.Iterator
	prefix []byte
	order  byte
	keep   func(g ID) bool
	at     ID // the subject that the cursor stands on; 0 before the first Seek
	done   bool
	reads  int
}

// nearRows is how many rows a cursor passes by before it seeks: neighbours are
// read for a tenth of what a seek costs.
const nearRows = 12

// Cursor returns a cursor over the subjects that have an object under a
// predicate, in rising order, each once. A graph of 0 is every graph; keep, if
// given, says which of them count. ok is false where there can be just one
// iterator at a time: within a transaction that has written.
func (c *Scanner) Cursor(p, o, g ID, keep func(g ID) bool) (cur *Cursor, ok bool) {
	if c.chunks || p == 0 || o == 0 {
		return nil, false
	}
	order, bound := accessPath(row{p: p, o: o, g: g})
	prefix := prefixKey(order, bound...)
	it := c.r.txn.NewIterator(badger.IteratorOptions{Prefix: prefix})
	return &Cursor{r: c.r, it: it, prefix: prefix, order: order, keep: keep}, true
}

// Close lets go of the cursor.
func (c *Cursor) Close() { c.it.Close() }

// Seek returns the first subject that is not below least; ok is false if there
// is none. It may be called with any least, at the lowest cost with rising ones.
func (c *Cursor) Seek(least ID) (s ID, ok bool, err error) {
	if c.at != 0 && !c.done && c.at == least {
		return c.at, true, nil
	}
	near := 0
	if c.at == 0 || c.done || least < c.at {
		near = nearRows // nothing near to look through
	}
	c.done = false
	for ; near < nearRows; near++ {
		s, ok, err := c.row()
		if err != nil || !ok {
			return 0, false, err
		}
		if s >= least {
			return c.settle()
		}
		c.it.Next()
	}
	c.it.Seek(append(c.prefix[:len(c.prefix):len(c.prefix)], seekKey(least)...))
	return c.settle()
}

func seekKey(s ID) []byte { return prefixKey(0, s)[1:] }

// settle goes on to the first row that counts.
func (c *Cursor) settle() (s ID, ok bool, err error) {
	for ; ; c.it.Next() {
		if !c.it.ValidForPrefix(c.prefix) {
			c.done = true
			return 0, false, nil
		}
		if c.reads++; c.reads%checkEvery == 0 {
			if err := c.r.wanted(); err != nil {
				return 0, false, err
			}
		}
		w, ok := parseRow(c.it.Item().Key())
		if !ok {
			return 0, false, errLost("a row of the store is damaged")
		}
		if _, visible := c.r.graphs.nameOf(w.g); visible && (c.keep == nil || c.keep(w.g)) {
			c.at = w.s
			return w.s, true, nil
		}
	}
}

// row returns the subject of the row that the cursor is at, whether or not it
// counts.
func (c *Cursor) row() (s ID, ok bool, err error) {
	if !c.it.ValidForPrefix(c.prefix) {
		c.done = true
		return 0, false, nil
	}
	w, ok := parseRow(c.it.Item().Key())
	if !ok {
		return 0, false, errLost("a row of the store is damaged")
	}
	return w.s, true, nil
}
