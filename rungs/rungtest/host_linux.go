package rungtest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// hostState is what of a rung can be left on a host.
type hostState struct {
	Groups    []string // control groups of this process, bases and leaves
	Temp      []string // entries of ours in the temporary directories
	Mounts    int
	Files     int      // descriptors of this process
	Processes []string // descendants of this process
}

// observe looks at the host.
func observe() hostState {
	var s hostState
	mine := fmt.Sprintf("banyan-%d-", os.Getpid())
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir // it went away while we looked
		case d.IsDir() && strings.Contains(path, "/"+mine):
			s.Groups = append(s.Groups, path)
		case strings.Count(path, "/") > 12:
			return fs.SkipDir
		}
		return nil
	})
	for _, dir := range []string{os.TempDir(), "/dev/shm"} {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			// Those of other processes come and go as they like.
			ours := strings.HasPrefix(e.Name(), "banyan") && strings.Contains(e.Name(), fmt.Sprintf("-%d-", os.Getpid()))
			if ours || strings.HasPrefix(e.Name(), sharedMark) {
				s.Temp = append(s.Temp, filepath.Join(dir, e.Name()))
				more, _ := os.ReadDir(filepath.Join(dir, e.Name()))
				for _, m := range more {
					s.Temp = append(s.Temp, filepath.Join(dir, e.Name(), m.Name()))
				}
			}
		}
	}
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	s.Mounts = strings.Count(string(mounts), "\n")
	files, _ := os.ReadDir("/proc/self/fd")
	s.Files = len(files)
	s.Processes = descendants()
	return s
}

// more says what after has more of than before, "" if nothing. It is the counts
// that are compared: a rung may keep forks ready, and the ones that are there
// later are others.
func (before hostState) more(after hostState) string {
	var all []string
	extra := func(what string, a, b []string) {
		if len(b) <= len(a) {
			return
		}
		fresh := slices.DeleteFunc(slices.Clone(b), func(x string) bool { return slices.Contains(a, x) })
		all = append(all, fmt.Sprintf("%d %s more than before, new are %q", len(b)-len(a), what, fresh))
	}
	extra("control groups", before.Groups, after.Groups)
	extra("files", before.Temp, after.Temp)
	extra("processes", before.Processes, after.Processes)
	if after.Mounts > before.Mounts {
		all = append(all, fmt.Sprintf("%d mounts", after.Mounts-before.Mounts))
	}
	if after.Files > before.Files {
		all = append(all, fmt.Sprintf("%d open descriptors", after.Files-before.Files))
	}
	return strings.Join(all, "; ")
}

// steady observes the host when nothing changes any more: the last job's
// remains are gone, and the forks that a rung keeps ready are there.
func steady(t testing.TB) hostState {
	t.Helper()
	const same = 5 // observations in a row
	last, n := observe(), 0
	eventually(t, "the host is at rest", func() bool {
		<-time.After(20 * time.Millisecond)
		now := observe()
		if now.more(last) == "" && last.more(now) == "" {
			n++
		} else {
			n = 0
		}
		last = now
		return n >= same
	})
	return last
}

// process is one line of /proc.
type process struct {
	pid, parent int
	state       string
	command     string // arguments, separated by NUL
}

// processes lists every process of the host.
func processes() []process {
	entries, _ := os.ReadDir("/proc")
	var all []process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) < 2 {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		command, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		all = append(all, process{pid, parent, fields[0], string(command)})
	}
	return all
}

// descendants lists the processes that this one started, and theirs.
func descendants() []string {
	all := processes()
	ours := map[int]bool{os.Getpid(): true}
	var found []string
	for again := true; again; {
		again = false
		for _, p := range all {
			if ours[p.parent] && !ours[p.pid] {
				ours[p.pid], again = true, true
				state := "" // a process that runs now and sleeps later is the same
				if p.state == "Z" {
					state = " (zombie)"
				}
				found = append(found, fmt.Sprintf("%d%s %.80q", p.pid, state, p.command))
			}
		}
	}
	return found
}

// alive lists the processes that carry a marker among their arguments.
func alive(marker string) (pids []int) {
	for _, p := range processes() {
		if strings.Contains(p.command, marker) && p.state != "Z" && p.state != "X" {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// inParent reports whether a path is there as a parent's process sees it.
func inParent(pid int, path string) bool {
	_, err := os.Stat(fmt.Sprintf("/proc/%d/root%s", pid, path))
	return err == nil
}

// settling is how long what a job leaves may take to go: kernel threads clean
// up namespaces and control groups behind it.
const settling = 15 * time.Second

// CheckNothingLeft looks at the host, and once more when the test is over: what
// has come in between (control groups, work files, mounts, open descriptors,
// processes) is an error. Call it before anything is started, so that its
// clean-up is the last.
func CheckNothingLeft(t testing.TB) {
	t.Helper()
	before := steady(t)
	t.Cleanup(func() { settled(t, before) })
}

// settled waits until the host is as it was.
func settled(t testing.TB, before hostState) {
	t.Helper()
	left := before.more(observe())
	for end := time.Now().Add(settling); left != "" && time.Now().Before(end); left = before.more(observe()) {
		<-time.After(20 * time.Millisecond)
	}
	if left != "" {
		t.Errorf("left behind: %s", left)
	}
}
