package kg

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// verdict is what a child process finds out about a damaged store: by Fsck
// first, then by opening it and reading all of it. It is a child, since Badger
// may panic where nobody can catch it.
type verdict struct {
	Fsck    FsckVerdict
	Bad     []FsckCheck
	Open    string // "" if the store opened, else the error's kind
	Text    string
	Hint    string
	Triples int // rows that could be read
}

// childVerdict is the child's side.
func childVerdict(dir string) int {
	var v verdict
	ctx := context.Background()
	report, err := Fsck(ctx, dir, FsckOptions{})
	if err != nil {
		v.Fsck = FsckVerdict(errs.KindOf(err).String())
	} else {
		v.Fsck = report.Verdict
		for _, c := range report.Checks {
			if !c.OK {
				v.Bad = append(v.Bad, c)
			}
		}
	}
	s, err := Open(ctx, Config{Dir: dir, Logger: quiet()})
	if err != nil {
		v.Open, v.Text, v.Hint = errs.KindOf(err).String(), errs.Public(err), errs.HintOf(err)
	} else {
		for _, err := range s.Match(ctx, ttl.Quad{}) {
			if err != nil {
				v.Open, v.Text = errs.KindOf(err).String(), errs.Public(err)
				break
			}
			v.Triples++
		}
		if err := s.Close(); err != nil {
			v.Text += " close: " + errs.Public(err)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(v); err != nil {
		return 4
	}
	return 0
}

// judge runs the child on a copy of a store.
func judge(t *testing.T, dir string) verdict {
	t.Helper()
	cmd := startChild(t, "verdict", dir)
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the process died of the damage: %v\n%.2000s", err, log.String())
	}
	var v verdict
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatalf("the child says %q: %v", out, err)
	}
	return v
}

// stores are the two states a folder is found in: closed, and as a killed
// process leaves it, with a log to replay. Each has several tables.
type damaged struct {
	closed, killed   string
	nClosed, nKilled int
}

func storesToDamage(t *testing.T) damaged {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	d := damaged{closed: dir, killed: filepath.Join(t.TempDir(), "data")}
	for round := range 3 { // each Close writes a table
		s := onDisk(t, dir)
		add(t, s, someQuads(round, 2000)...)
		mustPut(t, s, testSnapshot(round))
		d.nClosed = int(s.Triples())
		mustClose(t, s)
	}
	copied := filepath.Join(t.TempDir(), "data")
	copyStore(t, dir, copied)
	s := onDisk(t, copied)
	for n := range 20 {
		add(t, s, someQuads(10+n, 50)...)
	}
	copyStore(t, copied, d.killed)
	d.nKilled = int(s.Triples())
	mustClose(t, s)
	return d
}

func someQuads(round, n int) []ttl.Quad {
	qs := make([]ttl.Quad, n)
	for i := range qs {
		qs[i] = quad(fmt.Sprint("s", round, "n", i), fmt.Sprint("p", i%7), fmt.Sprint("o", i%101), "g")
	}
	return qs
}

// copyStore copies a folder; holes in files stay holes.
func copyStore(t testing.TB, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-r", "--sparse=always", from, to).CombinedOutput(); err != nil {
		t.Fatalf("copy a store: %v: %s", err, out)
	}
}

// files returns the paths that fit a pattern, at least one.
func filesOf(t testing.TB, dir, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no file fits %s: %v", pattern, err)
	}
	return files
}

func edit(t testing.TB, path string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(b), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func cutBy(n int) func([]byte) []byte {
	return func(b []byte) []byte { return b[:max(0, len(b)-n)] }
}

func flipAt(at int) func([]byte) []byte {
	return func(b []byte) []byte { b[at] ^= 0x41; return b }
}

// A damaged store is refused as Corrupt with a sentence and a hint, or opens
// with everything in it; nobody's process dies and no row is silently gone.
func TestAnyDamageIsSaid(t *testing.T) {
	if testing.Short() {
		t.Skip("some ninety processes; the cases of TestDamageIsReportedAtOpen run in short mode")
	}
	d := storesToDamage(t)
	whole := []string{"opens whole"}
	either := []string{"opens whole", "corrupt"}
	corrupt := []string{"corrupt"}
	rng := rand.New(rand.NewPCG(1, 2))
	type damage struct {
		name    string
		from    string
		want    []string
		inflict func(t *testing.T, dir string)
	}
	onFile := func(pattern string, change func([]byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, dir string) { edit(t, filesOf(t, dir, pattern)[0], change) }
	}
	gone := func(pattern string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { remove(t, dir, pattern) }
	}
	folder := func(pattern string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			f := filesOf(t, dir, pattern)[0]
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(f, 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	garbage := func([]byte) []byte { return []byte(strings.Repeat("garbage ", 200)) }
	empty := func([]byte) []byte { return nil }

	cases := []damage{
		{"nothing, closed", d.closed, whole, func(*testing.T, string) {}},
		{"nothing, killed", d.killed, whole, func(*testing.T, string) {}},
		{"MANIFEST gone", d.closed, corrupt, gone("MANIFEST")},
		{"MANIFEST gone, killed", d.killed, corrupt, gone("MANIFEST")},
		{"MANIFEST empty", d.closed, corrupt, onFile("MANIFEST", empty)},
		{"MANIFEST garbage", d.closed, corrupt, onFile("MANIFEST", garbage)},
		{"MANIFEST a folder", d.closed, corrupt, folder("MANIFEST")},
		{"table gone", d.closed, corrupt, gone("*1.sst")},
		{"table empty", d.closed, corrupt, onFile("*.sst", empty)},
		{"table garbage", d.closed, corrupt, onFile("*.sst", garbage)},
		{"table a folder", d.closed, corrupt, folder("*.sst")},
		{"table renamed", d.closed, corrupt, func(t *testing.T, dir string) {
			f := filesOf(t, dir, "*.sst")[0]
			if err := os.Rename(f, filepath.Join(dir, "000099.sst")); err != nil {
				t.Fatal(err)
			}
		}},
		{"table of zeros", d.closed, corrupt, onFile("*.sst", func(b []byte) []byte { return make([]byte, len(b)) })},
		{"log gone", d.killed, corrupt, gone("*.mem")},
		{"log empty", d.killed, corrupt, onFile("*.mem", empty)},
		{"log cut to its head", d.killed, corrupt, onFile("*.mem", func(b []byte) []byte { return b[:20] })},
		{"log cut in its head", d.killed, corrupt, onFile("*.mem", func(b []byte) []byte { return b[:7] })},
		{"log cut in the middle", d.killed, corrupt, onFile("*.mem", func(b []byte) []byte { return b[:40000] })},
		{"log's head flipped", d.killed, corrupt, onFile("*.mem", flipAt(3))},
		{"log a folder", d.killed, corrupt, folder("*.mem")},
		{"value log gone", d.closed, whole, gone("*.vlog")},
		{"value log gone, killed", d.killed, whole, gone("*.vlog")},
		{"value log empty", d.closed, whole, onFile("*.vlog", empty)},
		{"value log garbage", d.closed, either, onFile("*.vlog", garbage)},
		{"value log a folder", d.closed, corrupt, folder("*.vlog")},
		{"KEYREGISTRY gone", d.closed, whole, gone("KEYREGISTRY")},
		{"KEYREGISTRY empty", d.closed, either, onFile("KEYREGISTRY", empty)},
		{"KEYREGISTRY garbage", d.closed, either, onFile("KEYREGISTRY", garbage)},
		{"KEYREGISTRY a folder", d.closed, corrupt, folder("KEYREGISTRY")},
		{"DISCARD gone", d.closed, whole, gone("DISCARD")},
		{"DISCARD empty", d.closed, either, onFile("DISCARD", empty)},
		{"DISCARD garbage", d.closed, either, onFile("DISCARD", garbage)},
		{"DISCARD a folder", d.closed, corrupt, folder("DISCARD")},
		{"COMMITS garbage", d.closed, whole, onFile("COMMITS", garbage)},
		{"OWNER garbage", d.closed, whole, onFile("OWNER", garbage)},
		{"COMMITS a folder", d.closed, []string{"unavailable"}, folder("COMMITS")},
		{"OWNER a folder", d.closed, []string{"unavailable"}, folder("OWNER")},
	}
	for n := 1; n <= 30; n += 1 + n/4 {
		cases = append(cases,
			damage{fmt.Sprintf("MANIFEST cut by %d", n), d.closed, corrupt, onFile("MANIFEST", cutBy(n))},
			damage{fmt.Sprintf("MANIFEST cut by %d, killed", n), d.killed, corrupt, onFile("MANIFEST", cutBy(n))},
			damage{fmt.Sprintf("table cut by %d", n*n), d.closed, corrupt, onFile("*.sst", cutBy(n*n))})
	}
	for n := range 8 {
		at := rng.Float64()
		flip := func(b []byte) []byte { return flipAt(int(at * float64(len(b))))(b) }
		cases = append(cases,
			damage{fmt.Sprintf("MANIFEST flipped %d", n), d.closed, corrupt, onFile("MANIFEST", flip)},
			damage{fmt.Sprintf("table flipped %d", n), d.closed, corrupt, onFile("*.sst", flip)},
			damage{
				fmt.Sprintf("table's end flipped %d", n), d.closed, corrupt,
				onFile("*.sst", func(b []byte) []byte { return flipAt(len(b) - 1 - n*5)(b) }),
			},
			damage{
				fmt.Sprintf("log flipped %d", n), d.killed, corrupt,
				onFile("*.mem", func(b []byte) []byte { return flipAt(20 + int(at*float64(100_000)))(b) }),
			})
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // most of it is waiting for the disk
			dir := filepath.Join(t.TempDir(), "data")
			copyStore(t, c.from, dir)
			c.inflict(t, dir)
			before, _ := filepath.Glob(filepath.Join(dir, "*.sst"))
			rows := d.nClosed
			if c.from == d.killed {
				rows = d.nKilled
			}
			v := judge(t, dir)
			holdVerdict(t, v, rows, c.want)
			after, _ := filepath.Glob(filepath.Join(dir, "*.sst"))
			if v.Fsck == FsckUnreadable && !slices.Equal(before, after) {
				t.Errorf("what cannot be read was changed: the tables were %v and are %v", before, after)
			}
		})
	}
}

// holdVerdict compares what the child found with what is allowed.
func holdVerdict(t *testing.T, v verdict, rows int, want []string) {
	t.Helper()
	got := v.Open
	if got == "" {
		got = "opens whole"
		if v.Triples != rows {
			got = fmt.Sprintf("opens with %d of %d triples", v.Triples, rows)
		}
	}
	t.Logf("outcome: %s; fsck: %s %+v; %s", got, v.Fsck, v.Bad, v.Text)
	for _, w := range want {
		if got != w {
			continue
		}
		if got == "corrupt" && (v.Text == "" || v.Hint == "" || v.Fsck == FsckClean) {
			t.Errorf("corrupt, but said %q with the hint %q, and fsck finds it %s", v.Text, v.Hint, v.Fsck)
		}
		if got == "opens whole" && v.Fsck != FsckClean {
			t.Errorf("the store opens whole and fsck finds it %s: %+v", v.Fsck, v.Bad)
		}
		return
	}
	t.Errorf("the store: %s (%s), want one of %v", got, v.Text, want)
}
