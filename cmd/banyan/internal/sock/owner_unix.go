//go:build unix

package sock

import (
	"io/fs"
	"syscall"
)

// ownerOf returns the user id of a file's owner.
func ownerOf(st fs.FileInfo) int {
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return -1
}
