package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan/bench/peer"
	"github.com/seed-ff860830/banyan/ontology"
)

func TestMain(m *testing.M) {
	peer.Child()
	os.Exit(m.Run())
}

// TestRun runs the command on the smallest world with goRDFlib: all answers must
// be the index's, and each table must have a line for each peer.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	o := options{sizes: []int{1000}, queries: 2, budget: 3 * time.Second, goRDFlib: 1000, dir: t.TempDir()}
	if err := run(t.Context(), &out, o); err != nil {
		t.Fatal(err, out.String())
	}
	for _, name := range []string{"  index ", "  SPARQL ", "SPARQL, no index ", "scan in Go ", "  goRDFlib "} {
		if n := strings.Count(out.String(), name); n != 4 {
			t.Errorf("%q has %d lines, want one a question:\n%s", name, n, out.String())
		}
	}
}

// liar answers with one snapshot too many.
type liar struct{ scan }

func (l liar) answer(ctx context.Context, f form, a asked) ([]ontology.SnapshotID, time.Duration, error) {
	ids, took, err := l.scan.answer(ctx, f, a)
	return append(ids, "sn_more"), took, err
}

// TestAskComparesAnswers: a peer that answers otherwise is an error.
func TestAskComparesAnswers(t *testing.T) {
	w := makeWorld(1000)
	q := question{form: lineage, cases: []asked{{of: depth - 1}}}
	o := options{budget: time.Minute}
	var out bytes.Buffer
	if err := ask(t.Context(), &out, o, q, []answerer{scan{w}, scan{w}}); err != nil {
		t.Error(err)
	}
	if err := ask(t.Context(), &out, o, q, []answerer{scan{w}, liar{scan{w}}}); err == nil {
		t.Error("another answer is taken for the same")
	}
}
