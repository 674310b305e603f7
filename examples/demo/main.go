// Command demo runs Banyan's main job end to end on this machine: it imports
// declarations from Turtle, lets the planner find or make a warm parent, forks
// it fifty times for a real pandas analysis, branches it, and prints the tree
// out of the graph beside what it measured.
//
//	go run ./examples/demo
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	var o options
	flag.IntVar(&o.forks, "forks", 50, "how many times the warm parent is forked")
	flag.IntVar(&o.cold, "cold", 5, "how many times a cold process runs the same analysis")
	flag.StringVar(&o.dir, "examples", "examples", "the folder with the declarations, the script and the data")
	flag.Parse()
	// A closed pipe counts too, as of "make demo | head": unheard, the signal
	// would end the process before it removes its data folder.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	defer stop()
	if err := demo(ctx, os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		stop()
		os.Exit(1)
	}
}
