package rungtest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/rungs"
)

// streamCases are about standard input, output and error, arguments and
// environment.
var streamCases = []testCase{
	{"B15_Flood", nil, b15Flood},
	{"B15_OneGiantLine", nil, b15Line},
	{"B15_OverflowAndEndAtOnce", nil, b15Race},
	{"B16_NoInput", nil, b16},
	{"B16_InputThatIsNeverRead", nil, b16Unread},
	{"InputArgumentsEnvironment", nil, inputs},
	{"BytesThatAreNotText", nil, rawBytes},
}

func b15Flood(t *testing.T, s *suite) {
	const limit = 1 << 20
	for stream, code := range map[string]string{
		"stdout": "while True: print('x' * 1000)",
		"stderr": "import sys\nwhile True: sys.stderr.write('x' * 1000)",
	} {
		job := Job(code)
		job.Limits.OutputBytes = limit
		r := run(t, s.plain(t), job)
		wantStatus(t, r, rungs.StatusOutput)
		if r.Truncated.Stdout != (stream == "stdout") || r.Truncated.Stderr != (stream == "stderr") {
			t.Errorf("%s floods, truncated %+v", stream, r.Truncated)
		}
		if n := len(r.Stdout) + len(r.Stderr); n != limit {
			t.Errorf("%s: %d bytes kept, the limit is %d", stream, n, limit)
		}
	}
}

func b15Line(t *testing.T, s *suite) {
	job := Job("import sys\nsys.stdout.write('y' * 5_000_000)")
	job.Limits.OutputBytes = 8 << 20
	wantOutput(t, run(t, s.plain(t), job), strings.Repeat("y", 5_000_000))
	job = Job("import sys\nsys.stdout.write('y' * 5_000_000)")
	job.Limits.OutputBytes = 1 << 20
	r := run(t, s.plain(t), job)
	wantStatus(t, r, rungs.StatusOK)
	if !r.Truncated.Stdout || len(r.Stdout) != 1<<20 {
		t.Errorf("%d bytes kept, truncated %+v", len(r.Stdout), r.Truncated)
	}
}

func b15Race(t *testing.T, s *suite) {
	n := pick(200, 20)
	if !s.traits.WarmFork {
		n = pick(20, 5)
	}
	before := steady(t)
	for range n {
		job := Job("import os\nos.write(1, b'z' * 1025)")
		job.Limits.OutputBytes = 1024
		r := run(t, s.plain(t), job)
		wantStatus(t, r, rungs.StatusOK)
		if !r.Truncated.Stdout || len(r.Stdout) != 1024 {
			t.Errorf("%d bytes, truncated %v", len(r.Stdout), r.Truncated)
		}
	}
	settled(t, before)
}

func b16(t *testing.T, s *suite) {
	r := runCode(t, s.plain(t), "input()")
	wantStatus(t, r, rungs.StatusError)
	if r.ExitCode != 1 || r.Exception == nil || r.Exception.Name != "EOFError" {
		t.Error(show(r))
	}
	wantOutput(t, runCode(t, s.plain(t), "import sys\nprint(repr(sys.stdin.read()))"), "''\n")
	job := Job("import sys\nprint(sys.stdin.readlines())")
	job.Stdin = []byte("a\nb")
	wantOutput(t, run(t, s.plain(t), job), "['a\\n', 'b']\n")
}

func b16Unread(t *testing.T, s *suite) {
	before := steady(t)
	for _, code := range []string{"pass", "import os; os.close(0)", "import sys; sys.stdin.read(1)"} {
		job := Job(code)
		job.Stdin = make([]byte, 10<<20)
		wantStatus(t, run(t, s.plain(t), job), rungs.StatusOK)
	}
	settled(t, before)
}

func inputs(t *testing.T, s *suite) {
	job := Job("import os, sys\nprint(sys.argv[1:], os.environ['A'], sys.stdin.read())")
	job.Args, job.Env, job.Stdin = []string{"-x", "a b", "", "ü"}, map[string]string{"A": "1 = ü"}, []byte("in")
	wantOutput(t, run(t, s.plain(t), job), "['-x', 'a b', '', 'ü'] 1 = ü in\n")
	if got := output(t, s.plain(t), "import os, sys\nprint('A' in os.environ, sys.argv[1:])"); got != "False []\n" {
		t.Errorf("the next job sees the last one's: %q", got)
	}
	job = Job("import sys\nprint(sum(sys.stdin.buffer.read()))")
	job.Stdin = bytes.Repeat([]byte{1}, 3_000_000)
	wantOutput(t, run(t, s.plain(t), job), "3000000\n")
}

func rawBytes(t *testing.T, s *suite) {
	r := runCode(t, s.plain(t), "import os\nos.write(1, bytes(range(256)))\nos.write(2, b'\\xff\\x00')")
	wantStatus(t, r, rungs.StatusOK)
	for i := range 256 {
		if len(r.Stdout) != 256 || r.Stdout[i] != byte(i) {
			t.Fatal(show(r))
		}
	}
	if fmt.Sprintf("%x", r.Stderr) != "ff00" {
		t.Error(show(r))
	}
}
