package kg

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// childEnv makes the test binary another program: a store's user that is to be
// killed, or a second opener.
const childEnv = "BANYAN_KG_TEST_CHILD"

func TestMain(m *testing.M) {
	flag.Parse()
	if role := os.Getenv(childEnv); role != "" {
		os.Exit(child(role))
	}
	// Badger leaves these two behind when its Open fails, which the tests of
	// damaged stores make it do. Of a store that was open, they end with Close.
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("github.com/dgraph-io/badger/v4.(*DB).monitorCache"),
		goleak.IgnoreTopFunction("github.com/dgraph-io/ristretto/v2/z.(*AllocatorPool).freeupAllocators"))
}

// quiet is a logger for tests that provoke warnings.
func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// memory opens a store in memory, closed at the test's end.
func memory(t testing.TB) *Store {
	t.Helper()
	s, err := Open(context.Background(), Config{InMemory: true, Logger: quiet()})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// onDisk opens a store in a folder. The caller closes it.
func onDisk(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(context.Background(), Config{Dir: dir, Logger: quiet()})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return s
}

func mustClose(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
}

// ex is an IRI of the tests' own.
func ex(name string) ttl.Term { return ttl.NewIRI("http://example.org/" + name) }

func quad(s, p, o, g string) ttl.Quad {
	q := ttl.Quad{S: ex(s), P: ex(p), O: ex(o)}
	if g != "" {
		q.G = ex(g)
	}
	return q
}

// all gathers what a pattern matches, sorted by text.
func all(t testing.TB, s *Store, pattern ttl.Quad) []ttl.Quad {
	t.Helper()
	var out []ttl.Quad
	for q, err := range s.Match(context.Background(), pattern) {
		if err != nil {
			t.Fatalf("match: %v", err)
		}
		out = append(out, q)
	}
	slices.SortFunc(out, compareQuads)
	return out
}

func compareQuads(a, b ttl.Quad) int {
	return slices.Compare([]string{text4(a)}, []string{text4(b)})
}

func text4(q ttl.Quad) string { return fmt.Sprintf("%v\x00%v\x00%v\x00%v", q.S, q.P, q.O, q.G) }

func add(t testing.TB, s *Store, qs ...ttl.Quad) {
	t.Helper()
	err := s.Update(context.Background(), func(tx *Tx) error {
		for _, q := range qs {
			if err := tx.Add(q); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("update: %v", err)
	}
}

func wantKind(t testing.TB, err error, kind errs.Kind) {
	t.Helper()
	if err == nil || errs.KindOf(err) != kind {
		t.Errorf("error is %v (%s), want kind %s", err, errs.KindOf(err), kind)
	}
}

// terms counts the dictionary's entries, in both directions.
func terms(t testing.TB, s *Store) (forward, back int) {
	t.Helper()
	return keys(t, s, tagTerm), keys(t, s, tagID)
}

// keys counts the keys under a tag.
func keys(t testing.TB, s *Store, tag byte) (n int) {
	t.Helper()
	txn := s.db.NewTransaction(false)
	defer txn.Discard()
	it := txn.NewIterator(iteratorUnder(tag))
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		n++
	}
	return n
}

// clean is a store's own check of itself, as at open.
func clean(t testing.TB, s *Store) {
	t.Helper()
	if err := verified(s); err != nil {
		t.Errorf("the store's check: %v", err)
	}
	for _, order := range orders {
		if got := keys(t, s, order); int64(got) != s.Triples() {
			t.Errorf("order %c has %d rows, want %d", order, got, s.Triples())
		}
	}
	if n := keys(t, s, tagDead); n != 0 {
		t.Errorf("%d graphs wait to be swept", n)
	}
}

func ontologyIRI(s string) ontology.IRI { return ontology.IRI(s) }

// verified is the recount of a store that is running.
func verified(s *Store) error {
	txn := s.db.NewTransaction(false)
	defer txn.Discard()
	m, ok, err := readMeta(txn)
	if err != nil || !ok {
		return fmt.Errorf("meta record: %v, %w", ok, err)
	}
	table, err := s.verify(context.Background(), txn, m)
	if err != nil {
		return err
	}
	d := deepCheck{fsck: &fsck{ctx: context.Background()}, txn: txn, meta: m, table: table}
	d.checkOrders() // the dictionary may have another hash in a test
	d.report.note("counts", "", d.checkCounts(), "")
	for _, c := range d.report.Checks {
		if !c.OK {
			return fmt.Errorf("%s %s: %s", c.Check, c.Place, c.Detail)
		}
	}
	return nil
}
