package kg

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// filled makes a closed store with something in it.
func filled(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	s := onDisk(t, dir)
	for n := range 20 {
		mustPut(t, s, testSnapshot(n))
	}
	mustClose(t, s)
	return dir
}

// tamper changes a closed store behind its back.
func tamper(t *testing.T, dir string, change func(txn *badger.Txn) error) {
	t.Helper()
	db, err := badger.Open(badgerOptions(Config{Dir: dir, Logger: quiet()}))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(change); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// firstKey returns the first key under a tag.
func firstKey(txn *badger.Txn, tag byte) []byte {
	it := txn.NewIterator(iteratorUnder(tag))
	defer it.Close()
	it.Rewind()
	return it.Item().KeyCopy(nil)
}

func TestDamageIsReportedAtOpen(t *testing.T) {
	change := func(f func(txn *badger.Txn) error) func(*testing.T, string) {
		return func(t *testing.T, dir string) { tamper(t, dir, f) }
	}
	drop := func(tag byte) func(*testing.T, string) {
		return change(func(txn *badger.Txn) error { return txn.Delete(firstKey(txn, tag)) })
	}
	cases := map[string]func(*testing.T, string){
		"meta record gone":    change(func(txn *badger.Txn) error { return txn.Delete(metaKey) }),
		"meta record cut":     change(func(txn *badger.Txn) error { return txn.Set(metaKey, []byte("bnkg")) }),
		"meta record empty":   change(func(txn *badger.Txn) error { return txn.Set(metaKey, nil) }),
		"graph table gone":    drop(tagGraph),
		"graph entry empty":   change(func(txn *badger.Txn) error { return txn.Set(firstKey(txn, tagGraph), nil) }),
		"text of a term gone": change(func(txn *badger.Txn) error { return txn.Delete(idKey(kindIRI<<kindShift | 1)) }),
		"manifest gone":       func(t *testing.T, dir string) { remove(t, dir, "MANIFEST") },
		"everything but our files gone": func(t *testing.T, dir string) {
			remove(t, dir, "MANIFEST")
			remove(t, dir, "*.sst")
			remove(t, dir, "*.vlog")
		},
		"a table gone": func(t *testing.T, dir string) { remove(t, dir, "*.sst") },
	}
	for name, damage := range cases {
		t.Run(name, func(t *testing.T) {
			dir := filled(t)
			damage(t, dir)
			s, err := Open(t.Context(), Config{Dir: dir, Logger: quiet()})
			if err == nil {
				mustClose(t, s)
			}
			wantKind(t, err, errs.Corrupt)
			if text := errs.Public(err); strings.Contains(text, filepath.Dir(dir)) || errs.HintOf(err) == "" {
				t.Errorf("the message is %q with the hint %q", text, errs.HintOf(err))
			}
		})
	}
}

// Rows that go while the files stay whole are no damage that a disk or a crash
// does; the full check finds them all the same.
func TestFsckFindsARowOrCountThatIsGone(t *testing.T) {
	for _, tag := range append([]byte{tagCount}, orders[:]...) {
		t.Run(string(tag), func(t *testing.T) {
			dir := filled(t)
			tamper(t, dir, func(txn *badger.Txn) error { return txn.Delete(firstKey(txn, tag)) })
			report, err := Fsck(t.Context(), dir, FsckOptions{})
			if err != nil || report.Verdict != FsckDamaged {
				t.Errorf("the verdict is %q, %v", report.Verdict, err)
			}
		})
	}
}

func remove(t *testing.T, dir, pattern string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no file fits %s: %v", pattern, err)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
}

// A write-ahead file that is lost after a crash takes the last commits with it,
// and Badger says nothing.
func TestLostCommitsAreReported(t *testing.T) {
	dir, copied := t.TempDir(), t.TempDir()
	s := onDisk(t, dir)
	mustPut(t, s, testSnapshot(0))
	mustClose(t, s) // so that there is a whole, older state in the tables
	s = onDisk(t, dir)
	defer mustClose(t, s)
	mustPut(t, s, testSnapshot(1))
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil { // as a crash leaves it
		t.Fatal(err)
	}
	whole := onDisk(t, copied)
	if _, ok := whole.Snapshot(snapID(1)); !ok {
		t.Error("the copy of a running store has lost an acknowledged commit")
	}
	mustClose(t, whole)

	copied = t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	remove(t, copied, "*.mem")
	s2, err := Open(t.Context(), Config{Dir: copied, Logger: quiet()})
	if err == nil {
		mustClose(t, s2)
	}
	wantKind(t, err, errs.Corrupt)
	if text := errs.Public(err); !strings.Contains(text, "lost its last commits, 1 of them") {
		t.Errorf("the message is %q", text)
	}
}

// A store whose process was killed is counted when its logs were replayed, and
// if rows are missing it is refused ever after, though the logs are gone then.
func TestMissingRowsStayCorrupt(t *testing.T) {
	for name, first := range map[string]func(t *testing.T, dir string){
		"opened": func(t *testing.T, dir string) {
			_, err := Open(t.Context(), Config{Dir: dir, Logger: quiet()})
			wantKind(t, err, errs.Corrupt)
		},
		"checked": func(t *testing.T, dir string) {
			if r := mustFsck(t, dir, FsckOptions{}); r.Clean() {
				t.Error("fsck finds the store clean")
			}
		},
		"checked quickly": func(t *testing.T, dir string) { mustFsck(t, dir, FsckOptions{Quick: true}) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, killed := filled(t), filepath.Join(t.TempDir(), "data")
			db, err := badger.Open(badgerOptions(Config{Dir: dir, Logger: quiet()}))
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Update(func(txn *badger.Txn) error { return txn.Delete(firstKey(txn, tagGSPO)) }); err != nil {
				t.Fatal(err)
			}
			copyStore(t, dir, killed)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			remove(t, dir, "*") // it has no marker, and is no case of this test
			first(t, killed)
			for range 2 {
				_, err := Open(t.Context(), Config{Dir: killed, Logger: quiet()})
				wantKind(t, err, errs.Corrupt)
			}
		})
	}
}

// Our own small files are guards, not content: what a killed process leaves in
// them, or their damage, needs no one's help.
func TestGuardFilesMayBeAnything(t *testing.T) {
	for _, content := range []string{"", "garbage", `{"pid":1,"program":"init"}`, strings.Repeat("\x00", 4096)} {
		dir := filled(t)
		for _, name := range []string{ownerName, highWaterName} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := onDisk(t, dir)
		if _, ok := s.Snapshot(snapID(19)); !ok {
			t.Error("a snapshot is gone")
		}
		mustClose(t, s)
	}
}

func TestOpenRefusesBadSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		cfg  Config
		kind errs.Kind
	}{
		"nothing":       {Config{}, errs.Invalid},
		"both":          {Config{Dir: "x", InMemory: true}, errs.Invalid},
		"a file":        {Config{Dir: file}, errs.Unavailable},
		"newer format":  {Config{Dir: newerFormat(t)}, errs.Unsupported},
		"below a file":  {Config{Dir: filepath.Join(file, "x")}, errs.Unavailable},
		"other's files": {Config{Dir: foreign(t)}, errs.Corrupt},
	} {
		c.cfg.Logger = quiet()
		_, err := Open(t.Context(), c.cfg)
		if err == nil || errs.KindOf(err) != c.kind {
			t.Errorf("%s: %v, want %s", name, err, c.kind)
		}
	}
}

func newerFormat(t *testing.T) string {
	dir := filled(t)
	tamper(t, dir, func(txn *badger.Txn) error {
		m, _, err := readMeta(txn)
		if err != nil {
			return err
		}
		m.format++
		return txn.Set(metaKey, m.encode())
	})
	return dir
}

// foreign is a Badger database that is not a store of ours.
func foreign(t *testing.T) string {
	dir := t.TempDir()
	tamper(t, dir, func(txn *badger.Txn) error { return txn.Set([]byte("k"), []byte("v")) })
	return dir
}
