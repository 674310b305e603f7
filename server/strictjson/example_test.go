package strictjson_test

import (
	"fmt"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/server/strictjson"
)

func ExampleDecode() {
	var job banyan.Job
	err := strictjson.Decode([]byte(`{"code":"print(1)","limits":{"wall_mss":100}}`), &job, strictjson.Limits{})
	fmt.Println(err)
	// Output:
	// /limits/wall_mss: unknown member "wall_mss"; did you mean "wall_ms"?
}
