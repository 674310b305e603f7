package cgroup

import (
	"bufio"
	"os"
	"slices"
	"strconv"
	"strings"
)

// mount is one mounted hierarchy that our own group can be seen in.
type mount struct {
	version     int
	own         string       // directory of our own group, Root included
	controllers []Controller // version 1: what the hierarchy is for
}

// detect returns the hierarchies in which our own group is visible.
func detect(root string) ([]mount, error) {
	groups, err := ownGroups(root + "/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	f, err := os.Open(root + "/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var mounts []mount
	scan := bufio.NewScanner(f)
	for scan.Scan() {
		m, ok := parseMount(scan.Text(), groups)
		if !ok {
			continue
		}
		m.own = root + m.own
		if !slices.ContainsFunc(mounts, func(o mount) bool { return o.own == m.own }) {
			mounts = append(mounts, m)
		}
	}
	return mounts, scan.Err()
}

// ownGroups reads lines of the form "4:memory:/path" (version 1, several
// controllers with commas) and "0::/path" (version 2, key "").
func ownGroups(file string) (map[string]string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	groups := map[string]string{}
	for line := range strings.Lines(string(b)) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for c := range strings.SplitSeq(parts[1], ",") {
			groups[c] = parts[2]
		}
	}
	return groups, nil
}

// parseMount reads one line of mountinfo (proc_pid_mountinfo(5)):
//
//	35 31 0:32 /root /mount/point rw - cgroup cgroup rw,memory
func parseMount(line string, groups map[string]string) (mount, bool) {
	head, tail, ok := strings.Cut(line, " - ")
	before, after := strings.Fields(head), strings.Fields(tail)
	if !ok || len(before) < 6 || len(after) < 3 {
		return mount{}, false
	}
	var m mount
	var group string
	switch after[0] {
	case "cgroup2":
		m.version = 2
		group, ok = groups[""]
	case "cgroup":
		m.version = 1
		for opt := range strings.SplitSeq(after[2], ",") {
			if g, known := groups[opt]; known && opt != "" {
				m.controllers = append(m.controllers, Controller(opt))
				group = g
			}
		}
		ok = len(m.controllers) > 0
	default:
		return mount{}, false
	}
	if !ok {
		return mount{}, false
	}
	rel, ok := below(group, unescape(before[3]))
	if !ok {
		return mount{}, false
	}
	m.own = unescape(before[4]) + rel
	return m, true
}

// below returns what remains of group under the part of the hierarchy that is
// mounted. A group outside it (also one shown as "/../x") cannot be reached.
func below(group, mounted string) (string, bool) {
	if slices.Contains(strings.Split(group, "/"), "..") {
		return "", false
	}
	if mounted == "/" {
		return strings.TrimSuffix(group, "/"), true
	}
	if rest, ok := strings.CutPrefix(group, mounted); ok && (rest == "" || rest[0] == '/') {
		return strings.TrimSuffix(rest, "/"), true
	}
	return "", false
}

// unescape undoes the octal escapes of mountinfo (\040 for a space).
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+4 <= len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
