// Package ttltest makes RDF for tests and benchmarks of the packages that read
// it.
package ttltest

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"

	"github.com/seed-ff860830/banyan/ttl"
)

// The namespaces that a corpus uses.
const (
	BN      = "https://seed-ff860830.github.io/banyan/ns#"
	DCTerms = "http://purl.org/dc/terms/"
	RDFS    = "http://www.w3.org/2000/01/rdf-schema#"
	Cap     = "https://example.org/capability/"
	Snap    = "https://example.org/snapshot/"
)

// Prefixes returns the prefixes under which a corpus is written in Turtle.
func Prefixes() map[string]string {
	return map[string]string{"bn": BN, "dcterms": DCTerms, "rdfs": RDFS, "cap": Cap, "snap": Snap, "xsd": ttl.XSD}
}

// Corpus returns about n statements of the sort that Banyan keeps: snapshots
// with what they provide, and capabilities with their labels. About three in
// ten objects are literals (plain, tagged, integers, times), and names repeat
// as capabilities do, with Zipf's law. The same n gives the same statements,
// and none twice.
func Corpus(n int) []ttl.Triple {
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	zipf := rand.NewZipf(rnd, 1.1, 1, 1999)
	out := make([]ttl.Triple, 0, n+32)
	for i := 0; len(out) < n; i++ {
		out = appendSnapshot(out, i, rnd, zipf)
		if i%4 == 0 {
			out = appendCapability(out, i/4, rnd)
		}
	}
	return out
}

func capability(n uint64) ttl.Term { return ttl.NewIRI(fmt.Sprintf("%smodule-%d", Cap, n)) }

func appendSnapshot(out []ttl.Triple, i int, rnd *rand.Rand, zipf *rand.Zipf) []ttl.Triple {
	s := ttl.NewIRI(fmt.Sprintf("%ssn_%08x", Snap, i))
	add := func(p string, o ttl.Term) { out = append(out, ttl.Triple{S: s, P: ttl.NewIRI(p), O: o}) }
	add(ttl.RDFType, ttl.NewIRI(BN+"WarmSnapshot"))
	add(BN+"rung", ttl.NewIRI(BN+"forkserver"))
	if i > 0 {
		add(BN+"derivedFrom", ttl.NewIRI(fmt.Sprintf("%ssn_%08x", Snap, rnd.IntN(i))))
	}
	provided := map[uint64]bool{}
	for range 4 + rnd.IntN(8) {
		if c := zipf.Uint64(); !provided[c] {
			provided[c] = true
			add(BN+"provides", capability(c))
		}
	}
	add(BN+"residentBytes", ttl.NewTyped(strconv.Itoa(1<<20+rnd.IntN(1<<28)), ttl.XSDInteger))
	add(BN+"warmMillis", ttl.NewTyped(strconv.Itoa(rnd.IntN(5000)), ttl.XSDInteger))
	add(BN+"createdAt", ttl.NewTyped(fmt.Sprintf("2026-11-%02dT%02d:%02d:%02dZ", 1+rnd.IntN(30), rnd.IntN(24), rnd.IntN(60), rnd.IntN(60)), ttl.XSDDateTime))
	return out
}

func appendCapability(out []ttl.Triple, i int, rnd *rand.Rand) []ttl.Triple {
	s := capability(uint64(i))
	add := func(p string, o ttl.Term) { out = append(out, ttl.Triple{S: s, P: ttl.NewIRI(p), O: o}) }
	add(ttl.RDFType, ttl.NewIRI(BN+"Module"))
	add(RDFS+"label", ttl.NewLang(fmt.Sprintf("module %d", i), "en"))
	add(BN+"importName", ttl.NewString(fmt.Sprintf("pkg%d.mod%d", i%97, i)))
	add(DCTerms+"description", ttl.NewString(fmt.Sprintf("The \"%d\" module:\treads, writes and counts %d things.\nIt is naïve.", i, rnd.IntN(1000))))
	return out
}

// Write writes statements in a format, Turtle with Prefixes.
func Write(w io.Writer, f ttl.Format, ts []ttl.Triple) error {
	out := ttl.NewWriter(w, ttl.WriterOptions{Format: f, Prefixes: Prefixes()})
	for _, t := range ts {
		if err := out.Write(t); err != nil {
			return err
		}
	}
	return out.Close()
}
