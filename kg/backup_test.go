package kg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// mustBackup returns a backup of a store.
func mustBackup(t testing.TB, s *Store) ([]byte, BackupReport) {
	t.Helper()
	var b bytes.Buffer
	report, err := s.Backup(context.Background(), &b)
	if err != nil {
		t.Fatalf("backup: %v", err)
	}
	if report.Bytes != int64(b.Len()) {
		t.Errorf("the report speaks of %d bytes, there are %d", report.Bytes, b.Len())
	}
	return b.Bytes(), report
}

// awkward are quads whose terms have to come back as they are.
func awkward() []ttl.Quad {
	blank := ttl.NewBlank("kept")
	return []ttl.Quad{
		{S: blank, P: ex("p"), O: blank, G: ex("g1")},
		{S: blank, P: ex("p"), O: ttl.NewString("line\nbreak \" \\ \x00 ü"), G: ex("g2")},
		{S: ex("s"), P: ex("p"), O: ttl.NewLang("Haus", "de-AT")},
		{S: ex("s"), P: ex("p"), O: ttl.NewTyped("01", ttl.XSDInteger)},
		{S: ex("s"), P: ex("p"), O: ttl.NewTyped("1", ttl.XSDInteger)},
		{S: ex("s"), P: ex("p"), O: ttl.NewString(""), G: ex("g1")},
		{S: ex("s"), P: ex("p"), O: ttl.NewString(strings.Repeat("long ", 40_000)), G: ex("g1")},
	}
}

func TestBackupComesBackWhole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := onDisk(t, dir)
	add(t, s, awkward()...)
	for n := range 20 {
		mustPut(t, s, testSnapshot(n))
	}
	want := all(t, s, ttl.Quad{})
	b, made := mustBackup(t, s)
	mustClose(t, s)

	for name, target := range map[string]string{
		"into nothing":        filepath.Join(t.TempDir(), "new"),
		"into an empty one":   t.TempDir(),
		"over what was there": dir,
	} {
		t.Run(name, func(t *testing.T) {
			over := target == dir
			if over {
				if _, err := Restore(t.Context(), target, bytes.NewReader(b), RestoreOptions{}); errs.KindOf(err) != errs.Conflict || errs.HintOf(err) == "" {
					t.Errorf("without force: %v, want a conflict with a hint", err)
				}
			}
			report, err := Restore(t.Context(), target, bytes.NewReader(b), RestoreOptions{Force: over})
			if err != nil {
				t.Fatal(err)
			}
			if report.Triples != made.Triples || report.Commit != made.Commit || (report.Aside != "") != over {
				t.Errorf("the report is %+v after a backup of %+v", report, made)
			}
			got := onDisk(t, target)
			clean(t, got)
			if !slices.Equal(all(t, got, ttl.Quad{}), want) {
				t.Error("the restored store does not hold what the backup was made of")
			}
			if _, ok := got.Snapshot(snapID(7)); !ok {
				t.Error("a snapshot is not found in the restored store")
			}
			mustClose(t, got)
			if over {
				former := onDisk(t, filepath.Join(filepath.Dir(target), report.Aside))
				if !slices.Equal(all(t, former, ttl.Quad{}), want) {
					t.Error("the former store is not whole")
				}
				mustClose(t, former)
			}
			if _, err := os.Stat(target + restoreSuffix); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the restore left its folder: %v", err)
			}
		})
	}
}

// Statements that share no term at all are the most that a transaction has to
// bear, and so are terms of the greatest length.
func TestRestoreOfWhatSharesNothing(t *testing.T) {
	s := memory(t)
	const n = 4000
	for from := 0; from < n; from += 500 {
		var qs []ttl.Quad
		for i := from; i < from+500; i++ {
			qs = append(qs, quad(fmt.Sprint("s", i), fmt.Sprint("p", i), fmt.Sprint("o", i), fmt.Sprint("g", i)))
		}
		add(t, s, qs...)
	}
	for i := range 12 {
		add(t, s, ttl.Quad{S: ex("long"), P: ex("p"), O: ttl.NewString(strings.Repeat(fmt.Sprint(i), 250_000))})
	}
	b, made := mustBackup(t, s)
	dir := filepath.Join(t.TempDir(), "data")
	report, err := Restore(t.Context(), dir, bytes.NewReader(b), RestoreOptions{})
	if err != nil || report.Triples != made.Triples {
		t.Errorf("restored %d of %d triples, %v", report.Triples, made.Triples, err)
	}
}

// Every backup that is cut, or has one bit wrong, is refused, and the store
// that is there stays as it is.
func TestDamagedBackupChangesNothing(t *testing.T) {
	s := memory(t)
	add(t, s, quad("a", "b", "c", "g"))
	b, _ := mustBackup(t, s)
	read := func(b []byte) error {
		in, err := openBackup(bytes.NewReader(b))
		if err == nil {
			err = in.quads(func(ttl.Quad) error { return nil })
		}
		return err
	}
	if err := read(b); err != nil {
		t.Fatalf("the whole backup: %v", err)
	}
	refused := func(what string, b []byte) {
		err := read(b)
		if k := errs.KindOf(err); err == nil || k != errs.Corrupt && k != errs.Unsupported {
			t.Errorf("%s: %v, want corrupt", what, err)
		}
	}
	for n := range b {
		refused(fmt.Sprintf("cut at %d of %d", n, len(b)), b[:n])
		flipped := bytes.Clone(b)
		flipped[n] ^= 1 << (n % 8)
		refused(fmt.Sprintf("flipped at %d of %d", n, len(b)), flipped)
	}
	refused("followed by a byte", append(bytes.Clone(b), 0))

	dir := filled(t)
	before := fingerprint(t, dir)
	for _, bad := range [][]byte{nil, []byte("garbage"), b[:len(b)/2], b[:len(b)-1], flipAt(len(b) / 2)(bytes.Clone(b))} {
		_, err := Restore(t.Context(), dir, bytes.NewReader(bad), RestoreOptions{Force: true})
		wantKind(t, err, errs.Corrupt)
		if text := errs.Public(err); strings.Contains(text, filepath.Dir(dir)) {
			t.Errorf("the message %q shows a path", text)
		}
	}
	if after := fingerprint(t, dir); after != before {
		t.Errorf("the store was changed:\n%s\n%s", before, after)
	}
	if left, err := filepath.Glob(dir + ".*"); err != nil || len(left) > 0 {
		t.Errorf("folders were left: %v %v", left, err)
	}
}

// fingerprint lists a folder's files with their sizes and times, but for the
// file that says who has it open.
func fingerprint(t testing.TB, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.Name() != ownerName {
			fmt.Fprintln(&out, e.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return out.String()
}

func TestRestoreRefusesALiveOwner(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := onDisk(t, dir)
	add(t, s, quad("a", "b", "c", ""))
	b, _ := mustBackup(t, s)
	_, err := Restore(t.Context(), dir, bytes.NewReader(b), RestoreOptions{Force: true})
	wantKind(t, err, errs.Conflict)
	_, err = Fsck(t.Context(), dir, FsckOptions{})
	wantKind(t, err, errs.Conflict)
	add(t, s, quad("a", "b", "d", ""))
	clean(t, s)
	mustClose(t, s)
}

// A backup that is made while others write is the state of one commit: each
// commit moves one statement and leaves their number the same.
func TestBackupDuringWritesIsOneCommit(t *testing.T) {
	s := onDisk(t, filepath.Join(t.TempDir(), "data"))
	defer mustClose(t, s)
	const tokens = 500
	qs := make([]ttl.Quad, tokens)
	for i := range qs {
		qs[i] = ttl.Quad{S: ex(fmt.Sprint("token", i)), P: ex("at"), O: integer(0)}
	}
	add(t, s, qs...)
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			i := n % tokens
			err := s.Update(context.Background(), func(tx *Tx) error {
				if err := tx.Delete(qs[i]); err != nil {
					return err
				}
				qs[i].O = integer(int64(n + 1))
				return tx.Add(qs[i])
			})
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 5 {
		before := s.Triples()
		b, report := mustBackup(t, s)
		dir := filepath.Join(t.TempDir(), "data")
		if _, err := Restore(t.Context(), dir, bytes.NewReader(b), RestoreOptions{}); err != nil {
			t.Fatal(err)
		}
		got := onDisk(t, dir)
		rows := all(t, got, ttl.Quad{P: ex("at")})
		seen := map[ttl.Term]bool{}
		last := map[string]bool{}
		for _, q := range rows {
			seen[q.S] = true
			if q.O.Value != "0" && last[q.O.Value] {
				t.Errorf("two tokens are at %s", q.O.Value)
			}
			last[q.O.Value] = true
		}
		if len(rows) != tokens || len(seen) != tokens || got.Triples() != before {
			t.Errorf("the backup of commit %d holds %d tokens, %d of them different, and %d triples, want %d", report.Commit, len(rows), len(seen), got.Triples(), before)
		}
		mustClose(t, got)
	}
	close(stop)
	writer.Wait()
}

func TestBackupEndsWithItsWriter(t *testing.T) {
	s := memory(t)
	add(t, s, someQuads(0, 100)...)
	_, err := s.Backup(t.Context(), failingWriter{})
	wantKind(t, err, errs.Unavailable)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Backup(ctx, &bytes.Buffer{})
	wantKind(t, err, errs.Canceled)
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("no") }

// A restore that is killed, at any moment, leaves the former store as it was
// or the new one complete, and the next restore needs nobody's help.
func TestKilledRestoreLeavesAWholeStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	file := filepath.Join(t.TempDir(), "backup")
	s := onDisk(t, dir)
	add(t, s, someQuads(1, 3000)...)
	b, report := mustBackup(t, s)
	add(t, s, quad("former", "is", "here", ""))
	former := s.Triples()
	mustClose(t, s)
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if out, err := startChild(t, "restore", filepath.Join(t.TempDir(), "x"), "BANYAN_KG_TEST_BACKUP="+file).Output(); err != nil {
		t.Fatalf("a restore that is not killed: %v %s", err, out)
	}
	whole := time.Since(start)
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	outcomes := map[string]int{}
	for n := range rounds {
		cmd := startChild(t, "restore", dir, "BANYAN_KG_TEST_BACKUP="+file)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(whole*time.Duration(n+1)/time.Duration(rounds), func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		kill.Stop()
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.Exited()) {
			t.Fatalf("round %d: the restore failed by itself: %v", n, err)
		}
		s := onDisk(t, dir)
		clean(t, s)
		switch got := s.Triples(); got {
		case former:
			outcomes["former"]++
		case int64(report.Triples):
			outcomes["new"]++
			add(t, s, quad("former", "is", "here", "")) // the next round's former store
		default:
			t.Errorf("round %d: the store holds %d triples, neither %d nor %d", n, got, former, report.Triples)
		}
		mustClose(t, s)
	}
	t.Logf("outcomes of %d kills: %v", rounds, outcomes)
	if _, err := Restore(t.Context(), dir, bytes.NewReader(b), RestoreOptions{Force: true}); err != nil {
		t.Errorf("a restore after all of them: %v", err)
	}
	if _, err := os.Stat(dir + restoreSuffix); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a killed restore's folder is still there: %v", err)
	}
}

// Where two folders cannot be exchanged in one step, a restore that is killed
// between its two must not be followed by an empty store.
func TestCutOffRestoreIsNotAnEmptyStore(t *testing.T) {
	dir := filled(t)
	if err := os.Rename(dir, dir+restoreSuffix); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Config{Dir: dir, Logger: quiet()})
	wantKind(t, err, errs.Corrupt)
	if !strings.Contains(errs.HintOf(err), "restore") {
		t.Errorf("the hint is %q", errs.HintOf(err))
	}
}

func TestRestoreInTwoSteps(t *testing.T) {
	dir := filled(t)
	beside := dir + restoreSuffix
	if err := os.Mkdir(beside, 0o700); err != nil {
		t.Fatal(err)
	}
	res := &restoring{dir: dir}
	aside := res.asideName()
	if err := res.swapInTwo(aside); err != nil {
		t.Fatal(err)
	}
	mustClose(t, onDisk(t, aside))
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("the new folder is not in the place: %v %v", entries, err)
	}
	if err := res.swapInTwo(res.asideName()); err == nil {
		t.Error("a swap without a new store succeeds")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("a swap that failed did not put the former store back: %v", err)
	}
}

// Any graphs that can be stored come back from a backup, and from N-Quads.
func TestAnyGraphComesBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, err := Open(context.Background(), Config{InMemory: true, Logger: quiet()})
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		qs := rapid.SliceOfN(rapid.Custom(drawQuad), 0, 30).Draw(rt, "quads")
		add(t, s, qs...)
		want := all(t, s, ttl.Quad{})
		var b, text bytes.Buffer
		if _, err := s.Backup(context.Background(), &b); err != nil {
			rt.Fatal(err)
		}
		in, err := openBackup(&b)
		if err != nil {
			rt.Fatal(err)
		}
		var got []ttl.Quad
		if err := in.quads(func(q ttl.Quad) error { got = append(got, q); return nil }); err != nil {
			rt.Fatal(err)
		}
		slices.SortFunc(got, compareQuads)
		if !slices.Equal(got, want) {
			rt.Fatalf("the backup holds %v, want %v", got, want)
		}
		for _, format := range []ttl.Format{ttl.Turtle, ttl.NTriples, ttl.NQuads} {
			text.Reset()
			if err := s.Export(context.Background(), &text, "", format); err != nil {
				rt.Fatal(err)
			}
			want := want
			if format != ttl.NQuads {
				want = union(want)
			}
			if got := readAll(rt, text.String(), format); !slices.Equal(got, want) {
				rt.Fatalf("%s holds %v, want %v\n%s", format, got, want, text.String())
			}
		}
	})
}

// union is the triples of all graphs, each once.
func union(qs []ttl.Quad) (out []ttl.Quad) {
	for _, q := range qs {
		q.G = ttl.Term{}
		out = append(out, q)
	}
	slices.SortFunc(out, compareQuads)
	return slices.Compact(out)
}

// readAll reads a document. Labels of blank nodes come back as they are.
func readAll(t rapid.TB, text string, format ttl.Format) (out []ttl.Quad) {
	in := ttl.NewReader(strings.NewReader(text), ttl.Options{Format: format})
	for {
		q, err := in.ReadQuad()
		if errors.Is(err, io.EOF) {
			slices.SortFunc(out, compareQuads)
			return out
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		out = append(out, q)
	}
}

func drawQuad(t *rapid.T) ttl.Quad {
	name := rapid.SampledFrom([]string{"a", "b", "c", "d/e", "%C3%BC", "ü?q=1#f"})
	node := rapid.OneOf(
		rapid.Map(name, ex),
		rapid.Map(rapid.SampledFrom([]string{"x", "y", "b0", "n-1.z"}), ttl.NewBlank))
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "1", "01", "\"", "\\", "\r\n", "true", "é"}))
	literal := rapid.OneOf(
		rapid.Map(text, ttl.NewString),
		rapid.Map(text, func(s string) ttl.Term { return ttl.NewLang(s, "zh-Hant-TW") }),
		rapid.Map(text, func(s string) ttl.Term { return ttl.NewTyped(s, ttl.XSDInteger) }))
	q := ttl.Quad{S: node.Draw(t, "s"), P: ex(name.Draw(t, "p")), O: rapid.OneOf(node, literal).Draw(t, "o")}
	if rapid.Bool().Draw(t, "named") {
		q.G = ex(name.Draw(t, "g"))
	}
	return q
}

// childRestore is the child of TestKilledRestoreLeavesAWholeStore.
func childRestore(dir string) int {
	f, err := os.Open(os.Getenv("BANYAN_KG_TEST_BACKUP"))
	if err != nil {
		fmt.Println(err)
		return 3
	}
	if _, err := Restore(context.Background(), dir, f, RestoreOptions{Force: true}); err != nil {
		fmt.Println(err)
		return 4
	}
	return 0
}
