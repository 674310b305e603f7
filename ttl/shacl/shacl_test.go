package shacl_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
	"github.com/seed-ff860830/banyan/ttl/shacl"
	"github.com/seed-ff860830/banyan/ttl/ttltest"
)

const head = `@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix : <http://e/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
`

func parse(tb testing.TB, text string) ([]ttl.Triple, error) {
	tb.Helper()
	r := ttl.NewReader(strings.NewReader(head+text), ttl.Options{Limits: ttl.Limits{Depth: 30, Triples: 2000}})
	var out []ttl.Triple
	for {
		t, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
}

func mustParse(tb testing.TB, text string) []ttl.Triple {
	tb.Helper()
	ts, err := parse(tb, text)
	if err != nil {
		tb.Fatalf("%v in\n%s", err, text)
	}
	return ts
}

func validate(tb testing.TB, shapes, data string) shacl.Report {
	tb.Helper()
	s, err := shacl.Load(mustParse(tb, shapes))
	if err != nil {
		tb.Fatal(err)
	}
	r, err := s.Validate(tb.Context(), shacl.NewData(mustParse(tb, data)))
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// prop is a shape of :a with one property shape of :p.
func prop(s string) string { return `:S sh:targetNode :a ; sh:property [ sh:path :p ; ` + s + ` ] .` }

func TestEveryComponent(t *testing.T) {
	for _, c := range []struct{ name, shapes, good, bad, component string }{
		{"class", prop(`sh:class :C`), `:a :p :b . :b a :D . :D rdfs:subClassOf :C .`, `:a :p :b . :b a :D .`, "Class"},
		{"datatype", prop(`sh:datatype xsd:integer`), `:a :p 5 .`, `:a :p "5" .`, "Datatype"},
		{"ill-typed", prop(`sh:datatype xsd:byte`), `:a :p "127"^^xsd:byte .`, `:a :p "128"^^xsd:byte .`, "Datatype"},
		{"ill-typed date", prop(`sh:datatype xsd:date`), `:a :p "2024-02-29"^^xsd:date .`, `:a :p "2023-02-29"^^xsd:date .`, "Datatype"},
		{"nodeKind", prop(`sh:nodeKind sh:BlankNodeOrIRI`), `:a :p :b , [] .`, `:a :p 1 .`, "NodeKind"},
		{"minCount", prop(`sh:minCount 2`), `:a :p 1, 2 .`, `:a :p 1 .`, "MinCount"},
		{"maxCount", prop(`sh:maxCount 1`), `:a :p 1 .`, `:a :p 1, 2 .`, "MaxCount"},
		{"minInclusive", prop(`sh:minInclusive 5`), `:a :p 5 .`, `:a :p 4.9 .`, "MinInclusive"},
		{"minExclusive", prop(`sh:minExclusive 5`), `:a :p 5.1 .`, `:a :p 5.0 .`, "MinExclusive"},
		{"maxInclusive", prop(`sh:maxInclusive 5`), `:a :p 5e0 .`, `:a :p "x" .`, "MaxInclusive"},
		{"maxExclusive", prop(`sh:maxExclusive "2024-01-02"^^xsd:date`), `:a :p "2024-01-01"^^xsd:date .`, `:a :p "2024-01-02"^^xsd:date .`, "MaxExclusive"},
		{"zoneless time", prop(`sh:maxInclusive "2024-01-02T00:00:00Z"^^xsd:dateTime`), `:a :p "2024-01-01T00:00:00"^^xsd:dateTime .`, `:a :p "2024-01-01T23:00:00"^^xsd:dateTime .`, "MaxInclusive"},
		{"minLength", prop(`sh:minLength 2`), `:a :p "éé" .`, `:a :p "é" .`, "MinLength"},
		{"maxLength", prop(`sh:maxLength 2`), `:a :p "éé" .`, `:a :p [] .`, "MaxLength"},
		{"pattern", prop(`sh:pattern "^B" ; sh:flags "i"`), `:a :p "bx" .`, `:a :p "xb" .`, "Pattern"},
		{"pattern x", prop(`sh:pattern "^a [ ] b$" ; sh:flags "x"`), `:a :p "a b" .`, `:a :p "a  b" .`, "Pattern"},
		{"languageIn", prop(`sh:languageIn ("en")`), `:a :p "x"@en-GB .`, `:a :p "x"@eng .`, "LanguageIn"},
		{"uniqueLang", prop(`sh:uniqueLang true`), `:a :p "x"@en, "x"@de .`, `:a :p "x"@en, "y"@EN .`, "UniqueLang"},
		{"equals", prop(`sh:equals :q`), `:a :p 1 ; :q 1 .`, `:a :p 1 ; :q 1, 2 .`, "Equals"},
		{"disjoint", prop(`sh:disjoint :q`), `:a :p 1 ; :q 2 .`, `:a :p 1 ; :q 1 .`, "Disjoint"},
		{"lessThan", prop(`sh:lessThan :q`), `:a :p 1 ; :q 2 .`, `:a :p 2 ; :q 2 .`, "LessThan"},
		{"lessThanOrEquals", prop(`sh:lessThanOrEquals :q`), `:a :p 2 ; :q 2 .`, `:a :p 3 ; :q 2 .`, "LessThanOrEquals"},
		{"not", prop(`sh:not [ sh:in ( 1 ) ]`), `:a :p 2 .`, `:a :p 1 .`, "Not"},
		{"and", prop(`sh:and ( [ sh:minInclusive 1 ] [ sh:maxInclusive 3 ] )`), `:a :p 2 .`, `:a :p 4 .`, "And"},
		{"or", prop(`sh:or ( [ sh:in ( 1 ) ] [ sh:in ( 2 ) ] )`), `:a :p 2 .`, `:a :p 3 .`, "Or"},
		{"xone", prop(`sh:xone ( [ sh:in ( 1 2 ) ] [ sh:in ( 2 3 ) ] )`), `:a :p 3 .`, `:a :p 2 .`, "Xone"},
		{"node", prop(`sh:node [ sh:property [ sh:path :q ; sh:minCount 1 ] ]`), `:a :p :b . :b :q 1 .`, `:a :p :b .`, "Node"},
		{"property", prop(`sh:property [ sh:path :q ; sh:minCount 1 ]`), `:a :p :b . :b :q 1 .`, `:a :p :b .`, "MinCount"},
		{"qualified min", prop(`sh:qualifiedValueShape [ sh:class :C ] ; sh:qualifiedMinCount 1`), `:a :p :b . :b a :C .`, `:a :p :b .`, "QualifiedMinCount"},
		{"qualified max", prop(`sh:qualifiedValueShape [ sh:class :C ] ; sh:qualifiedMaxCount 0`), `:a :p :b .`, `:a :p :b . :b a :C .`, "QualifiedMaxCount"},
		{
			"qualified disjoint", `:S sh:targetNode :a ; sh:property [ sh:path :p ; sh:qualifiedValueShape [ sh:class :C ] ; sh:qualifiedValueShapesDisjoint true ; sh:qualifiedMinCount 1 ] ,
			[ sh:path :p ; sh:qualifiedValueShape [ sh:class :D ] ; sh:qualifiedMinCount 1 ] .`, `:a :p :b , :c . :b a :C . :c a :D .`, `:a :p :b . :b a :C , :D .`, "QualifiedMinCount",
		},
		{"closed", `:S sh:targetNode :a ; sh:closed true ; sh:ignoredProperties ( :r ) ; sh:property [ sh:path :p ] .`, `:a :p 1 ; :r 2 .`, `:a :q 1 .`, "Closed"},
		{"hasValue", prop(`sh:hasValue 1`), `:a :p 1, 2 .`, `:a :p 2 .`, "HasValue"},
		{"in", prop(`sh:in ( 1 "x" )`), `:a :p "x" .`, `:a :p "1" .`, "In"},
		{"targetClass", `:S sh:targetClass :C ; sh:nodeKind sh:IRI .`, `:a a :C .`, `[] a :D . :D rdfs:subClassOf :C .`, "NodeKind"},
		{"implicit class", `:C a rdfs:Class , sh:NodeShape ; sh:nodeKind sh:IRI .`, `[] a :D .`, `[] a :C .`, "NodeKind"},
		{"targetSubjectsOf", `:S sh:targetSubjectsOf :p ; sh:nodeKind sh:IRI .`, `:a :p [] .`, `[] :p 1 .`, "NodeKind"},
		{"targetObjectsOf", `:S sh:targetObjectsOf :p ; sh:nodeKind sh:IRI .`, `[] :p :a .`, `:a :p 1 .`, "NodeKind"},
		{"inverse", `:S sh:targetNode :a ; sh:property [ sh:path [ sh:inversePath :p ] ; sh:minCount 1 ] .`, `:b :p :a .`, `:a :p :b .`, "MinCount"},
		{"sequence", `:S sh:targetNode :a ; sh:property [ sh:path ( :p :q ) ; sh:minCount 1 ] .`, `:a :p :b . :b :q 1 .`, `:a :p :b ; :q 1 .`, "MinCount"},
		{"inverse of a sequence", `:S sh:targetNode :a ; sh:property [ sh:path [ sh:inversePath ( :p :q ) ] ; sh:minCount 1 ] .`, `:c :p :b . :b :q :a .`, `:c :q :b . :b :p :a .`, "MinCount"},
		{"alternative", `:S sh:targetNode :a ; sh:property [ sh:path [ sh:alternativePath ( :p :q ) ] ; sh:maxCount 1 ] .`, `:a :p 1 ; :q 1 .`, `:a :p 1 ; :q 2 .`, "MaxCount"},
		{"zeroOrMore", `:S sh:targetNode :a ; sh:property [ sh:path [ sh:zeroOrMorePath :p ] ; sh:maxCount 2 ] .`, `:a :p :b . :b :p :a .`, `:a :p :b . :b :p :c .`, "MaxCount"},
		{"oneOrMore", `:S sh:targetNode :a ; sh:property [ sh:path [ sh:oneOrMorePath :p ] ; sh:maxCount 1 ] .`, `:a :p :b .`, `:a :p :b . :b :p :a .`, "MaxCount"},
		{"zeroOrOne", `:S sh:targetNode :a ; sh:property [ sh:path [ sh:zeroOrOnePath :p ] ; sh:maxCount 2 ] .`, `:a :p :b . :b :p :c .`, `:a :p :b , :c .`, "MaxCount"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := validate(t, c.shapes, c.good); !r.Conforms || len(r.Results) > 0 {
				t.Errorf("good data is refused: %+v", r.Results)
			}
			r := validate(t, c.shapes, c.bad)
			if r.Conforms || len(r.Results) == 0 || r.Results[0].Component != shacl.NS+c.component+"ConstraintComponent" {
				t.Errorf("bad data gives %+v, want a fault of %s", r, c.component)
			}
		})
	}
}

func TestResultNamesStatementMessageAndSeverity(t *testing.T) {
	r := validate(t, `:S sh:targetNode :a ; sh:property :P . :P sh:path :p ; sh:datatype xsd:integer ; sh:message "a number" ; sh:severity sh:Warning .`,
		`:b :p 1 . :a :p 1 . :a :p "x" .`)
	want := shacl.Result{
		Focus: ttl.NewIRI("http://e/a"), Path: "<http://e/p>", Value: ttl.NewString("x"), Shape: ttl.NewIRI("http://e/P"),
		Component: shacl.NS + "DatatypeConstraintComponent", Message: "a number", Severity: shacl.NS + "Warning", Statement: 2,
	}
	if len(r.Results) != 1 || r.Results[0] != want || r.Conforms {
		t.Errorf("the report is %+v\nwant %+v", r, want)
	}
	if r := validate(t, `:S sh:targetNode :a ; sh:deactivated true ; sh:nodeKind sh:Literal .`, `:a :p 1 .`); !r.Conforms {
		t.Error("a deactivated shape is held")
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		shapes string
		kind   errs.Kind
	}{
		"recursion":       {`:S sh:property [ sh:path :p ; sh:node :S ] .`, errs.Invalid},
		"SPARQL":          {`:S sh:targetNode :a ; sh:sparql [ sh:select "x" ] .`, errs.Unsupported},
		"unknown word":    {`:S sh:targetNode :a ; sh:minCuont 1 .`, errs.Invalid},
		"count":           {prop(`sh:minCount -1`), errs.Invalid},
		"no path":         {`:S sh:minCount 1 .`, errs.Invalid},
		"circular path":   {`:S sh:path _:p ; sh:minCount 1 . _:p sh:inversePath _:p .`, errs.Invalid},
		"broken list":     {prop(`sh:in [ ]`), errs.Invalid},
		"circular list":   {prop(`sh:in _:l`) + ` _:l <http://www.w3.org/1999/02/22-rdf-syntax-ns#first> 1 ; <http://www.w3.org/1999/02/22-rdf-syntax-ns#rest> _:l .`, errs.Invalid},
		"pattern":         {prop(`sh:pattern "("`), errs.Invalid},
		"XPath's classes": {prop(`sh:pattern "[a-z-[aeiou]]"`), errs.Invalid},
		"bound":           {prop(`sh:minInclusive "x"^^xsd:integer`), errs.Invalid},
	} {
		if _, err := shacl.Load(mustParse(t, c.shapes)); err == nil || errs.KindOf(err) != c.kind {
			t.Errorf("%s: %v, want %s", name, err, c.kind)
		}
	}
}

func TestValidateIsBounded(t *testing.T) {
	var many strings.Builder
	for range 1500 {
		many.WriteString(":a :p [] . ")
	}
	if r := validate(t, prop(`sh:nodeKind sh:IRI`), many.String()); len(r.Results) != 1000 || !r.Truncated || r.Conforms {
		t.Errorf("%d results, truncated %v", len(r.Results), r.Truncated)
	}
	// Each shape asks the next twice: 2^40 questions.
	var deep strings.Builder
	deep.WriteString(":s0 sh:targetNode :a .")
	for i := range 40 {
		a, b := string(rune('A'+i%26))+strings.Repeat("x", i/26), string(rune('A'+(i+1)%26))+strings.Repeat("x", (i+1)/26)
		if i == 0 {
			a = "s0"
		}
		deep.WriteString(":" + a + " sh:and ( :" + b + " :" + b + " ) .\n")
	}
	s, err := shacl.Load(mustParse(t, deep.String()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Validate(t.Context(), shacl.NewData(nil)); errs.KindOf(err) != errs.TooLarge {
		t.Errorf("endless work ends with %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Validate(ctx, shacl.NewData(nil)); errs.KindOf(err) != errs.Canceled {
		t.Errorf("a cancelled validation ends with %v", err)
	}
}

func FuzzValidate(f *testing.F) {
	f.Add(prop(`sh:datatype xsd:date ; sh:minCount 1 ; sh:pattern "^a"`), `:a :p "2024-02-30"^^xsd:date .`)
	f.Add(`:S sh:targetClass :C ; sh:closed true ; sh:property [ sh:path ( :p [ sh:zeroOrMorePath :q ] ) ; sh:lessThan :r ] .`, `:a a :C ; :p 1 ; :r 2 .`)
	f.Fuzz(func(t *testing.T, shapes, data string) {
		st, err := parse(t, shapes)
		if err != nil {
			return
		}
		s, err := shacl.Load(st)
		if err != nil {
			if errs.KindOf(err) == errs.Internal {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		dt, err := parse(t, data)
		if err != nil {
			return
		}
		r, err := s.Validate(t.Context(), shacl.NewData(dt))
		if err == nil && r.Conforms != (len(r.Results) == 0) {
			t.Fatalf("conforms is %v with %d results", r.Conforms, len(r.Results))
		}
		for _, x := range r.Results {
			if x.Statement < -1 || x.Statement >= len(dt) {
				t.Fatalf("no such statement: %d", x.Statement)
			}
		}
	})
}

func BenchmarkValidate(b *testing.B) {
	data := ttltest.Corpus(250_000)
	s, err := shacl.Load(mustParse(b, `@prefix bn: <`+ttltest.BN+`> . :S sh:targetSubjectsOf bn:provides ; sh:property [ sh:path bn:provides ; sh:nodeKind sh:IRI ; sh:minCount 1 ] .`))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Validate(b.Context(), shacl.NewData(data)); err != nil {
			b.Fatal(err)
		}
	}
}
