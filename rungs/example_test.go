package rungs_test

import (
	"context"
	"fmt"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
)

func ExampleCheckFiles() {
	fmt.Println(rungs.CheckFiles([]rungs.File{{Path: "data/in.csv"}}))
	err := rungs.CheckFiles([]rungs.File{{Path: "../secret"}})
	fmt.Println(errs.KindOf(err), errs.Public(err))
	// Output:
	// <nil>
	// invalid file "../secret" has ".." in its path
}

func ExampleMatchArtifact() {
	for _, p := range []string{"plot.png", "out/plot.png"} {
		fmt.Println(p, rungs.MatchArtifact("*.png", p), rungs.MatchArtifact("**/*.png", p))
	}
	// Output:
	// plot.png true true
	// out/plot.png false true
}

func ExampleRegistry() {
	registry, err := rungs.NewRegistry(rungs.RegistryConfig{MaxParents: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer registry.Close()
	spec := rungs.Spec{Setup: "x = 1"}
	key := rungs.Key{Rung: "example", Spec: spec.Key()}
	for range 2 {
		lease, err := registry.Acquire(context.Background(), key, spec, "", func(context.Context) (rungs.Parent, error) {
			fmt.Println("boot") // in earnest: rung.Boot(ctx, spec)
			return newStub("example"), nil
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("fresh:", lease.Fresh()) // in earnest: lease.Parent().Fork(ctx, job)
		lease.Release()
	}
	// Output:
	// boot
	// fresh: true
	// fresh: false
}
