package kg

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// smallDisk mounts a file system of some MiB for the test's time.
func smallDisk(t *testing.T, mib int) string {
	t.Helper()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("a small disk is mounted, which takes root on Linux")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm", mib), "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir
}

// fillUp writes a file until less than left MiB are free.
func fillUp(t *testing.T, disk string, left uint64) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(disk, "ballast"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 256<<10)
	for {
		free, err := freeBytes(disk)
		if err != nil {
			t.Fatal(err)
		}
		if free < left<<20 || free == 0 {
			break
		}
		if _, err := f.Write(block); err != nil {
			break // it is full
		}
	}
	if err := f.Close(); err != nil && !diskFull(err) {
		t.Fatal(err)
	}
}

func makeRoom(t *testing.T, disk string) {
	t.Helper()
	if err := os.Remove(filepath.Join(disk, "ballast")); err != nil {
		t.Fatal(err)
	}
}

func wantFull(t *testing.T, what string, err error) {
	t.Helper()
	if errs.KindOf(err) != errs.Exhausted || !strings.Contains(errs.Public(err), "the disk is full") || errs.HintOf(err) == "" {
		t.Errorf("%s: %v, want exhausted, that says the disk is full, with a hint", what, err)
	}
}

// On a full disk writes are refused and reads go on; once there is room again
// writes go on as well, without the store being opened anew.
func TestFullDiskRefusesWritesAndRecovers(t *testing.T) {
	disk := smallDisk(t, reserveBytes>>20+48)
	dir := filepath.Join(disk, "data")
	s := onDisk(t, dir)
	add(t, s, someQuads(0, 500)...)
	want := all(t, s, ttl.Quad{})
	fillUp(t, disk, reserveBytes>>20)

	put := func(tx *Tx) error { return tx.Add(quad("a", "b", "c", "")) }
	wantFull(t, "Update", s.Update(t.Context(), put))
	_, _, err := s.ReplaceGraph(t.Context(), ontology.IRI(ex("g").Value), func(yield func(ttl.Triple, error) bool) {
		yield(ttl.Triple{S: ex("a"), P: ex("b"), O: ex("c")}, nil)
	})
	wantFull(t, "ReplaceGraph", err)
	wantFull(t, "PutSnapshot", s.PutSnapshot(t.Context(), testSnapshot(1)))
	if !bytes.Equal(quadText(all(t, s, ttl.Quad{})), quadText(want)) {
		t.Error("a refused write changed the store")
	}
	b, _ := mustBackup(t, s)
	if len(b) == 0 {
		t.Error("no backup of a store on a full disk")
	}
	mustClose(t, s)
	s = onDisk(t, dir) // opens and reads
	clean(t, s)
	fillUp(t, disk, reserveBytes>>20) // closing it gave the room of the log free
	wantFull(t, "Update after opening", s.Update(t.Context(), put))

	makeRoom(t, disk)
	if err := s.Update(t.Context(), put); err != nil {
		t.Errorf("with room again: %v", err)
	}
	clean(t, s)
	mustClose(t, s)
}

func quadText(qs []ttl.Quad) []byte {
	var b bytes.Buffer
	for _, q := range qs {
		fmt.Fprintln(&b, text4(q))
	}
	return b.Bytes()
}

// A store that fills the disk itself stops while all it accepted still fits.
func TestStoreThatFillsTheDiskStops(t *testing.T) {
	disk := smallDisk(t, reserveBytes>>20+24)
	dir := filepath.Join(disk, "data")
	s := onDisk(t, dir)
	acked, pad := 0, strings.Repeat("x", 200_000)
	var err error
	for err == nil {
		err = s.Update(t.Context(), func(tx *Tx) error {
			return tx.Add(ttl.Quad{S: ex(fmt.Sprint("s", acked)), P: ex("pad"), O: ttl.NewString(fmt.Sprint(acked, pad))})
		})
		if err == nil {
			acked++
		}
	}
	wantFull(t, "the write that is too much", err)
	if acked < 10 {
		t.Errorf("only %d writes were taken", acked)
	}
	mustClose(t, s)
	s = onDisk(t, dir)
	defer mustClose(t, s)
	clean(t, s)
	if n, err := s.Count(t.Context(), ttl.Quad{P: ex("pad")}); err != nil || n != int64(acked) {
		t.Errorf("%d of %d acknowledged writes are there, %v", n, acked, err)
	}
}

// Others may fill a disk to its last byte, beyond the store's reserve. Then the
// store refuses to open, and a process that has it open may die when it closes
// it, since Badger writes through memory maps; nothing acknowledged is lost.
func TestDiskFilledByOthersLosesNothing(t *testing.T) {
	disk := smallDisk(t, reserveBytes>>20+48)
	dir := filepath.Join(disk, "data")
	cmd := startChild(t, "full", dir)
	var log strings.Builder
	cmd.Stderr = &log
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	next := func() string { lines.Scan(); return lines.Text() }
	if got := next(); got != "written" {
		t.Fatalf("the child says %q", got)
	}
	fillUp(t, disk, 0)
	if _, err := io.WriteString(in, "go on\n"); err != nil {
		t.Fatal(err)
	}
	if got := next(); got != "refused exhausted, 500 read" {
		t.Errorf("the child says %q: %.500s", got, log.String())
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	t.Logf("closing the store on a disk without a byte: %v", err)

	_, err = Open(t.Context(), Config{Dir: dir, Logger: quiet()})
	wantFull(t, "Open", err)
	makeRoom(t, disk)
	s := onDisk(t, dir)
	defer mustClose(t, s)
	clean(t, s)
	if n := len(all(t, s, ttl.Quad{G: ex("g")})); n != 500 {
		t.Errorf("%d of 500 statements are there", n)
	}
	add(t, s, quad("a", "b", "c", ""))
}

// childFull writes, waits for the disk to be full, tries to write, reads, and
// closes the store.
func childFull(s *Store) int {
	ctx := context.Background()
	err := s.Update(ctx, func(tx *Tx) error {
		for _, q := range someQuads(0, 500) {
			if err := tx.Add(q); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return 3
	}
	fmt.Println("written")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return 4
	}
	err = s.Update(ctx, func(tx *Tx) error { return tx.Add(quad("x", "y", "z", "")) })
	n, readErr := s.Count(ctx, ttl.Quad{G: ex("g")})
	fmt.Printf("refused %s, %d read\n", errs.KindOf(err), n)
	if readErr != nil {
		return 5
	}
	if err := s.Close(); err != nil {
		return 6
	}
	return 0
}
