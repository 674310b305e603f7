package pyhost

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/rungs"
)

// Cause says why we killed a job.
type Cause int32

// The causes. The zero value is that we did not.
const (
	CauseNone Cause = iota
	CauseTimeout
	CauseOutput
	CauseKilled
)

// Facts are what the kernel and our own timer know of a job's end.
type Facts struct {
	Status   syscall.WaitStatus
	Cause    Cause
	OOMKills int64
	CPU      time.Duration // of the job's first process and what it waited for
	CPULimit time.Duration
	Raised   bool // the job reported an uncaught exception
}

// cpuSlack is how far the kernel's accounting may lie below RLIMIT_CPU, whose
// unit is a second, when it kills.
const cpuSlack = 100 * time.Millisecond

// Decide says how a job ended. What the job reports is only asked for between
// two statuses that mean the same exit code.
func Decide(f Facts) (status rungs.Status, exitCode int, signal string) {
	if f.Status.Signaled() {
		sig := f.Status.Signal()
		return bySignal(f, sig), 128 + int(sig), unix.SignalName(sig)
	}
	exitCode = f.Status.ExitStatus()
	switch {
	case exitCode == 0:
		return rungs.StatusOK, 0, ""
	case f.OOMKills > 0:
		// A process of the job was killed for memory, and the job failed of it.
		return rungs.StatusMemory, exitCode, ""
	case f.Raised && (exitCode == 1 || exitCode == 120 || exitCode == 130):
		return rungs.StatusError, exitCode, ""
	}
	return rungs.StatusExit, exitCode, ""
}

func bySignal(f Facts, sig syscall.Signal) rungs.Status {
	switch {
	case sig == unix.SIGXCPU:
		return rungs.StatusTimeout
	case sig != unix.SIGKILL:
		return rungs.StatusSignal
	case f.Cause == CauseTimeout:
		return rungs.StatusTimeout
	case f.Cause == CauseOutput:
		return rungs.StatusOutput
	case f.Cause == CauseKilled:
		return rungs.StatusKilled
	case f.OOMKills > 0:
		return rungs.StatusMemory
	case f.CPULimit > 0 && f.CPU >= f.CPULimit-cpuSlack:
		return rungs.StatusTimeout // the hard RLIMIT_CPU
	}
	return rungs.StatusSignal
}
