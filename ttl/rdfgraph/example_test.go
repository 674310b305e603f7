package rdfgraph_test

import (
	"fmt"

	"github.com/seed-ff860830/banyan/ttl"
	"github.com/seed-ff860830/banyan/ttl/rdfgraph"
)

func ExampleIsomorphic() {
	p := ttl.NewIRI("http://e/p")
	a := []ttl.Triple{{S: ttl.NewBlank("x"), P: p, O: ttl.NewBlank("y")}}
	b := []ttl.Triple{{S: ttl.NewBlank("y"), P: p, O: ttl.NewBlank("x")}}
	loop := []ttl.Triple{{S: ttl.NewBlank("x"), P: p, O: ttl.NewBlank("x")}}
	fmt.Println(rdfgraph.Isomorphic(a, b))
	fmt.Println(rdfgraph.Isomorphic(a, loop))
	// Output:
	// true <nil>
	// false <nil>
}
