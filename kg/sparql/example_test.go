package sparql_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/kg/sparql"
)

func ExampleRun() {
	ctx := context.Background()
	store, err := kg.Open(ctx, kg.Config{InMemory: true, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	if _, err := sparql.Update(ctx, store, `INSERT DATA { <http://e/oak> <http://e/height> 30 . <http://e/fig> <http://e/height> 20 }`, sparql.Options{}); err != nil {
		fmt.Println(err)
		return
	}
	r, err := sparql.Run(ctx, store, `SELECT ?tree ?h { ?tree <http://e/height> ?h FILTER(?h > 25) }`, sparql.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for row, err := range r.Rows {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(row[0], row[1])
	}
	// Output: <http://e/oak> "30"^^<http://www.w3.org/2001/XMLSchema#integer>
}
