package agent_test

import (
	"fmt"
	"strings"

	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/agent"
)

// What a job says is read until its end, and checked.
func ExampleListen() {
	var said []byte
	for _, frame := range []any{
		agent.Plain{Op: agent.OpStarted},
		map[string]any{"op": agent.OpDone, "value": map[string]string{"text/plain": "42"}},
	} {
		var err error
		if said, err = agent.AppendFrame(said, frame, agent.MaxJobFrame); err != nil {
			fmt.Println(err)
			return
		}
	}
	report, err := agent.Listen(strings.NewReader(string(said)), rungs.Job{}, agent.Signs{
		Started: func() { fmt.Println("user code begins") },
	})
	fmt.Println(report.Value["text/plain"], err)
	// Output:
	// user code begins
	// 42 <nil>
}
