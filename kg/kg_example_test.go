package kg_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
)

func Example() {
	ctx := context.Background()
	store, err := kg.Open(ctx, kg.Config{InMemory: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close() // in memory

	report, err := store.ImportTurtle(ctx, strings.NewReader(`
		@prefix bn: <https://seed-ff860830.github.io/banyan/ns#> .
		@prefix py: <https://seed-ff860830.github.io/banyan/py/> .
		py:pandas a bn:Module ; bn:implies py:numpy .
		py:numpy a bn:Module .
	`), kg.ImportOptions{Name: "science.ttl"})
	fmt.Println(report.Capabilities, "capabilities", err)

	pandas, _ := ontology.ParseCapability(ontology.PythonNS, "pandas")
	numpy, _ := ontology.ParseCapability(ontology.PythonNS, "numpy")
	both := []ontology.Capability{numpy, pandas}
	err = store.PutSnapshot(ctx, kg.Snapshot{
		ID: "sn_01", Rung: "forkserver", Runtime: "python", SpecKey: "1f", State: ontology.StateLive,
		Declares: both, Provides: both, WarmMillis: 400, CreatedAt: time.Unix(1796000000, 0),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	need := kg.Lookup{Runtime: "python", Rung: "forkserver", Need: []ontology.Capability{numpy}}
	for _, c := range store.View().Supersets(need, 1) {
		fmt.Println(c.ID, "declares", c.Extra, "more than is needed")
	}
	// Output:
	// 2 capabilities <nil>
	// sn_01 declares 1 more than is needed
}
