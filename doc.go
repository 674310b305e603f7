// Package banyan is the engine: the graph-backed control plane for warm-fork
// sandboxes, usable as a Go library.
//
//	eng, err := banyan.Open(ctx, banyan.Config{Dir: dir})
//	if err != nil { … }
//	defer eng.Close()
//	res, err := eng.Execute(ctx, banyan.Job{Code: "import numpy; print(numpy.arange(3))"})
//
// A Job goes in; the planner asks the graph for a snapshot that already holds
// what the job needs, or for the best one to branch; a rung forks it; a Result
// comes out. What the job does to itself is in the Result; an error is
// Banyan's own failure, an *errs.Error with a kind.
package banyan
