package kg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
	"github.com/zeebo/xxh3"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// deepCheck reads every key of the store once, or a fixed number of times. What
// it holds in memory does not grow with the rows.
type deepCheck struct {
	*fsck
	txn   *badger.Txn
	meta  meta
	table *graphTable
}

// digest sums hashes of a set's members: two sets with equal digests are equal,
// but for a chance of about one in 2^128, in whatever order they were read.
type digest struct{ n, lo, hi uint64 }

func (d *digest) add(b []byte) {
	h := xxh3.Hash128(b)
	d.n++
	d.lo += h.Lo
	d.hi += h.Hi
}

// run checks the orders, the dictionary and the snapshots' tree.
func (d *deepCheck) run() {
	d.checkOrders()
	d.report.note("counts", "", d.checkCounts(), "those of the rows, for each predicate and graph")
	d.checkDictionary()
	for _, order := range [...]byte{tagSPOG, tagPOSG, tagOSPG} { // led by subject, predicate, object
		d.report.note("terms in use", string(order), d.checkUse(order), "each has its text")
	}
	d.report.note("lineage", "", d.checkLineage(), "no snapshot descends from itself")
}

// each calls fn with the key and value of every entry under a tag. The bytes
// are valid during the call.
func (d *deepCheck) each(tag byte, values bool, fn func(key, value []byte) error) error {
	opt := badger.IteratorOptions{Prefix: []byte{tag}, PrefetchValues: values, PrefetchSize: 256}
	it := d.txn.NewIterator(opt)
	defer it.Close()
	n := 0
	for it.Rewind(); it.Valid(); it.Next() {
		if n++; n%checkEvery == 0 && d.ctx.Err() != nil {
			return storeErr("check the store", d.ctx.Err())
		}
		item := it.Item()
		if !values {
			if err := fn(item.Key(), nil); err != nil {
				return err
			}
			continue
		}
		if err := item.Value(func(v []byte) error { return fn(item.Key(), v) }); err != nil {
			return storeErr("check the store", err)
		}
	}
	return nil
}

// checkOrders recounts each order and holds all against the first: the same
// rows stand in all five.
func (d *deepCheck) checkOrders() {
	var first digest
	for i, order := range orders {
		visible, sum, err := d.count(order)
		if i == 0 {
			first = sum
		}
		switch {
		case err != nil:
		case visible != d.meta.triples:
			err = errLost("the store's record speaks of %d triples, its rows in order %c of %d", d.meta.triples, order, visible)
		case sum != first:
			err = errLost("the order %c does not hold the same rows as the order %c", order, orders[0])
		}
		d.report.note("rows", string(order), err, fmt.Sprintf("%d rows, %d of them to be swept", visible, sum.n-visible))
	}
}

// count reads one order.
func (d *deepCheck) count(order byte) (visible uint64, sum digest, err error) {
	var b [4 * 8]byte
	err = d.each(order, false, func(key, _ []byte) error {
		w, ok := parseRow(key)
		if !ok {
			return errLost("a row of the store is damaged")
		}
		if _, ok := d.table.nameOf(w.g); ok {
			visible++
		}
		for i, id := range [...]ID{w.s, w.p, w.o, w.g} {
			binary.BigEndian.PutUint64(b[8*i:], uint64(id))
		}
		sum.add(b[:])
		return nil
	})
	return visible, sum, err
}

// checkDictionary holds the two directions against each other: each pair of a
// term's hash and its id stands in both, and every text can be read.
func (d *deepCheck) checkDictionary() {
	var there, back digest
	var pair [16 + 8]byte
	err := d.each(tagTerm, true, func(key, value []byte) error {
		if len(key) != 18 || len(value) != 8 {
			return errLost("an entry of the dictionary is damaged")
		}
		copy(pair[:16], key[1:])
		copy(pair[16:], value)
		there.add(pair[:])
		return nil
	})
	if err == nil {
		err = d.each(tagID, true, func(key, value []byte) error {
			if len(key) != 9 {
				return errLost("an entry of the dictionary is damaged")
			}
			t, err := decodeTerm(value)
			if err != nil {
				return err
			}
			if kindOf(t) != ID(binary.BigEndian.Uint64(key[1:])).kind() || !bytes.Equal(encodeTerm(t), value) {
				return errLost("a term of the dictionary is not of the kind its number says")
			}
			h := xxHash(value)
			copy(pair[:16], h[:])
			copy(pair[16:], key[1:])
			back.add(pair[:])
			return nil
		})
	}
	if err == nil && there != back {
		err = errLost("the two directions of the dictionary differ: %d terms have a number, %d numbers a term", there.n, back.n)
	}
	d.report.note("dictionary", "", err, fmt.Sprintf("%d terms", there.n))
}

// checkUse walks the ids that lead an order's keys along the dictionary; both
// are sorted by id.
func (d *deepCheck) checkUse(order byte) error {
	it := d.txn.NewIterator(badger.IteratorOptions{Prefix: []byte{tagID}})
	defer it.Close()
	it.Rewind()
	var last []byte
	return d.each(order, false, func(key, _ []byte) error {
		lead := key[1:9]
		if bytes.Equal(lead, last) {
			return nil
		}
		last = append(last[:0], lead...)
		id := ID(binary.BigEndian.Uint64(lead))
		if _, ok := inlineTerm(id); ok {
			return nil
		}
		for it.Valid() && bytes.Compare(it.Item().Key()[1:], lead) < 0 {
			it.Next()
		}
		if !it.Valid() || !bytes.Equal(it.Item().Key()[1:], lead) {
			return errLost("the store has lost the text of a term")
		}
		return nil
	})
}

// checkLineage follows bn:derivedFrom from every snapshot that has it.
func (d *deepCheck) checkLineage() error {
	parents, err := d.parents()
	if err != nil {
		return err
	}
	done := make(map[ID]bool, len(parents))
	for start := range parents {
		var path []ID
		onPath := map[ID]bool{}
		for id, ok := start, true; ok && !done[id]; id, ok = parents[id] {
			if onPath[id] {
				return errLost("a snapshot descends from itself")
			}
			onPath[id] = true
			path = append(path, id)
		}
		for _, id := range path {
			done[id] = true
		}
	}
	return nil
}

// parents reads who is derived from whom in the graph of snapshots.
func (d *deepCheck) parents() (map[ID]ID, error) {
	dict := newDict()
	p, _, known, err := dict.find(d.txn, ttl.NewIRI(string(ontology.PropDerivedFrom)))
	if err != nil || !known {
		return nil, err
	}
	name, _, known, err := dict.find(d.txn, ttl.NewIRI(string(ontology.GraphSnapshots)))
	if err != nil || !known {
		return nil, err
	}
	g, ok := d.table.numberOf(name)
	if !ok {
		return nil, nil
	}
	prefix := prefixKey(tagGPOS, g, p)
	it := d.txn.NewIterator(badger.IteratorOptions{Prefix: prefix})
	defer it.Close()
	parents := map[ID]ID{}
	for it.Rewind(); it.Valid(); it.Next() {
		w, ok := parseRow(it.Item().Key())
		if !ok {
			return nil, errLost("a row of the store is damaged")
		}
		if _, twice := parents[w.s]; twice {
			return nil, errLost("a snapshot has two parents")
		}
		parents[w.s] = w.o
		if len(parents) > maxLineage {
			return nil, errs.New(errs.TooLarge, "the lineage of more than %d snapshots is not checked", maxLineage)
		}
	}
	if d.ctx.Err() != nil {
		return nil, errors.Join(storeErr("check the store", d.ctx.Err()))
	}
	return parents, nil
}

// maxLineage bounds the snapshots whose lineage is held in memory, some 50
// bytes each.
const maxLineage = 10_000_000
