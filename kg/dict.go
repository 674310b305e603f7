package kg

import (
	"encoding/binary"
	"errors"
	"sync"

	"github.com/dgraph-io/badger/v4"

	"github.com/seed-ff860830/banyan/ttl"
)

// dict is the dictionary: terms to ids and back. The two caches hold what was
// used lately.
type dict struct {
	hash  termHash
	terms *lately[ID, ttl.Term] // by id; ids are never used twice, so it is right for every view
	ids   *lately[ttl.Term, ID] // by term; for the writer only, since a term may get a new id
}

// Sizes of the caches, and the longest term they take.
const (
	cachedTerms     = 1 << 14
	cachedTermBytes = 512
)

func newDict() *dict {
	return &dict{hash: xxHash, terms: newLately[ID, ttl.Term](cachedTerms), ids: newLately[ttl.Term, ID](cachedTerms)}
}

// term returns the term of an id.
func (d *dict) term(txn *badger.Txn, id ID) (ttl.Term, error) {
	if t, ok := inlineTerm(id); ok {
		return t, nil
	}
	if t, ok := d.terms.get(id); ok {
		return t, nil
	}
	item, err := txn.Get(idKey(id))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return ttl.Term{}, errLost("the store has lost the text of a term")
	}
	if err != nil {
		return ttl.Term{}, storeErr("read a term", err)
	}
	var t ttl.Term
	err = item.Value(func(b []byte) (err error) {
		t, err = decodeTerm(b)
		return err
	})
	if err != nil {
		return ttl.Term{}, storeErr("read a term", err)
	}
	if len(t.Value) <= cachedTermBytes {
		d.terms.put(id, t)
	}
	return t, nil
}

// find returns a term's id. ok is false if the store does not know the term;
// probe is then where it would go.
func (d *dict) find(txn *badger.Txn, t ttl.Term) (id ID, probe int, ok bool, err error) {
	if id, ok := inlineID(t); ok {
		return id, 0, true, nil
	}
	hash := d.hash(encodeTerm(t))
	for probe = range maxProbes {
		id, ok, err = d.at(txn, termKey(hash, probe))
		if err != nil || !ok {
			return 0, probe, false, err
		}
		stored, err := d.term(txn, id)
		if err != nil {
			return 0, 0, false, err
		}
		if stored == t {
			return id, probe, true, nil
		}
	}
	return 0, 0, false, errLost("the dictionary has no room for a term")
}

// at reads one entry of the dictionary.
func (d *dict) at(txn *badger.Txn, key []byte) (id ID, ok bool, err error) {
	item, err := txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, storeErr("read the dictionary", err)
	}
	err = item.Value(func(b []byte) error {
		if len(b) != 8 {
			return errLost("an entry of the dictionary is damaged")
		}
		id = ID(binary.BigEndian.Uint64(b))
		return nil
	})
	return id, err == nil, err
}

// lately is a bounded map that keeps what was put in or asked for lately: two
// generations, the elder dropped when the younger is full. Safe for
// concurrent use.
type lately[K comparable, V any] struct {
	mu       sync.Mutex
	size     int
	now, old map[K]V
}

func newLately[K comparable, V any](size int) *lately[K, V] {
	return &lately[K, V]{size: size / 2, now: map[K]V{}}
}

func (l *lately[K, V]) get(k K) (V, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v, ok := l.now[k]
	if ok {
		return v, true
	}
	if v, ok = l.old[k]; ok {
		l.add(k, v)
	}
	return v, ok
}

func (l *lately[K, V]) put(k K, v V) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(k, v)
}

func (l *lately[K, V]) add(k K, v V) {
	if len(l.now) >= l.size {
		l.now, l.old = make(map[K]V, l.size), l.now
	}
	l.now[k] = v
}

func (l *lately[K, V]) drop(k K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.now, k)
	delete(l.old, k)
}

// remember lets the writer find a committed term without a look-up.
func (d *dict) remember(t ttl.Term, id ID) {
	if len(t.Value) <= cachedTermBytes {
		d.ids.put(t, id)
	}
}
