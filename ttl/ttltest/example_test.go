package ttltest_test

import (
	"fmt"

	"github.com/seed-ff860830/banyan/ttl/ttltest"
)

func ExampleCorpus() {
	fmt.Println(ttltest.Corpus(10)[0])
	// Output:
	// <https://example.org/snapshot/sn_00000000> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://seed-ff860830.github.io/banyan/ns#WarmSnapshot> .
}
