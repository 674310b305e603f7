package forkserver

import (
	"syscall"
	"time"

	"github.com/seed-ff860830/banyan/rungs"
	"golang.org/x/sys/unix"
)

// cause says why we killed a job; causeNone is that we did not.
type cause int32

const (
	causeNone cause = iota
	causeTimeout
	causeOutput
	causeKilled
)

// facts are what the kernel and our own timer know of a job's end.
type facts struct {
	status   syscall.WaitStatus
	cause    cause
	oomKills int64
	cpu      time.Duration // of the job's first process and what it waited for
	cpuLimit time.Duration
	raised   bool // the job reported an uncaught exception
}

// cpuSlack is how far the kernel's accounting may lie below RLIMIT_CPU, whose
// unit is a second, when it kills.
const cpuSlack = 100 * time.Millisecond

// decide says how a job ended. What the job reports is only asked for between
// two statuses that mean the same exit code.
func decide(f facts) (status rungs.Status, exitCode int, signal string) {
	if f.status.Signaled() {
		sig := f.status.Signal()
		exitCode, signal = 128+int(sig), unix.SignalName(sig)
		switch {
		case sig == unix.SIGXCPU:
			return rungs.StatusTimeout, exitCode, signal
		case sig != unix.SIGKILL:
			return rungs.StatusSignal, exitCode, signal
		case f.cause == causeTimeout:
			return rungs.StatusTimeout, exitCode, signal
		case f.cause == causeOutput:
			return rungs.StatusOutput, exitCode, signal
		case f.cause == causeKilled:
			return rungs.StatusKilled, exitCode, signal
		case f.oomKills > 0:
			return rungs.StatusMemory, exitCode, signal
		case f.cpuLimit > 0 && f.cpu >= f.cpuLimit-cpuSlack:
			return rungs.StatusTimeout, exitCode, signal
		}
		return rungs.StatusSignal, exitCode, signal
	}
	exitCode = f.status.ExitStatus()
	switch {
	case exitCode == 0:
		return rungs.StatusOK, 0, ""
	case f.oomKills > 0:
		// A process of the job was killed for memory and the job failed of it.
		return rungs.StatusMemory, exitCode, ""
	case f.raised && (exitCode == 1 || exitCode == 120 || exitCode == 130):
		return rungs.StatusError, exitCode, ""
	}
	return rungs.StatusExit, exitCode, ""
}
