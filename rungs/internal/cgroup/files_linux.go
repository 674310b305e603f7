package cgroup

import (
	"errors"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func writeInt(file string, v int64) error { return write(file, strconv.FormatInt(v, 10)) }

func readInt(file string) (int64, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
}

// readKey reads one "key value" line of a flat keyed file.
func readKey(file, key string) (int64, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), " "); ok && k == key {
			return strconv.ParseInt(v, 10, 64)
		}
	}
	return 0, errors.New("no " + key + " in " + path.Base(file))
}

// readPIDs reads a cgroup.procs file. Zeros, processes outside our pid
// namespace, are left out.
func readPIDs(dir string) ([]int, error) {
	b, err := os.ReadFile(dir + "/cgroup.procs")
	if err != nil {
		return nil, err
	}
	var pids []int
	for field := range strings.FieldsSeq(string(b)) {
		if pid, err := strconv.Atoi(field); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// The calls that change the tree; a test with a fake tree has to fill and empty
// its directories, and to refuse what the kernel would refuse.
var (
	mkdir = func(dir string) error { return os.Mkdir(dir, 0o755) }
	rmdir = unix.Rmdir
	write = writeFile
)

// writeFile sets a control file. It never creates one: a file that is not
// there is a limit that cannot be set.
func writeFile(file, value string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}
