package kg

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"
)

// The keys of the store. Numbers are big-endian, so that byte order is number
// order. s, p, o are term ids, g is a graph number.
//
//	key                          value              what
//	m                            meta record        see meta.go; in every commit
//	t | xxh3-128(term) | probe   id 8               term to id
//	i | id 8                     term               id to term
//	g | id 8 of the graph's IRI  number 8, count 8  graph table; id 0 is the unnamed graph
//	x | g 8                      1                  a graph number whose rows wait to be swept
//	c | p 8 | g 8                count 8            rows of a predicate under a graph number
//	S | s 8 | p 8 | o 8 | g 8    -                  the rows, in five orders
//	P | p 8 | o 8 | s 8 | g 8    -
//	O | o 8 | s 8 | p 8 | g 8    -
//	G | g 8 | s 8 | p 8 | o 8    -
//	H | g 8 | p 8 | o 8 | s 8    -
//
// Which order answers a pattern (a dash is a wildcard):
//
//	any graph      S: s-- sp- spo    P: -p- -po    O: --o s-o    S: ---
//	one graph      G: s-- sp- ---    H: -p- -po    O: --o s-o, filtered by graph; spo is a lookup
//
// The graph stands last in S, P and O, so that the quads of one triple are
// neighbours and the union of all graphs is one comparison with the row before.
// A pattern with only graph and object bound reads that object's rows in every
// graph; a sixth order would cost every write a fifth more for that one case.
const (
	tagMeta  = 'm'
	tagTerm  = 't'
	tagID    = 'i'
	tagGraph = 'g'
	tagDead  = 'x'
	tagCount = 'c'
	tagSPOG  = 'S'
	tagPOSG  = 'P'
	tagOSPG  = 'O'
	tagGSPO  = 'G'
	tagGPOS  = 'H'
)

// rowLen is the length of a row's key.
const rowLen = 1 + 4*8

// maxProbes bounds the terms that may share one 128-bit hash.
const maxProbes = 256

// ID is the number of a term; see term.go for its kinds.
type ID uint64

// row is one quad as numbers. g is a graph number, not a term.
type row struct{ s, p, o, g ID }

// orders lists the five orders; each row is written under all of them.
var orders = [...]byte{tagSPOG, tagPOSG, tagOSPG, tagGSPO, tagGPOS}

// arrange returns the row's numbers as they stand in an order's key.
func (r row) arrange(order byte) [4]ID {
	switch order {
	case tagSPOG:
		return [4]ID{r.s, r.p, r.o, r.g}
	case tagPOSG:
		return [4]ID{r.p, r.o, r.s, r.g}
	case tagOSPG:
		return [4]ID{r.o, r.s, r.p, r.g}
	case tagGSPO:
		return [4]ID{r.g, r.s, r.p, r.o}
	default: // tagGPOS
		return [4]ID{r.g, r.p, r.o, r.s}
	}
}

// rowOf is the inverse of arrange.
func rowOf(order byte, n [4]ID) row {
	switch order {
	case tagSPOG:
		return row{s: n[0], p: n[1], o: n[2], g: n[3]}
	case tagPOSG:
		return row{p: n[0], o: n[1], s: n[2], g: n[3]}
	case tagOSPG:
		return row{o: n[0], s: n[1], p: n[2], g: n[3]}
	case tagGSPO:
		return row{g: n[0], s: n[1], p: n[2], o: n[3]}
	default: // tagGPOS
		return row{g: n[0], p: n[1], o: n[2], s: n[3]}
	}
}

// rowKey returns the row's key in an order.
func rowKey(order byte, r row) []byte {
	n := r.arrange(order)
	return prefixKey(order, n[:]...)
}

// prefixKey returns the key, or the prefix of keys, of an order and the
// numbers that are bound.
func prefixKey(order byte, bound ...ID) []byte {
	k := make([]byte, 1, rowLen)
	k[0] = order
	for _, id := range bound {
		k = binary.BigEndian.AppendUint64(k, uint64(id))
	}
	return k
}

// parseRow reads a row's key; ok is false if it is not one.
func parseRow(key []byte) (r row, ok bool) {
	if len(key) != rowLen {
		return row{}, false
	}
	switch key[0] {
	case tagSPOG, tagPOSG, tagOSPG, tagGSPO, tagGPOS:
	default:
		return row{}, false
	}
	var n [4]ID
	for i := range n {
		n[i] = ID(binary.BigEndian.Uint64(key[1+8*i:]))
	}
	return rowOf(key[0], n), true
}

// termHash is the hash that the dictionary files a term under. It is a
// variable of the store so that a test can make terms collide.
type termHash func(term []byte) [16]byte

// xxHash is the store's hash. It need not resist an attacker: the stored term
// is compared after every hit.
func xxHash(term []byte) [16]byte { return xxh3.Hash128(term).Bytes() }

// termKey returns the dictionary's key for a hash and a probe.
func termKey(hash [16]byte, probe int) []byte {
	k := make([]byte, 0, 1+16+1)
	k = append(k, tagTerm)
	k = append(k, hash[:]...)
	return append(k, byte(probe))
}

// idKey returns the key of a term's text.
func idKey(id ID) []byte { return prefixKey(tagID, id) }

// graphKey returns the key of a graph's entry in the graph table.
func graphKey(term ID) []byte { return prefixKey(tagGraph, term) }

// deadKey returns the key that lists a graph number for sweeping.
func deadKey(g ID) []byte { return prefixKey(tagDead, g) }

// metaKey is the key of the meta record.
var metaKey = []byte{tagMeta}
