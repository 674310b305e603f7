package forkserver_test

import (
	"context"
	"fmt"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/forkserver"
)

// A parent that holds numpy serves a job. It has no checked output, since it
// needs root and numpy.
func Example() {
	ctx := context.Background()
	rung, err := forkserver.New(forkserver.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rung.Close()
	if err := rung.Probe(ctx); err != nil {
		fmt.Println("not here:", err)
		return
	}
	numpy := rungs.Module{Capability: ontology.Capability(ontology.PythonNS + "numpy"), ImportName: "numpy"}
	parent, err := rung.Boot(ctx, rungs.Spec{
		Runtime: rungs.Runtime{ID: "python", Language: "python", Executable: "python3", Namespace: ontology.PythonNS},
		Modules: []rungs.Module{numpy},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer parent.Close("the example is over")
	child, err := parent.Fork(ctx, rungs.Job{ID: ontology.NewRunID(), Code: "import numpy\nnumpy.arange(10).sum()"})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := child.Wait(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Status, result.Value["text/plain"])
}
