package results_test

import (
	"fmt"
	"os"

	"github.com/seed-ff860830/banyan/kg/sparql/results"
	"github.com/seed-ff860830/banyan/ttl"
)

// An answer is written row by row, in the format that the client asked for.
func ExampleWriter() {
	format, ok := results.Negotiate("text/html, text/tab-separated-values;q=0.9, */*;q=0.1", results.Formats())
	if !ok {
		fmt.Println("406")
		return
	}
	w := results.NewWriter(os.Stdout, format)
	if err := w.Begin([]string{"module", "version"}); err != nil {
		fmt.Println(err)
	}
	if err := w.Row([]ttl.Term{ttl.NewIRI("https://example.org/py/numpy"), ttl.NewString("1.24.2")}); err != nil {
		fmt.Println(err)
	}
	if err := w.End(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// ?module	?version
	// <https://example.org/py/numpy>	"1.24.2"
}
