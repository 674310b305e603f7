package oracle

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-ff860830/banyan/bench/peer"
)

// TestAgreesWithGoRDFlib holds random questions to goRDFlib's engine.
func TestAgreesWithGoRDFlib(t *testing.T) {
	agrees(t, &other{name: "goRDFlib", start: peer.StartGoRDFlib, fewerVars: true}, 300)
}

// TestAgreesWithOxigraph holds them to Oxigraph, where it is installed.
func TestAgreesWithOxigraph(t *testing.T) {
	if err := peer.InstallOxigraph(); err != nil {
		t.Skip("Oxigraph is left out:", err)
	}
	agrees(t, &other{name: "Oxigraph", start: peer.StartOxigraph}, 300)
}

func agrees(t *testing.T, o *other, checks int) {
	defer o.close()
	ours := newBanyan(t)
	avoid := map[string]bool{}
	for _, d := range differences {
		if d.engine == o.name {
			for _, f := range d.avoid {
				avoid[f] = true
			}
		}
	}
	fixChecks(t, checks)
	count := map[string]int{}
	for name, run := range map[string]func(*rapid.T, *source){
		"query": func(rt *rapid.T, s *source) {
			data := s.data()
			text, list := s.query()
			count[judge(rt, ours, o, data, text, list, false)]++
		},
		"update": func(rt *rapid.T, s *source) {
			data := s.data()
			count[judge(rt, ours, o, data, s.update(), false, true)]++
		},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) { run(rt, &source{t: rt, avoid: avoid}) })
		})
	}
	t.Logf("%s: %v", o.name, count)
	if count["agreed"] < count["refused by both"]+count["hung"] {
		t.Errorf("too few cases were compared: %v", count)
	}
}

// fixChecks sets how many cases a run has and where they begin, so that each
// run has the same ones, unless the command line says otherwise.
func fixChecks(t *testing.T, n int) {
	for name, value := range map[string]string{"rapid.checks": fmt.Sprint(n), "rapid.seed": "1"} {
		if given[name] {
			continue
		}
		old := flag.Lookup(name).Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := flag.Set(name, old); err != nil {
				t.Error(err)
			}
		})
	}
}

type fatal interface{ Fatalf(string, ...any) }

// judge puts one question to both engines and compares. It returns how the case
// went.
func judge(t fatal, ours banyan, o *other, data, text string, list, update bool) string {
	quads, err := ours.load(data)
	if err != nil {
		t.Fatalf("our store refuses\n%s%v", data, err)
	}
	if err := o.load(quads); err != nil {
		t.Fatalf("%s cannot load\n%s%v", o.name, data, err)
	}
	askUs, askThem := ours.query, o.query
	if update {
		askUs, askThem = ours.update, o.update
	}
	a, err := askUs(text)
	if err != nil {
		t.Fatalf("we fail: %v\ndata:\n%s\n%s", err, data, text)
	}
	b, err := askThem(text)
	if errors.Is(err, errHung) {
		return "hung"
	}
	if err != nil {
		t.Fatalf("%s fails: %v\ndata:\n%s\n%s", o.name, err, data, text)
	}
	if a.refused != "" && b.refused != "" {
		return "refused by both"
	}
	if o.fewerVars && strings.Contains(text, "*") {
		b = b.widened(a.vars)
	}
	ok := a.refused == "" && b.refused == ""
	if ok && list {
		ok = ordered(a, b)
	} else if ok {
		ok, err = same(a, b)
	}
	if err != nil {
		return "undecided"
	}
	if !ok {
		t.Fatalf("we and %s differ\ndata:\n%s\n%s\nours: %v\ntheirs: %v", o.name, data, text, show(a), show(b))
	}
	return "agreed"
}

func show(a answer) string {
	if a.refused != "" {
		return "refused: " + a.refused
	}
	out := fmt.Sprint(a.vars)
	for _, row := range a.rows {
		out += fmt.Sprintf("\n  %+v", row)
	}
	return out
}
