package agent_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/rungs"
)

// python returns the interpreter to test with, or skips.
func python(t *testing.T) string {
	t.Helper()
	path := os.Getenv("BANYAN_PYTHON")
	if path == "" {
		path = "/usr/bin/python3"
	}
	if _, err := exec.LookPath(path); err != nil {
		t.Skipf("no Python at %s; set BANYAN_PYTHON", path)
	}
	return path
}

// matchProgram answers with the agent's own matcher.
const matchProgram = `
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("agent", sys.argv[1])
agent = importlib.util.module_from_spec(spec)
spec.loader.exec_module(agent)
print(json.dumps([bool(agent.pattern_to_regex(p).match(x)) for p, x in json.load(sys.stdin)]))
`

// What the agent sends must be what the host lets in: the two matchers are
// one function written twice.
func TestTheAgentMatchesPatternsAsTheHostDoes(t *testing.T) {
	exe := python(t)
	random := rand.New(rand.NewPCG(1, 2))
	word := func(alphabet []string, most int) string {
		var b strings.Builder
		for range 1 + random.IntN(most) {
			b.WriteString(alphabet[random.IntN(len(alphabet))])
		}
		return b.String()
	}
	cases := [][2]string{
		{"**", "a"},
		{"**", "a/b"},
		{"a/**", "a"},
		{"a/**", "a/b/c"},
		{"**/a", "a"},
		{"**/a", "x/y/a"},
		{"a/**/b", "a/b"},
		{"[a-c]", "b"},
		{"[^a]", "b"},
		{"[^a]", "a"},
		{`[\]]`, "]"},
		{`\*`, "*"},
		{`\*`, "x"},
		{"[a[]", "["},
		{"*", "a\nb"},
		{"[x]y", "xy"},
		{"ü?", "üß"},
		{"*.png", "a/b.png"},
		{"[-a]", "-"},
		{"[^\\^]", "^"},
		{"a.b", "axb"},
		{"(a|b)", "a"},
		{"a{2}", "aa"},
		{"a+", "aa"},
	}
	for range 4000 {
		cases = append(cases, [2]string{
			word([]string{"a", "b", "*", "?", "/", "**", "[ab]", "[^a]", "[a-c]", ".", `\*`, "ü"}, 6),
			word([]string{"a", "b", "c", "/", ".", "*", "ü"}, 6),
		})
	}
	var sent [][2]string
	var want []bool
	for _, c := range cases {
		if rungs.CheckPatterns([]string{c[0]}) == nil && rungs.CheckPath(c[1]) == nil {
			sent, want = append(sent, c), append(want, rungs.MatchArtifact(c[0], c[1]))
		}
	}
	in, err := json.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-I", "-c", matchProgram, "agent.py")
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []bool
	if err := json.Unmarshal(out, &got); err != nil || len(got) != len(want) || len(want) < 1000 {
		t.Fatalf("%d answers to %d questions, %v", len(got), len(want), err)
	}
	for i, c := range sent {
		if got[i] != want[i] {
			t.Errorf("pattern %q, path %q: the agent says %v, the host %v", c[0], c[1], got[i], want[i])
		}
	}
}
