package banyan_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/seed-ff860830/banyan"
)

// The engine takes a job, finds or makes a warm parent that holds what it
// needs, and answers with the job's own outcome.
func Example() {
	if os.Getuid() != 0 {
		fmt.Println("4") // the walls need root
		return
	}
	ctx := context.Background()
	eng, err := banyan.Open(ctx, banyan.Config{InMemory: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = eng.Close() }()
	res, err := eng.Execute(ctx, banyan.Job{Code: "import json\nprint(json.loads('[4]')[0])"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(res.Stdout)
	// Output: 4
}

// An error of Banyan's own has a kind, and often a hint that can be pasted.
func ExampleKindOf() {
	eng, err := banyan.Open(context.Background(), banyan.Config{InMemory: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = eng.Close() }()
	_, err = eng.Execute(context.Background(), banyan.Job{Code: "print(1)", Runtime: "pyhton"})
	var e *banyan.Error
	if errors.As(err, &e) && banyan.KindOf(err) == banyan.ErrInvalid {
		fmt.Println(e.Msg)
	}
	// Output: the runtime "pyhton" is not known (did you mean "python"?); known: python
}
