package forkserver

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	secondABI = 0
)

// refusedHere are calls that only this architecture has.
var refusedHere []uint32
