package kg

import (
	"encoding/binary"
	"errors"

	"github.com/dgraph-io/badger/v4"
	"github.com/zeebo/xxh3"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// formatVersion is the layout of key.go. A store of another version is refused.
const formatVersion = 2

// metaMagic begins every meta record.
const metaMagic = "bnkg"

// meta is the record that every commit carries, so that the store can be held
// against its own account of itself at open.
type meta struct {
	format   uint32
	commit   uint64 // number of this commit, from 1
	graphs   uint64 // number of the last commit that changed the graph table
	triples  uint64 // rows in graphs of the table
	nextTerm uint64 // next sequence number of a term
	nextRow  uint64 // next graph number
}

// metaLen is magic, format, five numbers and a checksum.
const metaLen = 4 + 4 + 5*8 + 8

// encode returns the record's stored form.
func (m meta) encode() []byte {
	b := append(make([]byte, 0, metaLen), metaMagic...)
	b = binary.BigEndian.AppendUint32(b, m.format)
	for _, n := range [...]uint64{m.commit, m.graphs, m.triples, m.nextTerm, m.nextRow} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return binary.BigEndian.AppendUint64(b, xxh3.Hash(b))
}

// decodeMeta reads a record; what it cannot trust is Corrupt.
func decodeMeta(b []byte) (meta, error) {
	if len(b) > 16 && string(b[:4]) == metaMagic && xxh3.Hash(b[:len(b)-8]) == binary.BigEndian.Uint64(b[len(b)-8:]) {
		if format := binary.BigEndian.Uint32(b[4:]); format != formatVersion {
			return meta{}, errs.New(errs.Unsupported, "the store has format %d; this program reads format %d", format, formatVersion).
				WithHint("export it with the program that wrote it, and import that into an empty store")
		}
	}
	if len(b) != metaLen || string(b[:4]) != metaMagic || xxh3.Hash(b[:metaLen-8]) != binary.BigEndian.Uint64(b[metaLen-8:]) {
		return meta{}, errs.New(errs.Corrupt, "the store's own record of itself is damaged").WithHint(restoreHint)
	}
	m := meta{format: binary.BigEndian.Uint32(b[4:])}
	for i, n := range [...]*uint64{&m.commit, &m.graphs, &m.triples, &m.nextTerm, &m.nextRow} {
		*n = binary.BigEndian.Uint64(b[8+8*i:])
	}
	return m, nil
}

// restoreHint is what is left to do with a store that cannot be trusted.
const restoreHint = "restore the data folder from a backup, or start with an empty one and import again"

// readMeta reads the record within a transaction; ok is false if there is none.
func readMeta(txn *badger.Txn) (m meta, ok bool, err error) {
	item, err := txn.Get(metaKey)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return meta{}, false, nil
	}
	if err != nil {
		return meta{}, false, storeErr("read the store's record", err)
	}
	err = item.Value(func(b []byte) (err error) {
		m, err = decodeMeta(b)
		return err
	})
	return m, err == nil, err
}
