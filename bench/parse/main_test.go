package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestRun runs the command on a small corpus: every reader must find every
// statement, and the table must have a line for each.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(&out, 2000, 1); err != nil {
		t.Fatal(err)
	}
	for _, p := range peers {
		if n := strings.Count(out.String(), p.name+"  "); n != 2 {
			t.Errorf("%s has %d lines, want one a format:\n%s", p.name, n, out.String())
		}
	}
	if strings.Contains(out.String(), "failed") {
		t.Error(out.String())
	}
}
