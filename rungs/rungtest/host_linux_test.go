package rungtest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// What the suite counts must be what there is: a counter that sees nothing
// would let every rung pass.
func TestObserveSeesWhatIsLeft(t *testing.T) {
	before := steady(t)
	if more := before.more(observe()); more != "" {
		t.Fatalf("nothing was done, and there is %s", more)
	}
	dir, err := os.MkdirTemp("", fmt.Sprintf("banyan-rungtest-%d-", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	// A grandchild, so that more than our own children is looked at.
	cmd := exec.Command("/bin/sh", "-c", "sleep 300 & echo $!; wait", "marker-of-this-test")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	more := before.more(observe())
	for _, want := range []string{"1 files more", dir, "2 processes more", "sleep", "open descriptors"} {
		if !strings.Contains(more, want) {
			t.Errorf("%q is not seen in %s", want, more)
		}
	}
	if len(alive("marker-of-this-test")) != 1 || len(alive("marker-of-nobody")) != 0 {
		t.Error("a process is not found by its marker")
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	_ = f.Close()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	settled(t, before)
}

func TestCheckNothingLeftFails(t *testing.T) {
	before := hostState{Groups: []string{"a"}, Temp: nil, Mounts: 3, Files: 5}
	for want, after := range map[string]hostState{
		"":                              {Groups: []string{"b"}, Mounts: 2, Files: 5},
		"1 control groups more than be": {Groups: []string{"a", "c"}, Mounts: 3, Files: 5},
		`new are ["/tmp/x"]`:            {Temp: []string{"/tmp/x"}},
		"2 mounts":                      {Mounts: 5},
		"1 open descriptors":            {Files: 6},
		`new are ["1 (S) sleep"]`:       {Processes: []string{"1 (S) sleep"}},
	} {
		if got := before.more(after); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%+v: %q, want %q", after, got, want)
		}
	}
}

func TestPyASCII(t *testing.T) {
	for in, want := range map[string]string{"ünï.txt": `'\xfcn\xef.txt'`, `back\slash`: `'back\\slash'`, "a b": "'a b'"} {
		if got := pyASCII(in); got != want {
			t.Errorf("pyASCII(%q) = %s, want %s", in, got, want)
		}
	}
}
