package knakk_test

import (
	"fmt"

	"github.com/knakk/rdf"

	"github.com/seed-ff860830/banyan/ttl"
	"github.com/seed-ff860830/banyan/ttl/knakk"
)

func ExampleFromTerm() {
	l, _ := rdf.NewLiteral(3.5)
	fmt.Println(knakk.FromTerm(l))

	// A constructor's error that was not looked at comes out here.
	l, _ = rdf.NewLangLiteral("臺灣", "zh-Hant-TW")
	_, err := knakk.FromTerm(l)
	fmt.Println(err)
	// Output:
	// "3.5"^^<http://www.w3.org/2001/XMLSchema#double> <nil>
	// a literal has no datatype; it may be the zero literal of a failed constructor
}

func ExampleToTriple() {
	t, err := knakk.ToTriple(ttl.Triple{S: ttl.NewBlank("b"), P: ttl.NewIRI("http://e/p"), O: ttl.NewString("x")})
	fmt.Print(t.Serialize(rdf.NTriples))
	fmt.Println(err)
	// Output:
	// _:b <http://e/p> "x" .
	// <nil>
}
