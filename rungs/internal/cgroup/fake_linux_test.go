package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// fakeTree is a tree of plain files that behaves as far as the tests need.
type fakeTree struct {
	t      *testing.T
	root   string
	writes []string // "path value", below root
}

// newFake lays out /proc of this process with the given cgroup and mountinfo
// files, and makes directories that are created fill themselves with the
// control files of the hierarchy that they lie in.
func newFake(t *testing.T, cgroups, mountinfo string, fill func(dir string) map[string]string) *fakeTree {
	t.Helper()
	f := &fakeTree{t: t, root: t.TempDir()}
	f.put("/proc/self/cgroup", cgroups)
	f.put("/proc/self/mountinfo", mountinfo)
	f.process(os.Getpid(), 1000, "S")
	if err := os.MkdirAll(f.root+"/proc/self/ns", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("pid:[4026531836]", f.root+"/proc/self/ns/pid"); err != nil {
		t.Fatal(err)
	}
	oldMkdir, oldRmdir, oldWrite := mkdir, rmdir, write
	t.Cleanup(func() { mkdir, rmdir, write = oldMkdir, oldRmdir, oldWrite })
	mkdir = func(dir string) error {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		for name, text := range fill(strings.TrimPrefix(dir, f.root)) {
			f.put(strings.TrimPrefix(dir, f.root)+"/"+name, text)
		}
		return nil
	}
	rmdir = func(dir string) error {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return unix.ENOENT
		}
		if slices.ContainsFunc(entries, os.DirEntry.IsDir) {
			return unix.EBUSY
		}
		return os.RemoveAll(dir)
	}
	write = func(file, value string) error {
		f.writes = append(f.writes, strings.TrimPrefix(file, f.root)+" "+value)
		return writeFile(file, value)
	}
	return f
}

func (f *fakeTree) put(path, text string) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Dir(f.root+path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(f.root+path, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// process makes a process known; its name is chosen to mislead a parser.
func (f *fakeTree) process(pid int, start uint64, state string) {
	f.put(fmt.Sprintf("/proc/%d/stat", pid), fmt.Sprintf("%d (a) S 1 (b) %s 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0", pid, state, start))
}

func (f *fakeTree) wrote(suffix string) bool {
	return slices.ContainsFunc(f.writes, func(w string) bool { return strings.HasSuffix(w, suffix) })
}

// v1Files are the control files of a version 1 group.
func v1Files(dir string) map[string]string {
	files := map[string]string{"cgroup.procs": ""}
	switch {
	case strings.HasPrefix(dir, "/sys/fs/cgroup/memory"):
		files["memory.limit_in_bytes"], files["memory.memsw.limit_in_bytes"] = "", ""
		files["memory.oom_control"] = "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"
		files["memory.max_usage_in_bytes"] = "4096\n"
	case strings.HasPrefix(dir, "/sys/fs/cgroup/pids"):
		files["pids.max"] = ""
	case strings.HasPrefix(dir, "/sys/fs/cgroup/cpu"):
		files["cpu.cfs_period_us"], files["cpu.cfs_quota_us"] = "", ""
	}
	return files
}

// v2Files are the control files of a version 2 group.
func v2Files(string) map[string]string {
	return map[string]string{
		"cgroup.procs": "", "cgroup.kill": "", "cgroup.subtree_control": "", "cgroup.controllers": "memory pids\n",
		"memory.max": "", "memory.swap.max": "", "memory.oom.group": "", "memory.peak": "8192\n",
		"memory.events": "low 0\noom 1\noom_kill 2\n", "pids.max": "", "cpu.stat": "usage_usec 1500\nuser_usec 1\n",
	}
}

const v1Mounts = `31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:1 master:2 - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
`

const v1Groups = "9:name=systemd:/u\n8:pids:/\n4:memory:/svc/a\n1:cpu,cpuacct:/\n0::/\n"

const v2Mounts = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
