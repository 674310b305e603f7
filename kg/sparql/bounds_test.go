package sparql_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/kg/sparql"
)

// endsWithin is how long an expensive query may take to end once its bound is
// passed. It is generous, since the race detector and a busy machine slow all
// of it: what is tested is that the bound reaches the loop at all.
const endsWithin = 8 * time.Second

// expensive are queries that would run for minutes or hold gigabytes, with the
// kinds of error that a bound of 50 ms and 4 MiB may end them with.
var expensive = map[string]struct {
	query string
	kinds []errs.Kind
}{
	"product":         {`SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }`, timeOnly},
	"filtered":        {`SELECT * { ?a :e ?b . ?c :e ?d . ?e :e ?f . ?g :e ?h FILTER(?a = ?x || ?h = ?x) }`, timeOnly},
	"product of ids":  {`ASK { ?a :e ?b . ?c :e ?d . ?e :e ?f . ?g :e ?h FILTER(CONCAT(STR(?a), STR(?h)) = "none") }`, timeOnly},
	"optionals":       {`SELECT * { ?a :e ?b OPTIONAL { ?b :e ?c OPTIONAL { ?c :e ?d OPTIONAL { ?d :e ?f OPTIONAL { ?f :e ?g } } } } }`, timeOrMemory},
	"unbound rest":    {`ASK { ?a :e ?b OPTIONAL { ?c :e ?d OPTIONAL { ?f :e ?g OPTIONAL { ?h :e ?i } } } FILTER(CONCAT(STR(?a), STR(?i)) = "none") }`, timeOrMemory},
	"path star":       {`SELECT * { ?a (:e/:e/:e)* ?b . ?c :e* ?d . ?f :e* ?g }`, timeOrMemory},
	"path sequence":   {`SELECT * { ?a :e/:e/:e/:e/:e/:e ?b }`, timeOnly},
	"path in path":    {`SELECT * { ?a ((:e*)*/(:e+)+)* ?b }`, timeOrMemory},
	"negated path":    {`SELECT * { ?a !(:x)/!(:x)/!(:x)/!(^:x) ?b }`, timeOnly},
	"order":           {`SELECT * { ?a :e ?b . ?c :e ?d } ORDER BY ?a ?d`, timeOrMemory},
	"order top":       {`SELECT * { ?a :e ?b . ?c :e ?d . ?f :e ?g } ORDER BY ?a ?d LIMIT 10`, timeOrMemory},
	"distinct":        {`SELECT DISTINCT * { ?a :e ?b . ?c :e ?d }`, timeOrMemory},
	"groups":          {`SELECT ?a ?b ?c (COUNT(*) AS ?n) { ?a :e ?b . ?c :e ?d } GROUP BY ?a ?b ?c ?d`, timeOrMemory},
	"concatenation":   {`SELECT (GROUP_CONCAT(STR(?a)) AS ?t) { ?a :e ?b . ?c :e ?d }`, timeOrMemory},
	"count distinct":  {`SELECT (COUNT(DISTINCT *) AS ?n) { ?a :e ?b . ?c :e ?d }`, timeOrMemory},
	"count values":    {`SELECT (COUNT(DISTINCT CONCAT(STR(?a), STR(?b), STR(?c), STR(?d))) AS ?n) { ?a :e ?b . ?c :e ?d }`, timeOrMemory},
	"subqueries":      {`SELECT * { { SELECT ?a { ?a :e ?b } } { SELECT ?c { ?c :e ?d } } { SELECT ?f { ?f :e ?g } } }`, timeOrMemory},
	"minus":           {`SELECT * { ?a :e ?b . ?c :e ?d MINUS { ?a :e ?x . ?x :e ?y . ?y :e ?none . ?none :no ?b } }`, timeOrMemory},
	"exists":          {`ASK { ?a :e ?b FILTER EXISTS { ?b :e ?c FILTER EXISTS { ?c :e ?d FILTER EXISTS { ?d :e ?f . ?f :e ?g FILTER(CONCAT(STR(?a), STR(?b), STR(?c), STR(?g)) = "none") } } } }`, timeOnly},
	"not exists":      {`ASK { ?a :e ?b FILTER EXISTS { ?c :e ?d FILTER EXISTS { ?f :e ?g . ?h :e ?i FILTER(CONCAT(STR(?g), STR(?i), STR(?b)) = "none") } } }`, timeOnly},
	"graphs":          {`SELECT * { GRAPH ?g { ?a ?b ?c } GRAPH ?h { ?d ?e ?f } GRAPH ?i { ?j ?k ?l } GRAPH ?m { ?n ?o ?p } }`, timeOnly},
	"construct":       {`CONSTRUCT { ?a :x ?d . ?b :y ?c } { ?a :e ?b . ?c :e ?d . ?f :e ?g }`, timeOrMemory},
	"describe":        {`DESCRIBE ?a { ?a :e ?b . ?c :e ?d . ?f :e ?g }`, timeOrMemory},
	"values":          {`SELECT * { VALUES ?a { ` + strings.Repeat("1 ", 5000) + `} VALUES ?b { ` + strings.Repeat("2 ", 5000) + `} VALUES ?c { 1 2 3 } }`, timeOrMemory},
	"many values":     {`SELECT * { VALUES ?a { ` + strings.Repeat("1 ", 1_000_000) + `} }`, timeOrMemory},
	"other values":    {`SELECT * { VALUES ?a { ` + numbers(200_000) + `} }`, timeOrMemory},
	"doubling":        {`SELECT (STRLEN(?z) AS ?n) { ` + doubling(40) + `}`, timeOrMemory},
	"doubling inside": {`SELECT (STRLEN(` + nested(24, "CONCAT(", ", ?t)", `"x"`) + `) AS ?n) { :long :text ?t0 BIND(CONCAT(?t0, ?t0, ?t0, ?t0, ?t0) AS ?t) }`, timeOrMemory},
	"many arguments":  {`SELECT (COALESCE(CONCAT(` + strings.Repeat("UCASE(?t), ", 3000) + `""), "") AS ?n) { :long :text ?t }`, timeOrMemory},
	"held in turn":    {`ASK { :long :text ?t FILTER(` + nested(200, `UCASE(?t) = STR(`, ")", "?t") + `) }`, timeOrMemory},
	"encoding":        {`SELECT (STRLEN(` + nested(200, "ENCODE_FOR_URI(", ")", "?t") + `) AS ?n) { :long :text ?t }`, timeOrMemory},
	"replace":         {`SELECT (STRLEN(` + nested(30, "REPLACE(", `, "(.)", "$1$1")`, "?t") + `) AS ?n) { :long :text ?t }`, timeOrMemory},
	"matching":        {`SELECT * { :long :text ?t . ?a :e ?b . ?c :e ?d FILTER(REGEX(CONCAT(?t, STR(?a)), "(a?){60}(a*)*[^a]$")) }`, timeOrMemory},
	"patterns":        {`SELECT * { :long :text ?t . ?a :e ?b . ?c :e ?d FILTER(REGEX("short", CONCAT("((a?){9}){9}", STR(?a), STR(?d), "(x{100}){5}"))) }`, timeOrMemory},
	"digests":         {`SELECT * { :long :text ?t . ?a :e ?b . ?c :e ?d FILTER(SHA512(CONCAT(?t, STR(?a), STR(?c))) = "") }`, timeOnly},
	"powers":          {`SELECT * { ?a :e ?b . ?c :e ?d BIND(` + strings.Repeat("99999999999999999999 * ", 100) + `1.5 AS ?n) FILTER(?n < 0) }`, timeOnly},
	"blank nodes":     {`SELECT * { ?a :e ?b . ?c :e ?d BIND(BNODE() AS ?n) BIND(BNODE(STR(?a)) AS ?m) }`, timeOrMemory},
	"bindings":        {`SELECT * { ?a :e ?b . ?c :e ?d ` + bindings(200) + `}`, timeOrMemory},
	"unions":          {`SELECT * { ` + strings.Repeat(`{ { ?a :e ?b } UNION { ?b :e ?a } } `, 12) + `}`, timeOrMemory},
}

// wide are queries of many parts in a row: they are cheap, unless what they are
// turned into grows with the square of their number.
var wide = map[string]string{
	"groups":    `ASK { ` + strings.Repeat(`{ ?a :e ?b } `, 4000) + `}`,
	"unions":    `ASK { ` + strings.Repeat(`{ { ?a :e ?b } UNION { ?c :e ?b } } `, 2000) + `}`,
	"filters":   `ASK { ?a :e ?b . ` + strings.Repeat(`OPTIONAL { ?a :e ?b } `, 1500) + strings.Repeat(`FILTER(?a != ?b) `, 1500) + `}`,
	"bounds":    `ASK { ?a :e ?b . ` + strings.Repeat(`OPTIONAL { ?a :e ?c } `, 1500) + strings.Repeat(`FILTER(BOUND(?c)) `, 1500) + `}`,
	"minus":     `ASK { ?a :e ?b . ` + strings.Repeat(`MINUS { ?a :x ?b } `, 4000) + `}`,
	"patterns":  `ASK { ` + strings.Repeat(`?a :e ?b . ?b :e ?c . ?c :e ?d . ?d :x ?a . `, 2400) + `}`,
	"stars":     `ASK { ` + strings.Repeat(`?a :e :n1 , :n2 , :n3 , :n4 . `, 2000) + `}`,
	"binds":     `ASK { ` + bindings(1500) + `}`,
	"columns":   `SELECT ` + columns(1500) + ` { ?a :e ?b } LIMIT 1`,
	"groupings": `SELECT (COUNT(*) AS ?n) { ?a :e ?b } GROUP BY ` + strings.Repeat(`(STR(?a)) `, 100),
	"for all":   `ASK { ?a :e ?b . ` + forAlls(1500) + `}`,
}

func columns(n int) string {
	b := ""
	for i := range n {
		b += fmt.Sprintf("(STR(?a) AS ?c%d) ", i)
	}
	return b
}

func forAlls(n int) string {
	b := ""
	for i := range n {
		b += fmt.Sprintf("FILTER NOT EXISTS { VALUES ?c%d { :n1 :n2 :n3 } FILTER NOT EXISTS { ?a :e ?c%d } } ", i, i)
	}
	return b
}

func TestWideQueriesAreTurnedIntoPlansAtOnce(t *testing.T) {
	s := openStore(t)
	update(t, s, dense())
	for name, query := range wide {
		start := time.Now()
		err := drain(t.Context(), s, "PREFIX : <http://e/> "+query, sparql.Options{})
		if took := time.Since(start); err != nil || took > endsWithin {
			t.Errorf("%s: %v after %s", name, err, took)
		}
	}
}

var (
	timeOnly     = []errs.Kind{errs.Timeout, errs.Canceled}
	timeOrMemory = []errs.Kind{errs.Timeout, errs.Canceled, errs.TooLarge, errs.Exhausted}
)

func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "'%d' ", i)
	}
	return b.String()
}

func nested(n int, open, shut, middle string) string {
	return strings.Repeat(open, n) + middle + strings.Repeat(shut, n)
}

// doubling binds a text to ever more variables, each twice as long as the last.
func doubling(n int) string {
	b := `BIND("0123456789abcdef" AS ?v0) `
	for i := range n {
		b += fmt.Sprintf("BIND(CONCAT(?v%d, ?v%d) AS ?v%d) ", i, i, i+1)
	}
	return b + fmt.Sprintf("BIND(?v%d AS ?z) ", n)
}

func bindings(n int) string {
	b := "BIND(1 AS ?v0) "
	for i := range n {
		b += fmt.Sprintf("BIND(CONCAT(STR(?v%d), 'x', STR(?a)) AS ?v%d) ", i, i+1)
	}
	return b
}

// drain reads an answer to its end.
func drain(ctx context.Context, s *kg.Store, text string, o sparql.Options) error {
	r, err := sparql.Run(ctx, s, text, o)
	if err != nil {
		return err
	}
	if r.Rows != nil {
		for _, err := range r.Rows {
			if err != nil {
				return err
			}
		}
	}
	if r.Triples != nil {
		for _, err := range r.Triples {
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// dense is a graph of 50 nodes with an edge from each to each, and a long text.
func dense() string {
	var b strings.Builder
	b.WriteString("PREFIX : <http://e/> INSERT DATA { ")
	for i := range 50 {
		for k := range 50 {
			fmt.Fprintf(&b, ":n%d :e :n%d . ", i, k)
		}
	}
	b.WriteString(`:long :text "` + strings.Repeat("a", 200_000) + `" . GRAPH :g { :n1 :e :n2 } }`)
	return b.String()
}

func TestBoundsReachEveryLoop(t *testing.T) {
	s := openStore(t)
	update(t, s, dense())
	for name, c := range expensive {
		text := "PREFIX : <http://e/> " + c.query
		runs := map[string]func() error{
			"timeout": func() error {
				return drain(t.Context(), s, text, sparql.Options{Timeout: 50 * time.Millisecond, MaxMemory: 4 << 20, MaxRows: 1 << 40})
			},
			"cancel": func() error {
				ctx, cancel := context.WithCancel(t.Context())
				defer time.AfterFunc(50*time.Millisecond, cancel).Stop()
				return drain(ctx, s, text, sparql.Options{MaxMemory: 4 << 20, MaxRows: 1 << 40})
			},
		}
		for how, run := range runs {
			t.Run(name+"/"+how, func(t *testing.T) {
				peak := peakHeap(t)
				start := time.Now()
				err := run()
				if took := time.Since(start); took > endsWithin {
					t.Errorf("it ended after %s", took)
				}
				if err == nil || !slices.Contains(c.kinds, errs.KindOf(err)) {
					t.Errorf("%v (%s), want one of %v", err, errs.KindOf(err), c.kinds)
				}
				if got := peak(); got > 256<<20 {
					t.Errorf("the heap grew by %d MiB", got>>20)
				}
			})
		}
	}
}

// peakHeap watches the heap until the function that it returns is called, which
// says by how much it grew at most.
func peakHeap(t *testing.T) func() uint64 {
	t.Helper()
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	stop, done := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
			select {
			case <-tick.C:
			case <-stop:
				done <- most
				return
			}
		}
	}()
	return func() uint64 {
		close(stop)
		if most := <-done; most > before {
			return most - before
		}
		return 0
	}
}
