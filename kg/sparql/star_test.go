package sparql

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan/kg"
)

// openMemory opens a store in memory with the outcome of an update.
func openMemory(t *testing.T, data string) *kg.Store {
	t.Helper()
	s, err := kg.Open(context.Background(), kg.Config{InMemory: true, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := Update(t.Context(), s, data, Options{}); err != nil {
		t.Fatal(err)
	}
	return s
}

const warmData = `PREFIX : <http://e/> INSERT DATA {
	:a a :Warm ; :has :x , :y , :z . :b a :Warm ; :has :x , :y . :c a :Warm ; :has :y . :d :has :x , :y .
	:task :needs :x , :y . :idle :knows :a . :e a :Warm .
	GRAPH :g { :b a :Warm ; :has :z . :f a :Warm ; :has :x , :y , :z } }`

// TestForAllIsAStar says which double negations are answered as stars, and
// that the answer is that of the plain evaluation either way.
func TestForAllIsAStar(t *testing.T) {
	s := openMemory(t, warmData)
	for name, c := range map[string]struct {
		where string
		star  bool
		rows  int
	}{
		"values":          {`?s a :Warm FILTER NOT EXISTS { VALUES ?c { :x :y } FILTER NOT EXISTS { ?s :has ?c } }`, true, 3},
		"values in rows":  {`?s a :Warm FILTER NOT EXISTS { VALUES (?c) { (:x) (:y) (:x) } FILTER NOT EXISTS { ?s :has ?c } }`, true, 3},
		"needs":           {`?s a :Warm FILTER NOT EXISTS { :task :needs ?c FILTER NOT EXISTS { ?s :has ?c } }`, true, 3},
		"none needed":     {`?s a :Warm FILTER NOT EXISTS { :nobody :needs ?c FILTER NOT EXISTS { ?s :has ?c } }`, true, 5},
		"unknown":         {`?s a :Warm FILTER NOT EXISTS { VALUES ?c { :x :never } FILTER NOT EXISTS { ?s :has ?c } }`, true, 0},
		"bound elsewhere": {`:idle :knows ?s FILTER NOT EXISTS { VALUES ?c { :x :y } FILTER NOT EXISTS { ?s :has ?c } }`, true, 1},
		"filter first":    {`FILTER NOT EXISTS { VALUES ?c { :x :y } FILTER NOT EXISTS { ?s :has ?c } } ?s a :Warm`, true, 3},
		"behind optional": {`?s a :Warm OPTIONAL { ?s :knows ?k } FILTER NOT EXISTS { VALUES ?c { :x :y } FILTER NOT EXISTS { ?s :has ?c } }`, true, 3},
		"inside a graph":  {`GRAPH ?g { ?s a :Warm FILTER NOT EXISTS { VALUES ?c { :x :y } FILTER NOT EXISTS { ?s :has ?c } } }`, true, 1},
		"across graphs":   {`GRAPH :g { ?s a :Warm } FILTER NOT EXISTS { VALUES ?c { :x :y :z } FILTER NOT EXISTS { ?s :has ?c } }`, true, 2},
		"beside values":   {`VALUES ?s { :a :c } FILTER NOT EXISTS { VALUES ?c { :x :y } FILTER NOT EXISTS { ?s :has ?c } }`, true, 1},
		"used outside":    {`?s a :Warm . ?s :has ?c FILTER NOT EXISTS { VALUES ?c { :x :y } FILTER NOT EXISTS { ?s :has ?c } }`, false, 10},
		"used further out": {
			`:idle :knows ?c FILTER EXISTS { ?s a :Warm FILTER NOT EXISTS { VALUES ?c { :x } FILTER NOT EXISTS { ?s :has ?c } } }`,
			false, 1,
		},
		"undef":       {`?s a :Warm FILTER NOT EXISTS { VALUES ?c { :x UNDEF } FILTER NOT EXISTS { ?s :has ?c } }`, false, 3},
		"not certain": {`?k :knows ?i OPTIONAL { ?k :has ?s } FILTER NOT EXISTS { VALUES ?c { :x } FILTER NOT EXISTS { ?s :has ?c } }`, true, 1},
		"more inside": {`?s a :Warm FILTER NOT EXISTS { VALUES ?c { :x :y } FILTER NOT EXISTS { ?s :has ?c . ?c :p ?q } }`, false, 0},
		"any subject": {`?s a :Warm FILTER NOT EXISTS { ?t :needs ?c FILTER NOT EXISTS { ?s :has ?c } }`, false, 3},
	} {
		text := "PREFIX : <http://e/> SELECT * { " + c.where + " }"
		seen := &coverage{}
		fast, err := rowsOf(s, text, Options{seen: seen})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		slow, err := rowsOf(s, text, Options{bottomUp: true})
		if diff := cmp.Diff(slow, fast); diff != "" || err != nil {
			t.Errorf("%s: %v (-plain +fast):\n%s", name, err, diff)
		}
		if len(fast) != c.rows || seen.forAlls > 0 != c.star {
			t.Errorf("%s: %d rows, recognised %v; want %d, %v", name, len(fast), seen.forAlls > 0, c.rows, c.star)
		}
	}
}

// TestStarsLeapInEveryKindOfGraph runs stars in all the places that a pattern
// can look.
func TestStarsLeapInEveryKindOfGraph(t *testing.T) {
	s := openMemory(t, warmData)
	const star = `?s a :Warm ; :has :x , :z`
	for text, want := range map[string][]string{
		`SELECT ?s { ` + star + ` }`:                              {"a", "b", "f"},
		`SELECT ?s FROM :g { ` + star + ` }`:                      {"f"},
		`SELECT ?s FROM :g FROM :none { ` + star + ` }`:           {"f"},
		`SELECT ?s FROM :none { ` + star + ` }`:                   nil,
		`SELECT ?s { GRAPH :g { ` + star + ` } }`:                 {"f"},
		`SELECT ?s { GRAPH ?g { ` + star + ` } }`:                 {"f"},
		`SELECT ?s { GRAPH :none { ` + star + ` } }`:              nil,
		`SELECT ?s { VALUES ?s { :a :c } ` + star + ` }`:          {"a"},
		`SELECT ?s { ?s a :Warm ; :has :x , 'no' }`:               nil,
		`SELECT ?s { ?s :has :x , :y , :z ; a ?t }`:               {"a", "b", "f"},
		`SELECT ?s { ` + star + ` } ORDER BY ?s LIMIT 2`:          {"a", "b"},
		`SELECT ?s { { ` + star + ` } { ?s :has :y ; a :Warm } }`: {"a", "b", "f"},
	} {
		seen := &coverage{}
		got, err := rowsOf(s, "PREFIX : <http://e/> "+text, Options{seen: seen})
		for i := range want {
			want[i] = "[<http://e/" + want[i] + ">]"
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, diff)
		}
		if want != nil && seen.stars == 0 && text[:20] != `SELECT ?s { VALUES ?` && text[:20] != `SELECT ?s { GRAPH ?g` {
			t.Errorf("%s: no star ran", text)
		}
	}
}

// TestStarsInAnUpdate covers the one way that has no cursors: a transaction
// that has written already.
func TestStarsInAnUpdate(t *testing.T) {
	s := openMemory(t, warmData+` ; PREFIX : <http://e/> INSERT DATA { :new a :Warm ; :has :x , :z } ;
		INSERT { ?s :found 1 } WHERE { ?s a :Warm ; :has :x , :z }`)
	got, err := rowsOf(s, `SELECT ?s { ?s <http://e/found> 1 }`, Options{})
	want := []string{"[<http://e/a>]", "[<http://e/b>]", "[<http://e/f>]", "[<http://e/new>]"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestFiltersSeeOnlyTheirGroup holds a filter to the variables that its own
// group binds, whatever is joined to the group.
func TestFiltersSeeOnlyTheirGroup(t *testing.T) {
	s := openMemory(t, `PREFIX : <http://e/> INSERT DATA { :x :p :y }`)
	for where, rows := range map[string]int{
		`{ FILTER EXISTS { ?b :p ?a } } ?a :p ?b VALUES (?a ?b) { (:x UNDEF) (UNDEF :z) }`: 1,
		`{ FILTER(!BOUND(?b)) } ?a :p ?b`:                                                  1,
		`?a :p ?b { ?a :p ?c FILTER(!BOUND(?b)) }`:                                         1,
		`?a :p ?b { ?a :p ?c FILTER(BOUND(?b)) }`:                                          0,
	} {
		got, err := rowsOf(s, "PREFIX : <http://e/> SELECT * { "+where+" }", Options{})
		if err != nil || len(got) != rows {
			t.Errorf("%s: %v, %v; want %d rows", where, got, err, rows)
		}
	}
}

// TestMinusIsEvaluatedOnItsOwn holds the right side of a MINUS to its own
// solutions where rows from further out run into it.
func TestMinusIsEvaluatedOnItsOwn(t *testing.T) {
	s := openMemory(t, `PREFIX : <http://e/> INSERT DATA { :x :p :z , :x . :y :q :x }`)
	for where, rows := range map[string]int{
		`VALUES (?a ?b) { (UNDEF :z) } OPTIONAL { ?a :p ?b MINUS { OPTIONAL { ?b :q ?a } VALUES (?a ?b) { (:x UNDEF) } } }`: 1,
		`VALUES ?b { :z } ?a :p ?b MINUS { OPTIONAL { ?c :q ?a } OPTIONAL { ?b :none ?c } }`:                                0,
		`VALUES ?b { :z } { ?a :p ?b MINUS { ?c :q :x OPTIONAL { ?b :none ?c } } }`:                                         1,
	} {
		text := "PREFIX : <http://e/> SELECT * { " + where + " }"
		got, err := rowsOf(s, text, Options{})
		if err != nil || len(got) != rows {
			t.Errorf("%s: %v, %v; want %d rows", where, got, err, rows)
		}
		want, err := rowsOf(s, text, Options{bottomUp: true})
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-plain +fast):\n%s", where, err, diff)
		}
	}
}

// TestHashJoins runs joins large enough for tables, with room for them, with
// room for some, and with none.
func TestHashJoins(t *testing.T) {
	data := "PREFIX : <http://e/> INSERT DATA { "
	for i := range 400 {
		n := func(k int) string { return ":n" + string(rune('a'+k%20)) + string(rune('a'+k/20)) + " " }
		data += n(i) + ":p " + n((i+1)%400) + ". " + n(i) + ":q " + n(i*7%400) + ". "
	}
	s := openMemory(t, data+"}")
	for _, where := range []string{
		`?a :p ?b . ?b :q ?c . ?c :p ?d`,
		`?a :p ?b . ?b :p ?c . ?c :q ?a`,
		`?a :p ?b OPTIONAL { ?b :q ?a }`,
		`?a :p ?b MINUS { ?b :q ?c . ?c :p ?a }`,
		`?a :p ?b FILTER EXISTS { ?b :q ?c . ?c :q ?a }`,
		`?a :p ?b . ?b ?e ?a`,
		`?a :p ?b . ?a :q ?a`,
	} {
		text := "PREFIX : <http://e/> SELECT * { " + where + " }"
		want, err := rowsOf(s, text, Options{bottomUp: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, memory := range []int64{0, 100_000, 20_000, 4_000} {
			seen := &coverage{}
			got, err := rowsOf(s, text, Options{hashAfter: 2, seen: seen, MaxMemory: memory})
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s with %d bytes: %v (-want +got):\n%s", where, memory, err, diff)
			}
			if memory == 0 && seen.hashes == 0 && where != `?a :p ?b . ?b ?e ?a` {
				t.Errorf("%s: no table was made", where)
			}
		}
	}
	// Memory that a table holds is given back to what cannot do without it.
	x := &exec{o: Options{MaxMemory: 1000}}
	h := &hashing{table: &stepTable{}}
	x.lent, x.lentBytes, x.held = []*hashing{h}, 600, 600
	if err := x.charge(700); err != nil || h.table != nil || !h.never || x.held != 700 {
		t.Errorf("charge: %v, %+v, %d held", err, h, x.held)
	}
	if err := x.charge(700); err == nil {
		t.Error("more than the bound was granted")
	}
}

// TestNestedClosuresAreOne holds each pair of closures to the closure that it
// is run as.
func TestNestedClosuresAreOne(t *testing.T) {
	s := openMemory(t, `PREFIX : <http://e/> INSERT DATA { :a :p :b . :b :p :c . :c :p :b . :d :q :d }`)
	rows := func(path string) []string {
		got, err := rowsOf(s, "PREFIX : <http://e/> SELECT * { VALUES ?a { :a :b :d :z } ?a "+path+" ?b }", Options{})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, outer := range []string{"?", "*", "+"} {
		for _, inner := range []string{"?", "*", "+"} {
			// An alternative with a path that matches nothing keeps the two apart.
			want, got := rows("((:p"+inner+")|:never)"+outer), rows("(:p"+inner+")"+outer)
			if diff := cmp.Diff(want, got); diff != "" || len(got) < 3 {
				t.Errorf("(:p%s)%s (-apart +as one):\n%s", inner, outer, diff)
			}
		}
	}
}
