package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestRun runs the command on a few statements: what is read back is counted by
// the command itself, and each part must have its lines.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	o := options{n: 2500, peers: 2500, dir: t.TempDir(), reads: 20, writing: 50 * time.Millisecond}
	if err := run(t.Context(), &out, o); err != nil {
		t.Fatal(err, out.String())
	}
	for _, part := range []string{"  banyan  ", "goRDFlib on Badger  ", "opened again", "all of a thing", "scan of a predicate", "\n        0  ", "\n       64  "} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("no %q in:\n%s", part, out.String())
		}
	}
}
