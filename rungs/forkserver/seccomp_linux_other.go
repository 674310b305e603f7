//go:build linux && !amd64 && !arm64

package forkserver

// There is no filter for this architecture yet; the rung says so.
const (
	auditArch = 0
	secondABI = 0
)

var refusedHere []uint32
