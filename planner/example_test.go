package planner_test

import (
	"fmt"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
)

// A job needs numpy and pandas. There is a warm parent with numpy, so pandas is
// added to a branch of it; wasm, cheaper, cannot load either.
func ExampleDecide() {
	graph := &naiveGraph{
		Capabilities: []naiveCapability{{ID: py("pandas")[0], Implies: py("numpy"), WarmMillis: 290}},
		Snapshots:    []naiveSnapshot{{ID: "sn_NUMPY", Rung: "forkserver", Runtime: "python", Declares: py("numpy")}},
	}
	plan, err := planner.Decide(
		planner.Facts{Language: "python", Graph: graph, Rungs: []planner.Rung{
			{
				Name: "forkserver", Rank: 15, Isolation: ontology.IsolationProcess, Languages: []string{"python"},
				ThirdParty: true, WarmFork: true, Branch: true, Reward: 0.5, ForkMillis: 0.9,
			},
			{Name: "wasm", Rank: 10, Isolation: ontology.IsolationWasm, Languages: []string{"python"}, WarmFork: true, Reward: 0.5},
		}},
		planner.Need{Runtime: "python", Capabilities: py("numpy", "pandas"), Isolation: ontology.IsolationProcess, ThirdParty: true},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Route, plan.Base, plan.Missing[0].Short(), plan.ExpectedMS)
	for _, sentence := range plan.Why {
		fmt.Println("-", sentence)
	}
	// Output:
	// branch sn_NUMPY py:pandas 291.8
	// - wasm left out: it cannot load libraries beyond the runtime's own, and the job needs some
	// - forkserver: score 15.0 = rank 15 − 10·(0.50 − 0.5)
	// - branch sn_NUMPY: it lacks only py:pandas, and none holds all
	// - expected 291.8 ms: import 290.0 + two forks of 0.9
	// - there is no fallback if forkserver fails
}

// What a program needs beyond the runtime's own modules, read from its text.
func ExampleNeedFromImports() {
	code := "import os, numpy as np\nfrom matplotlib.pyplot import plot\nprint('import pandas')\n"
	names := planner.Imports("python", code)
	runtime := kg.Runtime{Namespace: ontology.PythonNS, StandardModules: []string{"os"}}
	fmt.Println(names)
	for _, c := range planner.NeedFromImports(names, runtime, nil) {
		fmt.Println(c.Short())
	}
	// Output:
	// [os numpy matplotlib.pyplot]
	// py:numpy
	// py:matplotlib
}

// A rung fails three times: its breaker opens, and later lets one job try it.
func ExampleBreaker() {
	var breaker planner.Breaker
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for range planner.BreakerThreshold {
		var pass planner.Pass
		breaker, pass, _ = breaker.Admit(now)
		outcome := planner.OutcomeOf(errs.New(errs.RungFailed, "the agent is gone"))
		breaker = breaker.Observe(pass, outcome, now)
	}
	fmt.Println(breaker.Reason(now))
	later := now.Add(planner.BreakerBackoff)
	breaker, pass, ok := breaker.Admit(later)
	fmt.Println(ok, pass.Probe(), breaker.State(later))
	fmt.Println(breaker.Observe(pass, planner.OutcomeSuccess, later).State(later))
	// Output:
	// it failed 3 times in a row; one job tries it again in 1s
	// true true half-open
	// closed
}
