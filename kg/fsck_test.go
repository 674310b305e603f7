package kg

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/fb"
	"github.com/klauspost/compress/snappy"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

func mustFsck(t testing.TB, dir string, o FsckOptions) FsckReport {
	t.Helper()
	r, err := Fsck(context.Background(), dir, o)
	if err != nil {
		t.Fatalf("fsck: %v", err)
	}
	return r
}

// failed are the names of the checks that found something.
func failedChecks(r FsckReport) (names []string) {
	for _, c := range r.Checks {
		if !c.OK {
			names = append(names, c.Check+" "+c.Place)
			if c.Detail == "" {
				names = append(names, "no detail")
			}
		}
	}
	return names
}

func TestFsckOfAWholeStore(t *testing.T) {
	dir := filled(t)
	before := fingerprint(t, dir)
	full := mustFsck(t, dir, FsckOptions{})
	quick := mustFsck(t, dir, FsckOptions{Quick: true})
	if !full.Clean() || !quick.Clean() || full.Hint != "" {
		t.Errorf("full: %+v\nquick: %+v", full, quick)
	}
	if len(quick.Checks) >= len(full.Checks) {
		t.Errorf("quick makes %d checks, full %d", len(quick.Checks), len(full.Checks))
	}
	s := onDisk(t, dir)
	if full.Triples != uint64(s.Triples()) || full.Commit != s.meta.commit || full.Bytes == 0 {
		t.Errorf("the report says %d triples at commit %d in %d bytes", full.Triples, full.Commit, full.Bytes)
	}
	mustClose(t, s)
	if after := fingerprint(t, dir); before == "" || !strings.Contains(after, "MANIFEST") {
		t.Errorf("the folder was %s and is %s", before, after)
	}
	if after := mustFsck(t, dir, FsckOptions{}); !after.Clean() {
		t.Errorf("a second time: %+v", after)
	}
}

func TestFsckOfNothing(t *testing.T) {
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "missing")} {
		_, err := Fsck(t.Context(), dir, FsckOptions{})
		wantKind(t, err, errs.NotFound)
		if entries, err := os.ReadDir(dir); err == nil && len(entries) != 0 {
			t.Errorf("fsck left %v", entries)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Fsck(ctx, filled(t), FsckOptions{})
	wantKind(t, err, errs.Canceled)
}

// What no count at open can see, the full check does.
func TestFsckFindsWhatCountsDoNot(t *testing.T) {
	move := func(order byte) func(*badger.Txn) error { // one row of an order becomes another
		return func(txn *badger.Txn) error {
			key := firstKey(txn, order)
			other := slices.Clone(key)
			other[rowLen-1-8] ^= 1
			if err := txn.Delete(key); err != nil {
				return err
			}
			return txn.Set(other, nil)
		}
	}
	cases := map[string]struct {
		change func(*badger.Txn) error
		want   []string
	}{
		"row of S is another": {move(tagSPOG), []string{"rows P", "rows O", "rows G", "rows H"}},
		"row of H gone":       {func(txn *badger.Txn) error { return txn.Delete(firstKey(txn, tagGPOS)) }, []string{"rows H"}},
		"entry of the dictionary gone": {
			func(txn *badger.Txn) error { return txn.Delete(firstKey(txn, tagTerm)) }, []string{"dictionary "},
		},
		"term has another's number": {
			func(txn *badger.Txn) error {
				return txn.Set(firstKey(txn, tagTerm), binary.BigEndian.AppendUint64(nil, uint64(kindIRI<<kindShift|3)))
			}, []string{"dictionary "},
		},
		"term has another text": {
			func(txn *badger.Txn) error {
				return txn.Set(idKey(kindIRI<<kindShift|5), encodeTerm(ex("changed")))
			}, []string{"dictionary "},
		},
		"term cannot be read": {
			func(txn *badger.Txn) error { return txn.Set(idKey(kindIRI<<kindShift|5), []byte{9}) }, []string{"dictionary "},
		},
		"count of a graph": {
			func(txn *badger.Txn) error {
				return txn.Set(firstKey(txn, tagGraph), graphEntry{num: 1, count: 7}.encode())
			}, []string{"graphs "},
		},
		"record gone": {func(txn *badger.Txn) error { return txn.Delete(metaKey) }, []string{"record "}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := filled(t)
			tamper(t, dir, c.change)
			r := mustFsck(t, dir, FsckOptions{})
			got := failedChecks(r)
			if r.Clean() || r.Hint == "" {
				t.Errorf("the verdict is %s with the hint %q", r.Verdict, r.Hint)
			}
			for _, w := range c.want {
				if !slices.Contains(got, w) {
					t.Errorf("found %q, want %q among it", got, w)
				}
			}
		})
	}
}

// The text of a term that rows use is gone, in both directions, so that the
// dictionary itself is consistent.
func TestFsckFindsRowsWithoutText(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := onDisk(t, dir)
	add(t, s, quad("only", "here", "once", ""))
	var ids []ID
	txn := s.db.NewTransaction(false)
	for _, term := range []ttl.Term{ex("only"), ex("here"), ex("once")} {
		id, _, _, err := s.dict.find(txn, term)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	txn.Discard()
	mustClose(t, s)
	for i, order := range []string{"S", "P", "O"} {
		copied := filepath.Join(t.TempDir(), "data")
		copyStore(t, dir, copied)
		tamper(t, copied, func(txn *badger.Txn) error {
			item, err := txn.Get(idKey(ids[i]))
			if err != nil {
				return err
			}
			text, err := item.ValueCopy(nil)
			if err != nil {
				return err
			}
			if err := txn.Delete(termKey(xxHash(text), 0)); err != nil {
				return err
			}
			return txn.Delete(idKey(ids[i]))
		})
		if got := failedChecks(mustFsck(t, copied, FsckOptions{})); !slices.Contains(got, "terms in use "+order) {
			t.Errorf("found %q, want the terms of %s", got, order)
		}
	}
}

func TestFsckFindsALineageInACircle(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := onDisk(t, dir)
	derived := func(a, b string) ttl.Quad {
		return ttl.Quad{S: ex(a), P: iri(ontology.PropDerivedFrom), O: ex(b), G: iri(ontology.GraphSnapshots)}
	}
	for i := range 300 { // a long line is none
		add(t, s, derived(fmt.Sprint("line", i), fmt.Sprint("line", i+1)))
	}
	mustClose(t, s)
	if r := mustFsck(t, dir, FsckOptions{}); !r.Clean() {
		t.Errorf("a line: %+v", r)
	}
	s = onDisk(t, dir)
	add(t, s, derived("a", "b"), derived("b", "c"), derived("c", "a"))
	mustClose(t, s)
	if got := failedChecks(mustFsck(t, dir, FsckOptions{})); !slices.Equal(got, []string{"lineage "}) {
		t.Errorf("found %q, want the lineage", got)
	}
}

// Rows that a killed process had staged wait to be swept, and are no damage.
func TestFsckBearsLeftovers(t *testing.T) {
	dir, killed := filled(t), filepath.Join(t.TempDir(), "data")
	s := onDisk(t, dir)
	s.batch = 400
	_, _, err := s.ReplaceGraph(t.Context(), ontology.IRI(ex("g").Value), func(yield func(ttl.Triple, error) bool) {
		for i := range 300 {
			if i == 250 {
				copyStore(t, dir, killed)
			}
			if !yield(ttl.Triple{S: ex(fmt.Sprint("s", i)), P: ex("p"), O: ex("o")}, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	mustClose(t, s)
	r := mustFsck(t, killed, FsckOptions{})
	swept := func(c FsckCheck) bool {
		return strings.Contains(c.Detail, "to be swept") && !strings.Contains(c.Detail, ", 0 of them")
	}
	if !r.Clean() || !slices.ContainsFunc(r.Checks, swept) {
		t.Errorf("%+v", r)
	}
}

// tableBytes is a small table of Badger's own making.
func tableBytes(t testing.TB) []byte {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	s := onDisk(t, dir)
	mustClose(t, s)
	b, err := os.ReadFile(filesOf(t, dir, "*.sst")[0])
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// No bit of a table may be wrong: each byte of a small one is flipped in turn.
func TestEveryFlipOfATableIsFound(t *testing.T) {
	b := tableBytes(t)
	if err := checkTable(t.Context(), b, true); err != nil {
		t.Fatalf("the whole table: %v", err)
	}
	missed := 0
	for at := range b {
		if testing.Short() && at%17 != 0 {
			continue
		}
		bad := bytes.Clone(b)
		bad[at] ^= 1 << (at % 8)
		if tableSurvives(t, bad) {
			missed++
			// Packed bytes may be written in more than one way: then nothing is lost.
			if !sameContent(t, b, bad) {
				t.Errorf("a flip at %d of %d is not found", at, len(b))
			}
		}
	}
	t.Logf("%d bytes; %d flips change nothing that is read", len(b), missed)
	for _, n := range []int{0, 1, 3, 4, 11, 12, len(b) / 2, len(b) - 1} {
		if tableSurvives(t, b[:n]) {
			t.Errorf("a table cut at %d of %d is not found", n, len(b))
		}
	}
}

// tableSurvives reports whether a table passes.
func tableSurvives(t testing.TB, b []byte) (ok bool) {
	t.Helper()
	defer func() {
		if recover() != nil {
			ok = false // as verifyTable has it
		}
	}()
	return checkTable(context.Background(), b, true) == nil
}

// sameContent reports whether two tables that pass unpack to the same.
func sameContent(t testing.TB, a, b []byte) bool {
	t.Helper()
	return bytes.Equal(unpacked(t, a), unpacked(t, b))
}

// unpacked is the index and all blocks of a table, unpacked.
func unpacked(t testing.TB, b []byte) []byte {
	t.Helper()
	table, rest, err := tableIndex(b)
	if err != nil {
		t.Fatal(err)
	}
	out := bytes.Clone(b[len(rest):])
	var at fb.BlockOffset
	for i := range table.OffsetsLength() {
		table.Offsets(&at, i)
		block, err := snappy.Decode(nil, rest[at.Offset():at.Offset()+at.Len()])
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, block...)
	}
	return out
}

func FuzzTable(f *testing.F) {
	b := tableBytes(f)
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Add([]byte{})
	path := filepath.Join(f.TempDir(), "000001.sst")
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, packed := range []bool{true, false} {
			if err := verifyTable(t.Context(), path, packed); err != nil && errs.KindOf(err) != errs.Corrupt {
				t.Errorf("%v is not corrupt", err)
			}
		}
		_, _ = tableVersion(path)
		_, _ = logVersion(path)
	})
}

func FuzzBackup(f *testing.F) {
	s := memory(f)
	add(f, s, awkward()[:6]...)
	b, _ := mustBackup(f, s)
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Add([]byte(backupMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		in, err := openBackup(bytes.NewReader(b))
		if err == nil {
			err = in.quads(func(ttl.Quad) error { return nil })
		}
		if k := errs.KindOf(err); err != nil && k != errs.Corrupt && k != errs.Unsupported {
			t.Errorf("%v is neither corrupt nor unsupported", err)
		}
	})
}
