package pyhost_test

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/agent"
	"github.com/seed-ff860830/banyan/rungs/internal/pyhost"
)

func exited(code int) syscall.WaitStatus           { return syscall.WaitStatus(code << 8) }
func killedBy(s syscall.Signal) syscall.WaitStatus { return syscall.WaitStatus(s) }

func TestB11_Decide(t *testing.T) {
	for name, tt := range map[string]struct {
		facts  pyhost.Facts
		status rungs.Status
		code   int
		signal string
	}{
		"ok":                     {pyhost.Facts{Status: exited(0)}, rungs.StatusOK, 0, ""},
		"ok although raised":     {pyhost.Facts{Status: exited(0), Raised: true}, rungs.StatusOK, 0, ""},
		"ok after a helper died": {pyhost.Facts{Status: exited(0), OOMKills: 1}, rungs.StatusOK, 0, ""},
		"exit":                   {pyhost.Facts{Status: exited(3)}, rungs.StatusExit, 3, ""},
		"exit 1 by sys.exit":     {pyhost.Facts{Status: exited(1)}, rungs.StatusExit, 1, ""},
		"exception":              {pyhost.Facts{Status: exited(1), Raised: true}, rungs.StatusError, 1, ""},
		"claims an exception":    {pyhost.Facts{Status: exited(5), Raised: true}, rungs.StatusExit, 5, ""},
		"helper out of memory":   {pyhost.Facts{Status: exited(1), Raised: true, OOMKills: 1}, rungs.StatusMemory, 1, ""},
		"memory":                 {pyhost.Facts{Status: killedBy(9), OOMKills: 1}, rungs.StatusMemory, 137, "SIGKILL"},
		"plain kill":             {pyhost.Facts{Status: killedBy(9)}, rungs.StatusSignal, 137, "SIGKILL"},
		"timeout":                {pyhost.Facts{Status: killedBy(9), Cause: pyhost.CauseTimeout}, rungs.StatusTimeout, 137, "SIGKILL"},
		"output":                 {pyhost.Facts{Status: killedBy(9), Cause: pyhost.CauseOutput}, rungs.StatusOutput, 137, "SIGKILL"},
		"killed":                 {pyhost.Facts{Status: killedBy(9), Cause: pyhost.CauseKilled}, rungs.StatusKilled, 137, "SIGKILL"},
		"own signal":             {pyhost.Facts{Status: killedBy(11), Cause: pyhost.CauseTimeout}, rungs.StatusSignal, 139, "SIGSEGV"},
		"soft cpu limit":         {pyhost.Facts{Status: killedBy(24)}, rungs.StatusTimeout, 152, "SIGXCPU"},
		"hard cpu limit":         {pyhost.Facts{Status: killedBy(9), CPU: 1990 * time.Millisecond, CPULimit: 2 * time.Second}, rungs.StatusTimeout, 137, "SIGKILL"},
		"below the cpu limit":    {pyhost.Facts{Status: killedBy(9), CPU: time.Second, CPULimit: 2 * time.Second}, rungs.StatusSignal, 137, "SIGKILL"},
	} {
		status, code, signal := pyhost.Decide(tt.facts)
		if status != tt.status || code != tt.code || signal != tt.signal {
			t.Errorf("%s: %s, %d, %q; want %s, %d, %q", name, status, code, signal, tt.status, tt.code, tt.signal)
		}
	}
}

func TestSourceFileIsSealedAndReadFromItsBeginning(t *testing.T) {
	f, err := pyhost.SourceFile()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("x"), 0); err == nil {
		t.Error("the source can be changed")
	}
	for range 2 {
		cmd := exec.Command("/bin/sh", "-c", "cat /dev/fd/3 | wc -c")
		cmd.ExtraFiles = []*os.File{f}
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		var n int
		for _, c := range out {
			if c >= '0' && c <= '9' {
				n = 10*n + int(c-'0')
			}
		}
		if n != len(agent.Source) {
			t.Errorf("%d bytes of %d", n, len(agent.Source))
		}
	}
}

func TestStarterEndsWhatItStarted(t *testing.T) {
	// Again and again, as the starter's goroutine may land on any thread, the
	// process's first one included.
	for range 50 {
		starterEndsWhatItStarted(t)
	}
}

func TestStarterRefusesAfterClose(t *testing.T) {
	s := pyhost.NewStarter()
	s.Close()
	s.Close()
	if _, err := s.Start("/bin/true", []string{"true"}, &os.ProcAttr{}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("start: %v", err)
	}
}

func starterEndsWhatItStarted(t *testing.T) {
	t.Helper()
	s := pyhost.NewStarter()
	p, err := s.Start("/bin/sleep", []string{"sleep", "300"}, &os.ProcAttr{
		Files: []*os.File{nil, nil, nil}, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Start("/nothing", nil, &os.ProcAttr{}); err == nil {
		t.Error("a program that is not there was started")
	}
	s.Close()
	s.Close()
	state, err := p.Wait()
	if err != nil || state.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("%v, %v", state, err)
	}
}
