package kg

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// benchStore makes a closed store of n triples, about one new term in three.
func benchStore(b *testing.B, n int) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "data")
	s := onDisk(b, dir)
	_, _, err := s.ReplaceGraph(b.Context(), ontology.IRI(ex("g").Value), func(yield func(ttl.Triple, error) bool) {
		for i := range n {
			t := ttl.Triple{S: ex(fmt.Sprint("subject/", i/6)), P: ex(fmt.Sprint("p", i%6)), O: ex(fmt.Sprint("object/", i*7%(n/6+1)))}
			if !yield(t, nil) {
				return
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	mustClose(b, s)
	return dir
}

const benchTriples = 300_000

// BenchmarkPrecheck is what Open pays for looking at every block before
// Badger does.
func BenchmarkPrecheck(b *testing.B) {
	dir := benchStore(b, benchTriples)
	files, err := listFiles(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(files.bytes)
	for b.Loop() {
		if err := precheck(context.Background(), dir); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(benchTriples*float64(b.N)/b.Elapsed().Seconds(), "triples/s")
}

// BenchmarkReopen is Open and Close, the precheck included.
func BenchmarkReopen(b *testing.B) {
	dir := benchStore(b, benchTriples)
	for b.Loop() {
		mustClose(b, onDisk(b, dir))
	}
}

// BenchmarkFsck is the full check.
func BenchmarkFsck(b *testing.B) {
	dir := benchStore(b, benchTriples)
	for b.Loop() {
		if r := mustFsck(b, dir, FsckOptions{}); !r.Clean() {
			b.Fatalf("%+v", r)
		}
	}
	b.ReportMetric(benchTriples*float64(b.N)/b.Elapsed().Seconds(), "triples/s")
}

// BenchmarkBackup is a backup into nowhere.
func BenchmarkBackup(b *testing.B) {
	s := onDisk(b, benchStore(b, benchTriples))
	defer mustClose(b, s)
	var bytes int64
	for b.Loop() {
		r, err := s.Backup(context.Background(), io.Discard)
		if err != nil {
			b.Fatal(err)
		}
		bytes = r.Bytes
	}
	b.ReportMetric(benchTriples*float64(b.N)/b.Elapsed().Seconds(), "triples/s")
	b.ReportMetric(float64(bytes)/benchTriples, "B/triple")
}

// BenchmarkRestore is a restore with its full check.
func BenchmarkRestore(b *testing.B) {
	s := onDisk(b, benchStore(b, benchTriples))
	var buf bytes.Buffer
	if _, err := s.Backup(context.Background(), &buf); err != nil {
		b.Fatal(err)
	}
	mustClose(b, s)
	for n := 0; b.Loop(); n++ {
		dir := filepath.Join(b.TempDir(), fmt.Sprint("data", n))
		if _, err := Restore(context.Background(), dir, bytes.NewReader(buf.Bytes()), RestoreOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(benchTriples*float64(b.N)/b.Elapsed().Seconds(), "triples/s")
}
