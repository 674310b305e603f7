package sparql

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
)

// putSnapshots stores some snapshots; the n-th provides each capability whose
// number divides n.
func putSnapshots(t testing.TB, s *kg.Store, most int) {
	t.Helper()
	for n := 1; n <= most; n++ {
		sn := kg.Snapshot{
			ID: ontology.SnapshotID(fmt.Sprintf("sn_%026d", n)), Rung: "forkserver", Runtime: "python",
			SpecKey: ontology.SpecKey(fmt.Sprintf("%064x", n)), State: ontology.StateLive,
			CreatedAt:  time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
			WarmMillis: float64(n % 17),
		}
		for c := 1; c <= 12; c++ {
			if n%c == 0 {
				sn.Provides = append(sn.Provides, ontology.Capability(fmt.Sprintf("http://e/c%d", c)))
			}
		}
		if err := s.PutSnapshot(t.Context(), sn); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStarsOfProvidesComeFromTheIndex asks both spellings where the index may
// answer and where it may not, and holds them to the plain evaluation.
func TestStarsOfProvidesComeFromTheIndex(t *testing.T) {
	s := openMemory(t, `INSERT DATA {}`)
	putSnapshots(t, s, 400)
	const star = `?s bn:provides :c2 , :c3 , :c4 `
	const all = `FILTER NOT EXISTS { VALUES ?c { :c2 :c3 :c4 } FILTER NOT EXISTS { ?s bn:provides ?c } } `
	queries := []struct {
		text    string
		indexed bool
		rows    int
	}{
		{`SELECT ?s { ` + star + `}`, true, 33},
		{`SELECT ?s { ?s a bn:WarmSnapshot . ` + all + `}`, true, 33},
		{`SELECT ?s { ?s a bn:WarmSnapshot ; bn:state ?state ; bn:warmMillis ?ms ` + all + `} ORDER BY DESC(?ms) ?s LIMIT 10`, true, 10},
		{`SELECT ?s { ` + star + `; bn:rung ?r FILTER NOT EXISTS { ?s bn:provides ?d FILTER(?d NOT IN (:c1, :c2, :c3, :c4, :c6, :c12)) } }`, true, 7},
		{`SELECT ?s { GRAPH <` + string(ontology.GraphSnapshots) + `> { ` + star + `} }`, true, 33},
		{`SELECT ?s FROM <` + string(ontology.GraphSnapshots) + `> { ` + star + `}`, true, 33},
		{`SELECT ?s FROM :other { ` + star + `}`, false, 0},
		{`SELECT ?s { GRAPH ?g { ` + star + `} }`, false, 33},
		{`SELECT ?s { ?s bn:provides :c2 , :never }`, true, 0},
		{`SELECT ?s { ?s bn:provides :c2 , 'text' }`, false, 0},
	}
	check := func(foreign bool) {
		t.Helper()
		for _, q := range queries {
			text := "PREFIX : <http://e/> PREFIX bn: <" + ontology.Base + "> " + q.text
			seen := &coverage{}
			got, err := rowsOf(s, text, Options{seen: seen})
			if err != nil {
				t.Fatalf("%s: %v", q.text, err)
			}
			want, err := rowsOf(s, text, Options{bottomUp: true})
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s: %v (-plain +fast):\n%s", q.text, err, diff)
			}
			indexed := q.indexed && !foreign // the index is not the whole answer then
			if q.text == `SELECT ?s { ?s bn:provides :c2 , :never }` {
				indexed = false // a term that the store does not know ends it before
			}
			if !foreign && len(got) != q.rows || seen.indexed > 0 != indexed {
				t.Errorf("%s: %d rows, by the index %v; want %d, %v", q.text, len(got), seen.indexed > 0, q.rows, indexed)
			}
		}
	}
	check(false)
	const foreign = `PREFIX : <http://e/> PREFIX bn: <` + ontology.Base + `> INSERT DATA { GRAPH :other { :f bn:provides :c2 , :c3 , :c4 } }`
	if _, err := Update(t.Context(), s, foreign, Options{}); err != nil {
		t.Fatal(err)
	}
	check(true)
	if _, err := Update(t.Context(), s, `DROP GRAPH <http://e/other>`, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := s.SetSnapshotState(t.Context(), ontology.SnapshotID(fmt.Sprintf("sn_%026d", 12)), ontology.StateRevoked, time.Now()); err != nil {
		t.Fatal(err)
	}
	check(false)
}
