package kg

import (
	"bytes"
	"errors"
	"iter"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// checkEvery is after how many rows a scan looks whether it is still wanted.
const checkEvery = 256

// accessPath chooses the order that answers a pattern, and the numbers that
// lead its keys (the table in key.go).
func accessPath(b row) (order byte, bound []ID) {
	if b.g != 0 {
		switch {
		case b.s != 0 && b.p != 0 && b.o != 0:
			return tagGSPO, []ID{b.g, b.s, b.p, b.o}
		case b.s != 0 && b.o != 0:
			return tagOSPG, []ID{b.o, b.s}
		case b.s != 0 && b.p != 0:
			return tagGSPO, []ID{b.g, b.s, b.p}
		case b.s != 0:
			return tagGSPO, []ID{b.g, b.s}
		case b.p != 0 && b.o != 0:
			return tagGPOS, []ID{b.g, b.p, b.o}
		case b.p != 0:
			return tagGPOS, []ID{b.g, b.p}
		case b.o != 0:
			return tagOSPG, []ID{b.o}
		}
		return tagGSPO, []ID{b.g}
	}
	switch {
	case b.s != 0 && b.p != 0 && b.o != 0:
		return tagSPOG, []ID{b.s, b.p, b.o}
	case b.s != 0 && b.o != 0:
		return tagOSPG, []ID{b.o, b.s}
	case b.s != 0 && b.p != 0:
		return tagSPOG, []ID{b.s, b.p}
	case b.s != 0:
		return tagSPOG, []ID{b.s}
	case b.p != 0 && b.o != 0:
		return tagPOSG, []ID{b.p, b.o}
	case b.p != 0:
		return tagPOSG, []ID{b.p}
	case b.o != 0:
		return tagOSPG, []ID{b.o}
	}
	return tagSPOG, nil
}

// rows yields the visible rows that fit the bound numbers.
func (r *reader) rows(b row) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		if b.s != 0 && b.p != 0 && b.o != 0 && b.g != 0 {
			r.single(b, yield)
			return
		}
		order, bound := accessPath(b)
		for w, err := range r.scan(prefixKey(order, bound...)) {
			if err != nil {
				yield(row{}, err)
				return
			}
			if b.g != 0 && w.g != b.g {
				continue
			}
			if _, visible := r.graphs.nameOf(w.g); !visible {
				continue
			}
			if !yield(w, nil) {
				return
			}
		}
	}
}

// single answers a pattern without wildcards by one look-up.
func (r *reader) single(b row, yield func(row, error) bool) {
	_, err := r.txn.Get(rowKey(tagGSPO, b))
	switch {
	case err == nil:
		yield(b, nil)
	case !errors.Is(err, badger.ErrKeyNotFound):
		yield(row{}, storeErr("match", err))
	}
}

// scan yields every row under a prefix, visible or not.
func (r *reader) scan(prefix []byte) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		it := r.txn.NewIterator(badger.IteratorOptions{Prefix: prefix})
		defer it.Close()
		n := 0
		for it.Seek(prefix); it.ValidForPrefix(prefix); it.Next() {
			if n++; n%checkEvery == 0 {
				if err := r.wanted(); err != nil {
					yield(row{}, err)
					return
				}
			}
			w, ok := parseRow(it.Item().Key())
			if !ok {
				yield(row{}, errLost("a row of the store is damaged"))
				return
			}
			if !yield(w, nil) {
				return
			}
		}
	}
}

// wanted reports why a scan should end: its context did, or the store closes.
func (r *reader) wanted() error {
	if err := r.ctx.Err(); err != nil {
		return storeErr("scan", err)
	}
	if r.yields && r.s.closing() {
		return errClosed("scan")
	}
	return nil
}

// has reports whether any row stands under a prefix of an order, by an iterator
// that runs backwards over all versions. Backwards, since the rows of what was
// made lately stand last and those that were deleted stand first; over all
// versions, since another iterator runs on through deleted keys until it finds
// one that was not, however far off that is.
func has(it *badger.Iterator, prefix []byte) bool {
	last := append(slices.Clone(prefix), pastAll...)
	var key []byte
	alive := false
	for it.Seek(last); it.ValidForPrefix(prefix); it.Next() {
		item := it.Item()
		if !bytes.Equal(item.Key(), key) {
			if alive {
				return true
			}
			key = item.KeyCopy(key)
		}
		alive = !item.IsDeletedOrExpired() // the newest version of a key comes last
	}
	return alive
}

// pastAll, behind a prefix, sorts after every row under the prefix.
var pastAll = bytes.Repeat([]byte{0xff}, rowLen)
