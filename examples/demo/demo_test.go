package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestDemo runs the whole show, smaller, and looks at what it says.
func TestDemo(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("the walls of the forkserver need root")
	}
	if out, err := exec.Command("/usr/bin/python3", "-c", "import numpy, pandas, scipy").CombinedOutput(); err != nil {
		t.Skipf("/usr/bin/python3 lacks numpy, pandas or scipy: %s", out)
	}
	var out strings.Builder
	if err := demo(t.Context(), &out, options{forks: 3, cold: 1, dir: ".."}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, want := range []string{
		"1 runtime, 4 modules, 1 bundle",
		"route boot on forkserver",
		"Mean level by month",
		"every one reused the parent",
		"own uid", "narrow root", "seccomp",
		"   └─ sn_",
		"warm fork, walled",
		"forkserver by reuse",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the demo does not say %q", want)
		}
	}
	if t.Failed() {
		t.Log(out.String())
	}
}
