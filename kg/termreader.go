package kg

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/dgraph-io/badger/v4"

	"github.com/seed-ff860830/banyan/ttl"
)

// termReader reads terms of rising ids at little cost, and others at some. It
// is for one goroutine.
type termReader struct {
	txn    *badger.Txn
	iris   termCursor
	others termCursor
	recent map[ID]ttl.Term
}

// nearTerms is how many entries a termReader passes by before it seeks, and
// recentTerms how many terms it keeps.
const (
	nearTerms   = 8
	recentTerms = 1 << 12
)

func newTermReader(txn *badger.Txn) *termReader {
	cursor := func() termCursor { return termCursor{it: txn.NewIterator(iterateKeys([]byte{tagID}))} }
	return &termReader{txn: txn, iris: cursor(), others: cursor(), recent: map[ID]ttl.Term{}}
}

// iterateKeys are the options of an iterator that reads keys under a prefix.
func iterateKeys(prefix []byte) badger.IteratorOptions { return badger.IteratorOptions{Prefix: prefix} }

func (r *termReader) close() {
	r.iris.it.Close()
	r.others.it.Close()
}

// term returns the term of an id.
func (r *termReader) term(id ID) (ttl.Term, error) {
	if t, ok := inlineTerm(id); ok {
		return t, nil
	}
	if t, ok := r.recent[id]; ok {
		return t, nil
	}
	var t ttl.Term
	item, err := r.item(id)
	if err == nil {
		err = item.Value(func(b []byte) (err error) {
			t, err = decodeTerm(b)
			return err
		})
	}
	if err != nil {
		return ttl.Term{}, storeErr("read a term", err)
	}
	if len(r.recent) >= recentTerms {
		clear(r.recent)
	}
	r.recent[id] = t
	return t, nil
}

// item finds the dictionary's entry of an id.
func (r *termReader) item(id ID) (*badger.Item, error) {
	c := &r.others
	if id.kind() == kindIRI {
		c = &r.iris
	}
	if c.reach(id) {
		return c.it.Item(), nil
	}
	item, err := r.txn.Get(idKey(id))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, errLost("the store has lost the text of a term")
	}
	return item, err
}

// termCursor stands on an entry of the dictionary.
type termCursor struct {
	it *badger.Iterator
	at ID // 0 before the first, all ones behind the last
}

// reach goes on to an id: by a few steps, or else by a seek. It does not go
// back; ok is false if the id lies behind, or is not there.
func (c *termCursor) reach(id ID) (ok bool) {
	for n := 0; n < nearTerms && c.at != 0 && c.at < id; n++ {
		c.it.Next()
		c.look()
	}
	if c.at < id {
		c.it.Seek(idKey(id))
		c.look()
	}
	return c.at == id
}

func (c *termCursor) look() {
	c.at = math.MaxUint64
	if c.it.Valid() && len(c.it.Item().Key()) == 9 {
		c.at = ID(binary.BigEndian.Uint64(c.it.Item().Key()[1:]))
	}
}
