package ttl_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

func ExampleReader() {
	const doc = `@prefix bn: <https://seed-ff860830.github.io/banyan/ns#> .
<#pandas> a bn:Module ;
    bn:implies <#numpy> ;
    bn:warmMillis 310 .`
	r := ttl.NewReader(strings.NewReader(doc), ttl.Options{Base: "https://example.org/caps"})
	for {
		t, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.Position().Line, t.P.Value[strings.IndexByte(t.P.Value, '#')+1:], t.O)
	}
	// Output:
	// 2 type <https://seed-ff860830.github.io/banyan/ns#Module>
	// 3 implies <https://example.org/caps#numpy>
	// 4 warmMillis "310"^^<http://www.w3.org/2001/XMLSchema#integer>
}

func ExampleReader_All() {
	const doc = "<http://e/a> <http://e/p> 1, 2 ;\n    <http://e/q> 'three .\n"
	for t, err := range ttl.NewReader(strings.NewReader(doc), ttl.Options{}).All() {
		var syntax *ttl.SyntaxError
		if errors.As(err, &syntax) {
			fmt.Println(syntax)
			fmt.Println(syntax.Excerpt)
			return
		}
		fmt.Println(t.O.Value)
	}
	// Output:
	// 1
	// 2
	// line 2, column 18: this string is not closed on its line
	//     <http://e/q> 'three .
	//                  ^
}

func ExampleLimits() {
	doc := "<http://e/a> <http://e/p> " + strings.Repeat("[ <http://e/p> ", 1000)
	for _, err := range ttl.NewReader(strings.NewReader(doc), ttl.Options{Limits: ttl.Limits{Depth: 50}}).All() {
		if err != nil {
			fmt.Println(errs.KindOf(err), "-", err)
		}
	}
	// Output:
	// invalid - line 1, column 777: brackets nest deeper than the limit of 50
}

func ExampleWriter() {
	const ns = "https://example.org/ns#"
	w := ttl.NewWriter(os.Stdout, ttl.WriterOptions{Prefixes: map[string]string{"": ns}})
	s := ttl.NewIRI(ns + "pandas")
	for _, t := range []ttl.Triple{
		{S: s, P: ttl.NewIRI(ttl.RDFType), O: ttl.NewIRI(ns + "Module")},
		{S: s, P: ttl.NewIRI(ns + "implies"), O: ttl.NewIRI(ns + "numpy")},
		{S: s, P: ttl.NewIRI(ns + "implies"), O: ttl.NewIRI(ns + "py/pytz@2024.1")},
		{S: s, P: ttl.NewIRI(ns + "warmMillis"), O: ttl.NewTyped("310", ttl.XSDInteger)},
	} {
		if err := w.Write(t); err != nil {
			fmt.Println(err)
		}
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// @prefix : <https://example.org/ns#> .
	// :pandas a :Module ;
	//     :implies :numpy , <https://example.org/ns#py/pytz@2024.1> ;
	//     :warmMillis 310 .
}
