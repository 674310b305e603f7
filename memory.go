package banyan

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// assumedMemory stands in where the machine's memory cannot be read.
const assumedMemory = 4 << 30

// memoryBytes returns the machine's memory in bytes, from /proc/meminfo.
func memoryBytes() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return assumedMemory
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		fields := strings.Fields(sc.Text())
		if len(fields) >= 2 && fields[0] == "MemTotal:" {
			if kb, err := strconv.ParseInt(fields[1], 10, 64); err == nil && kb > 0 {
				return kb << 10
			}
		}
	}
	return assumedMemory
}
