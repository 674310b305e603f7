package kg

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// The transactions of TestB46_HundredKills. Number n is:
//
//	n%4 = 0  Update: adds marked statements to graph n
//	n%4 = 1  ReplaceGraph: graph "round" holds 200 statements of n and no others
//	n%4 = 2  Update: deletes the statements of n-4 one by one, adds marked of its own
//	n%4 = 3  Update: deletes the graph of n-3
//
// Each changes what the store holds, so the state after any number of them is
// known, and a store holds the state after one of them or it is wrong.
const marked = 12

func killQuads(n int) []ttl.Quad {
	qs := make([]ttl.Quad, marked)
	for i := range qs {
		qs[i] = quad(fmt.Sprint("tx", n), "has", fmt.Sprint("n", n, "i", i), fmt.Sprint("graph", n))
	}
	return qs
}

// killWrite is transaction n.
func killWrite(s *Store, n int) error {
	ctx := context.Background()
	if n%4 == 1 {
		_, _, err := s.ReplaceGraph(ctx, ontology.IRI(ex("round").Value), func(yield func(ttl.Triple, error) bool) {
			for i := range 200 {
				if !yield(ttl.Triple{S: ex(fmt.Sprint("r", i)), P: ex("round"), O: ex(fmt.Sprint(n))}, nil) {
					return
				}
			}
		})
		return err
	}
	return s.Update(ctx, func(tx *Tx) error {
		if n%4 == 3 {
			return tx.DeleteGraph(ontology.IRI(ex(fmt.Sprint("graph", n-3)).Value))
		}
		if n%4 == 2 {
			for _, q := range killQuads(n - 4) {
				if err := tx.Delete(q); err != nil {
					return err
				}
			}
		}
		for _, q := range killQuads(n) {
			if err := tx.Add(q); err != nil {
				return err
			}
		}
		return nil
	})
}

// killState is what the store holds after transaction last: the transactions
// whose statements are there, and the round of the replaced graph, -1 for none.
func killState(last int) (there map[int]bool, round int) {
	there, round = map[int]bool{}, -1
	for n := range last + 1 {
		switch n % 4 {
		case 0:
			there[n] = true
		case 1:
			round = n
		case 2:
			delete(there, n-4)
			there[n] = true
		case 3:
			delete(there, n-3)
		}
	}
	return there, round
}

// childKills writes transactions from a number on, and acknowledges each.
func childKills(s *Store) int {
	s.batch = 400 // a replaced graph takes several commits
	first, _ := strconv.Atoi(os.Getenv("BANYAN_KG_TEST_FIRST"))
	fmt.Println("open")
	for n := first; ; n++ {
		if err := killWrite(s, n); err != nil {
			fmt.Println("failed", err)
			return 4
		}
		fmt.Println("ack", n)
	}
}

// A process that writes is killed a hundred times, at any moment, while it
// opens the store as well. After each kill the store opens without anyone's
// help and is exactly as the last acknowledged transaction left it, or the one
// after it.
func TestB46_HundredKills(t *testing.T) {
	dir := t.TempDir()
	kills := 100
	if testing.Short() {
		kills = 10
	}
	rng := rand.New(rand.NewPCG(46, uint64(time.Now().UnixNano())))
	done, opening := -1, 0
	for k := range kills {
		acked, opened := runAndKill(t, dir, done+1, time.Duration(rng.IntN(40_000))*time.Microsecond, k%10 == 9)
		if !opened {
			opening++
		}
		done = holdState(t, dir, k, max(done, acked))
		if t.Failed() {
			return
		}
	}
	t.Logf("%d kills, %d of them while the store was opened; %d transactions", kills, opening, done+1)
	report, err := Fsck(t.Context(), dir, FsckOptions{})
	if err != nil || !report.Clean() {
		t.Errorf("at the end fsck says %+v, %v", report, err)
	}
}

// runAndKill lets a child write and kills it some time after it has opened the
// store, or with early after it was started. It returns the last number that
// was acknowledged.
func runAndKill(t *testing.T, dir string, first int, after time.Duration, early bool) (acked int, opened bool) {
	t.Helper()
	acked = -1
	cmd := startChild(t, "kills", dir, "BANYAN_KG_TEST_FIRST="+strconv.Itoa(first))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := func() { _ = cmd.Process.Kill() }
	if early {
		time.AfterFunc(after, kill)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == "open" {
			opened = true
			if !early {
				time.AfterFunc(after, kill)
			}
			continue
		}
		if _, err := fmt.Sscanf(lines.Text(), "ack %d", &acked); err != nil {
			t.Errorf("the child says %q", lines.Text())
			kill()
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child was not killed")
	}
	return acked, opened
}

// holdState opens the store and holds it against the state after transaction
// acked, or after the one that was under way. It returns which it is.
func holdState(t *testing.T, dir string, kill, acked int) int {
	t.Helper()
	s := onDisk(t, dir)
	defer mustClose(t, s)
	clean(t, s)
	var why string
	for _, last := range [...]int{acked + 1, acked} {
		if why = differs(t, s, last); why == "" {
			return last
		}
	}
	t.Errorf("after kill %d the store is not as transaction %d left it, nor the next: %s", kill, acked, why)
	return acked
}

// differs says how the store differs from the state after a transaction.
func differs(t *testing.T, s *Store, last int) string {
	there, round := killState(last)
	if rows := all(t, s, ttl.Quad{P: ex("has")}); len(rows) != marked*len(there) {
		return fmt.Sprintf("%d statements, want %d", len(rows), marked*len(there))
	}
	for n := range there {
		if got := all(t, s, ttl.Quad{G: ex(fmt.Sprint("graph", n))}); len(got) != marked {
			return fmt.Sprintf("transaction %d has %d statements", n, len(got))
		}
	}
	rows := all(t, s, ttl.Quad{G: ex("round")})
	if round < 0 {
		if len(rows) != 0 {
			return fmt.Sprintf("the replaced graph has %d rows too early", len(rows))
		}
		return ""
	}
	if len(rows) != 200 {
		return fmt.Sprintf("the replaced graph has %d rows", len(rows))
	}
	for _, q := range rows {
		if q.O != ex(fmt.Sprint(round)) {
			return fmt.Sprintf("the replaced graph holds a row of %s, want %d", q.O.Value, round)
		}
	}
	return ""
}
