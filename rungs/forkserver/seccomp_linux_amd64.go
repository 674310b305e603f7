package forkserver

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	// secondABI is where the numbers of the x32 calls begin, which would go
	// round every test of a number.
	secondABI = 0x40000000
)

// refusedHere are calls that only this architecture has.
var refusedHere = []uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS}
