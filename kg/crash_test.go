package kg

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// perBatch is how many statements one transaction of the child writes: the
// invariant is that a batch is there with all of them or not at all.
const perBatch = 40

// child is what the test binary does as another process. It acknowledges each
// commit on standard output, after Update has returned.
func child(role string) int {
	dir := os.Getenv("BANYAN_KG_TEST_DIR")
	switch role {
	case "verdict":
		return childVerdict(dir)
	case "restore":
		return childRestore(dir)
	}
	s, err := Open(context.Background(), Config{Dir: dir, Logger: quiet()})
	if err != nil {
		fmt.Println("refused", errs.KindOf(err), strings.ReplaceAll(err.Error(), "\n", " "))
		return 3
	}
	switch role {
	case "open":
		fmt.Println("opened")
		return 0
	case "full":
		return childFull(s)
	case "kills":
		return childKills(s)
	case "write":
		s.batch = 6000 // so that the replaced graph takes several commits
		first, _ := strconv.Atoi(os.Getenv("BANYAN_KG_TEST_FIRST"))
		for n := first; ; n++ {
			if err := childWrite(s, n); err != nil {
				fmt.Println("failed", err)
				return 4
			}
			fmt.Println("ack", n)
		}
	}
	return 5
}

// childWrite writes batch n: a plain transaction, a graph that is replaced in
// several commits, or a snapshot.
func childWrite(s *Store, n int) error {
	ctx := context.Background()
	switch n % 3 {
	case 0:
		return s.Update(ctx, func(tx *Tx) error {
			for i := range perBatch {
				if err := tx.Add(quad(fmt.Sprint("batch", n), "has", fmt.Sprint("n", n, "i", i), "batches")); err != nil {
					return err
				}
			}
			return nil
		})
	case 1:
		_, _, err := s.ReplaceGraph(ctx, ontology.IRI(ex("replaced").Value), func(yield func(ttl.Triple, error) bool) {
			for i := range 2500 { // more than one transaction holds
				if !yield(ttl.Triple{S: ex(fmt.Sprint("r", i)), P: ex("round"), O: ex(fmt.Sprint(n))}, nil) {
					return
				}
			}
		})
		return err
	default:
		sn := testSnapshot(n)
		sn.Node = "child"
		return s.PutSnapshot(ctx, sn)
	}
}

func startChild(t *testing.T, role, dir string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append(env, childEnv+"="+role, "BANYAN_KG_TEST_DIR="+dir)...)
	cmd.Stderr = os.Stderr
	return cmd
}

func TestB46_KilledWritersLoseNothing(t *testing.T) {
	dir := t.TempDir()
	rounds, next, acked := 12, 0, map[int]bool{}
	if testing.Short() {
		rounds = 4
	}
	for round := range rounds {
		cmd := startChild(t, "write", dir, "BANYAN_KG_TEST_FIRST="+strconv.Itoa(next))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for seen := 0; lines.Scan(); {
			var n int
			if _, err := fmt.Sscanf(lines.Text(), "ack %d", &n); err != nil {
				t.Errorf("round %d: the child says %q", round, lines.Text())
				break
			}
			acked[n] = true
			next = n + 1
			if seen++; seen == 3+round%4 {
				// The next write is under way; let it come to different points.
				time.AfterFunc(time.Duration(round)*700*time.Microsecond, func() { _ = cmd.Process.Kill() })
			}
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the child was not killed")
		}
		checkBatches(t, dir, acked, next)
		next++ // what was under way may be there, and is not written again
	}
}

// checkBatches opens the store after a kill and holds it against what was
// acknowledged. under is the batch that was being written.
func checkBatches(t *testing.T, dir string, acked map[int]bool, under int) {
	t.Helper()
	s := onDisk(t, dir)
	defer mustClose(t, s)
	clean(t, s)
	for n := range under + 1 {
		switch n % 3 {
		case 0:
			got := len(all(t, s, ttl.Quad{S: ex(fmt.Sprint("batch", n))}))
			if got != perBatch && (acked[n] || got != 0) {
				t.Errorf("batch %d (acknowledged: %v) has %d statements, want %d", n, acked[n], got, perBatch)
			}
		case 2:
			sn, ok := s.Snapshot(testSnapshot(n).ID)
			if acked[n] && !ok {
				t.Errorf("snapshot %d was acknowledged and is gone", n)
			}
			if want := testSnapshot(n); ok && (len(sn.Provides) != len(want.Provides) || sn.SpecKey != want.SpecKey) {
				t.Errorf("snapshot %d is there in part: %+v", n, sn)
			}
		}
	}
	rows := all(t, s, ttl.Quad{G: ex("replaced")})
	for _, q := range rows {
		if q.O != rows[0].O {
			t.Errorf("the replaced graph holds rows of %s and of %s", q.O.Value, rows[0].O.Value)
			break
		}
	}
	if len(rows) != 0 && len(rows) != 2500 {
		t.Errorf("the replaced graph holds %d rows, want 2500 or none", len(rows))
	}
}

func TestB46_SecondOpenerIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "graph-data")
	s := onDisk(t, dir)
	add(t, s, quad("a", "b", "c", ""))

	check := func(who, text string, kind errs.Kind) {
		t.Helper()
		if kind != errs.Conflict || !strings.Contains(text, `"graph-data"`) || !strings.Contains(text, strconv.Itoa(os.Getpid())) {
			t.Errorf("%s is told %q (%s), want a conflict that names the folder and process %d", who, text, kind, os.Getpid())
		}
		if strings.Contains(text, filepath.Dir(dir)) || strings.Contains(strings.ToUpper(text), "LOCK") {
			t.Errorf("%s is told %q, which shows a path or speaks of the lock", who, text)
		}
	}
	start := time.Now()
	_, err := Open(t.Context(), Config{Dir: dir, Logger: quiet()})
	check("the same process", errs.Public(err)+errs.HintOf(err), errs.KindOf(err))

	out, err := startChild(t, "open", dir).Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("the second process ended with %v, want exit code 3", err)
	}
	text, ok := strings.CutPrefix(string(out), "refused conflict ")
	if !ok {
		t.Errorf("the second process says %q", out)
	}
	check("another process", text, errs.Conflict)
	if d := time.Since(start); d > 4*time.Second {
		t.Errorf("two refusals took %v, want under 2 s each", d)
	}

	add(t, s, quad("a", "b", "d", ""))
	clean(t, s)
	mustClose(t, s)
	if out, err := startChild(t, "open", dir).Output(); err != nil || strings.TrimSpace(string(out)) != "opened" {
		t.Errorf("once the store is free, another process gets %q, %v", out, err)
	}
}

func TestB46_OpenAndCloseAgainAndAgain(t *testing.T) {
	dir := t.TempDir()
	for n := range 20 {
		s := onDisk(t, dir)
		if got := len(all(t, s, ttl.Quad{P: ex("n")})); got != n {
			t.Fatalf("at opening %d the store has %d statements, want %d", n, got, n)
		}
		add(t, s, ttl.Quad{S: ex("s"), P: ex("n"), O: integer(int64(n))})
		mustClose(t, s)
		if err := s.Close(); err != nil {
			t.Errorf("closing again: %v", err)
		}
	}
}
