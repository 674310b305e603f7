package main

import (
	"cmp"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// What a world is like: the capabilities' frequency is Zipf's, a snapshot
// declares a few and provides about twenty, and one line of snapshots is deep.
const (
	capabilities = 2000
	zipf         = 1.1
	depth        = 200
)

// snap is a snapshot as a loop over all of them likes it.
type snap struct {
	id                 ontology.SnapshotID
	parent             int // or -1
	declares, provides []uint16
	warm               int
	bytes              int64
}

// world is a seeded set of snapshots: the same n gives the same one.
type world struct {
	caps  []ontology.Capability
	snaps []snap
}

func makeWorld(n int) *world {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	z := rand.NewZipf(r, zipf, 1, capabilities-1)
	w := &world{snaps: make([]snap, n)}
	for i := range capabilities + 1 { // the last is what the deep line declares
		w.caps = append(w.caps, ontology.Capability(string(ontology.PythonNS)+"lib"+strconv.Itoa(i)))
	}
	for i := range w.snaps {
		s := snap{id: ontology.SnapshotID(fmt.Sprintf("sn_%026d", i)), parent: -1, warm: r.IntN(2000), bytes: int64(r.IntN(1 << 30))}
		for range 1 + r.IntN(8) {
			s.declares = append(s.declares, uint16(z.Uint64()))
		}
		if i < depth {
			s.parent = i - 1
			s.declares = append(s.declares, capabilities)
		}
		s.declares = tidy(s.declares)
		s.provides = slices.Clone(s.declares)
		for want := 10 + r.IntN(21); len(s.provides) < want; {
			s.provides = tidy(append(s.provides, uint16(z.Uint64())))
		}
		w.snaps[i] = s
	}
	return w
}

func tidy(cs []uint16) []uint16 {
	slices.Sort(cs)
	return slices.Compact(cs)
}

func (w *world) provides() (n int) {
	for _, s := range w.snaps {
		n += len(s.provides)
	}
	return n
}

func (w *world) statements() (n int) {
	for _, s := range w.snaps {
		n += fixedStatements + len(s.declares) + len(s.provides)
		if s.parent >= 0 {
			n++
		}
	}
	return n
}

// fixedStatements are what each snapshot has of one kind.
const fixedStatements = 8

// triples are the snapshots as the catalogue writes them, without what it could
// do without.
func (w *world) triples() iter.Seq2[ttl.Triple, error] {
	iri := func(i ontology.IRI) ttl.Term { return ttl.NewIRI(string(i)) }
	fixed := [][2]ttl.Term{
		{iri(ontology.RDFType), iri(ontology.ClassWarmSnapshot)},
		{iri(ontology.PropRung), iri(rung.IRI())},
		{iri(ontology.PropRuntime), iri(language.IRI())},
		{iri(ontology.PropSpecKey), ttl.NewString("key")},
		{iri(ontology.PropState), iri(ontology.IndLive)},
		{iri(ontology.PropCreatedAt), ttl.NewTyped("2026-12-01T00:00:00.000Z", ttl.XSDDateTime)},
	}
	caps := make([]ttl.Term, len(w.caps))
	for i, c := range w.caps {
		caps[i] = iri(c.IRI())
	}
	return func(yield func(ttl.Triple, error) bool) {
		for i := range w.snaps {
			s := &w.snaps[i]
			subject, ok := iri(s.id.IRI()), true
			add := func(p, o ttl.Term) { ok = ok && yield(ttl.Triple{S: subject, P: p, O: o}, nil) }
			for _, f := range fixed {
				add(f[0], f[1])
			}
			add(iri(ontology.PropWarmMillis), ttl.NewTyped(strconv.Itoa(s.warm), ttl.XSD+"decimal"))
			add(iri(ontology.PropResidentBytes), ttl.NewTyped(strconv.FormatInt(s.bytes, 10), ttl.XSDInteger))
			if s.parent >= 0 {
				add(iri(ontology.PropDerivedFrom), iri(w.snaps[s.parent].id.IRI()))
			}
			for _, c := range s.declares {
				add(iri(ontology.PropDeclares), caps[c])
			}
			for _, c := range s.provides {
				add(iri(ontology.PropProvides), caps[c])
			}
			if !ok {
				return
			}
		}
	}
}

const (
	rung     = ontology.RungName("forkserver")
	language = ontology.RuntimeID("python")
)

// form is one of the four questions.
type form int

const (
	supersets form = iota
	bases
	lineage
	revocation
)

// question is one of the four in many cases.
type question struct {
	form  form
	title string
	cases []asked
}

// asked is one case: what is asked for, and the same as SPARQL.
type asked struct {
	need []uint16
	of   int
	text string
	l    kg.Lookup
}

// questions draws the cases. A need is a part of what some snapshot provides.
func (w *world) questions(n int, v *kg.View) []question {
	r := rand.New(rand.NewPCG(3, 4))
	qs := []question{
		{form: supersets, title: "the ten cheapest supersets of five"},
		{form: bases, title: "the ten best bases for ten"},
		{form: lineage, title: fmt.Sprintf("lineage, %d deep", depth-1)},
		{form: revocation, title: fmt.Sprintf("revocation of the first of %d", depth)},
	}
	for range n {
		five, ten := w.need(r, 5), w.need(r, 10)
		for i, need := range [][]uint16{five, ten} {
			a := asked{need: need, l: kg.Lookup{Runtime: language, Rung: rung}}
			for _, c := range need {
				a.l.Need = append(a.l.Need, w.caps[c])
			}
			if form(i) == supersets {
				a.text = must(v.SupersetsQuery(a.l, 10))
			} else {
				a.text = must(v.BasesQuery(a.l, 10))
			}
			qs[i].cases = append(qs[i].cases, a)
		}
		prefix := "PREFIX bn: <" + ontology.Base + ">\n"
		qs[2].cases = append(qs[2].cases, asked{of: depth - 1, text: prefix + "SELECT ?s { <" + string(w.snaps[depth-1].id.IRI()) + "> bn:derivedFrom+ ?s }"})
		qs[3].cases = append(qs[3].cases, asked{of: 0, text: must(kg.TaintedQuery(kg.Taint{Snapshots: []ontology.SnapshotID{w.snaps[0].id}}))})
	}
	return qs
}

func (w *world) need(r *rand.Rand, size int) (need []uint16) {
	for len(need) < size {
		s := w.snaps[depth+r.IntN(len(w.snaps)-depth)]
		if len(s.provides) < size {
			continue
		}
		for _, i := range r.Perm(len(s.provides))[:size] {
			need = append(need, s.provides[i])
		}
		slices.Sort(need)
	}
	return need
}

// must is for texts that are made of our own names.
func must(text string, err error) string {
	if err != nil {
		panic(err)
	}
	return text
}

// rated orders snapshots as an answer wants them.
type rated struct {
	s    *snap
	rank int
}

func compareRated(a, b rated) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.s.bytes, b.s.bytes), cmp.Compare(a.s.id, b.s.id))
}
