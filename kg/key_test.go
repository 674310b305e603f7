package kg

import (
	"bytes"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/dgraph-io/badger/v4"
)

func iteratorUnder(tag byte) badger.IteratorOptions {
	return badger.IteratorOptions{Prefix: []byte{tag}}
}

func TestKeysAreGolden(t *testing.T) {
	r := row{s: 0x1000000000000001, p: 0x1000000000000002, o: 0x8800000000000003, g: 4}
	const s, p, o, g = "1000000000000001", "1000000000000002", "8800000000000003", "0000000000000004"
	hash := xxHash([]byte("term"))
	for _, c := range []struct {
		name, want string
		got        []byte
	}{
		{"meta", "6d", metaKey},
		{"S", "53" + s + p + o + g, rowKey(tagSPOG, r)},
		{"P", "50" + p + o + s + g, rowKey(tagPOSG, r)},
		{"O", "4f" + o + s + p + g, rowKey(tagOSPG, r)},
		{"G", "47" + g + s + p + o, rowKey(tagGSPO, r)},
		{"H", "48" + g + p + o + s, rowKey(tagGPOS, r)},
		{"term", "74" + "4b3abbe5b4e104f1d9a1f9d8b5c8b0d5" + "03", termKey([16]byte{0x4b, 0x3a, 0xbb, 0xe5, 0xb4, 0xe1, 0x04, 0xf1, 0xd9, 0xa1, 0xf9, 0xd8, 0xb5, 0xc8, 0xb0, 0xd5}, 3)},
		{"id", "69" + s, idKey(r.s)},
		{"graph", "67" + s, graphKey(r.s)},
		{"dead", "78" + g, deadKey(r.g)},
		{"prefix", "50" + p + o, prefixKey(tagPOSG, r.p, r.o)},
		{"hash", "ff90e7d0f4a769e43861c43061c578cd", hash[:]},
	} {
		if got := hex.EncodeToString(c.got); got != c.want {
			t.Errorf("%s: key is %s, want %s", c.name, got, c.want)
		}
	}
}

func TestGraphTableEntryIsGolden(t *testing.T) {
	b := graphEntry{num: 7, count: 258}.encode()
	if got, want := hex.EncodeToString(b), "00000000000000070000000000000102"; got != want {
		t.Errorf("entry is %s, want %s", got, want)
	}
}

func FuzzRowKeys(f *testing.F) {
	f.Add(uint64(1), uint64(2), uint64(3), uint64(4), uint64(5), uint64(6), uint64(7), uint64(8))
	f.Add(uint64(0), ^uint64(0), uint64(255), uint64(256), uint64(0), ^uint64(0), uint64(255), uint64(257))
	f.Fuzz(func(t *testing.T, s1, p1, o1, g1, s2, p2, o2, g2 uint64) {
		a, b := row{ID(s1), ID(p1), ID(o1), ID(g1)}, row{ID(s2), ID(p2), ID(o2), ID(g2)}
		for _, order := range orders {
			ka, kb := rowKey(order, a), rowKey(order, b)
			got, ok := parseRow(ka)
			if !ok || got != a {
				t.Fatalf("order %c: %v reads back as %v (%v)", order, a, got, ok)
			}
			na, nb := a.arrange(order), b.arrange(order)
			if bytes.Compare(ka, kb) != slices.Compare(na[:], nb[:]) {
				t.Fatalf("order %c: the keys of %v and %v do not sort as their numbers", order, a, b)
			}
		}
	})
}

func FuzzParseRow(f *testing.F) {
	f.Add([]byte("S"))
	f.Add(rowKey(tagGPOS, row{1, 2, 3, 4}))
	f.Add(make([]byte, rowLen))
	f.Fuzz(func(t *testing.T, key []byte) {
		r, ok := parseRow(key)
		if ok && !bytes.Equal(rowKey(key[0], r), key) {
			t.Fatalf("%x reads as %v, which has another key", key, r)
		}
	})
}

func FuzzDecodeRecords(f *testing.F) {
	f.Add(meta{format: 1, commit: 2, graphs: 3, triples: 4, nextTerm: 5, nextRow: 6}.encode())
	f.Add([]byte("bnkg"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := decodeMeta(b); err == nil && !bytes.Equal(m.encode(), b) {
			t.Fatalf("meta %x reads as %+v", b, m)
		}
		if e, err := decodeGraphEntry(b); err == nil && !bytes.Equal(e.encode(), b) {
			t.Fatalf("entry %x reads as %+v", b, e)
		}
	})
}
