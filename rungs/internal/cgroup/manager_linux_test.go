package cgroup

import (
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/internal/errs"
)

func open(t *testing.T, cfg Config) *Manager {
	t.Helper()
	m, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return m
}

// entries are the names of the bases below a directory.
func bases(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "banyan-") {
			names = append(names, e.Name())
		}
	}
	return names
}

// mkdirs makes the directories of our own groups in a fake version 1 tree.
func (f *fakeTree) mkdirs(dirs ...string) {
	for _, d := range dirs {
		for name, text := range v1Files(d) {
			f.put(d+"/"+name, text)
		}
	}
}

func TestVersion1LimitsInOrder(t *testing.T) {
	f := newFake(t, v1Groups, v1Mounts, v1Files)
	f.mkdirs("/sys/fs/cgroup/memory/svc/a", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/cpu,cpuacct")
	m := open(t, Config{Root: f.root, Want: []Controller{CPU}})
	want := Report{Memory: "cgroup-v1", PIDs: "cgroup-v1", CPU: "cgroup-v1"}
	if diff := cmp.Diff(want, m.Report()); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	f.writes = nil
	l, err := m.NewLeaf("ex_1", Limits{MemoryBytes: 64 << 20, PIDs: 7, CPUs: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range f.writes {
		got = append(got, w[strings.LastIndexByte(w, '/')+1:])
	}
	wantWrites := []string{
		"cpu.cfs_period_us 100000", "cpu.cfs_quota_us 50000",
		"memory.limit_in_bytes 67108864", "memory.memsw.limit_in_bytes 67108864", "pids.max 7",
	}
	if diff := cmp.Diff(wantWrites, got); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	u, err := l.Usage()
	if err != nil || u.OOMKills != 3 || u.PeakBytes != 4096 || u.HasCPU {
		t.Errorf("usage %+v, %v", u, err)
	}
	if len(l.Procs()) != 3 {
		t.Errorf("%d procs files, want one a hierarchy", len(l.Procs()))
	}
	if err := l.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if left := bases(t, f.root+"/sys/fs/cgroup/memory/svc/a"); left != nil {
		t.Errorf("left: %v", left)
	}
	if _, err := m.NewLeaf("ex_2", Limits{}); errs.KindOf(err) != errs.Conflict {
		t.Errorf("a leaf after Close: %v", err)
	}
}

func TestVersion1RaisingALimit(t *testing.T) {
	f := newFake(t, v1Groups, v1Mounts, v1Files)
	f.mkdirs("/sys/fs/cgroup/memory/svc/a", "/sys/fs/cgroup/pids")
	m := open(t, Config{Root: f.root})
	l, err := m.NewLeaf("x", Limits{MemoryBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	// As the kernel: memory alone may not exceed memory and swap together.
	plain := write
	write = func(file, value string) error {
		if path.Base(file) == "memory.limit_in_bytes" {
			most, _ := readInt(strings.Replace(file, "memory.limit", "memory.memsw.limit", 1))
			if v, _ := strconv.ParseInt(value, 10, 64); v > most {
				return unix.EINVAL
			}
		}
		return plain(file, value)
	}
	if err := l.SetLimits(Limits{MemoryBytes: 1 << 21}); err != nil {
		t.Fatal(err)
	}
	if n, _ := readInt(l.dirs[0].path + "/memory.limit_in_bytes"); n != 1<<21 {
		t.Errorf("limit %d", n)
	}
	if err := l.Remove(t.Context()); err != nil {
		t.Error(err)
	}
}

// fakeV2 is a version 2 tree whose own group is a service's.
func fakeV2(t *testing.T, controllers, procs string) (*fakeTree, string) {
	f := newFake(t, "0::/svc\n", v2Mounts, v2Files)
	own := "/sys/fs/cgroup/svc"
	for name, text := range v2Files(own) {
		f.put(own+"/"+name, text)
	}
	f.put(own+"/cgroup.controllers", controllers)
	f.put(own+"/cgroup.procs", procs)
	return f, own
}

func TestVersion2DelegatesOneControllerAWrite(t *testing.T) {
	f, own := fakeV2(t, "cpu memory pids\n", "")
	m := open(t, Config{Root: f.root})
	if r := m.Report(); r.Memory != "cgroup-v2" || r.PIDs != "cgroup-v2" || !r.Kill || r.Missing != nil {
		t.Errorf("report %+v", r)
	}
	for _, c := range []string{"+memory", "+pids"} {
		if !f.wrote(own + "/cgroup.subtree_control " + c) {
			t.Errorf("no write of %s alone; %q", c, f.writes)
		}
	}
	f.writes = nil
	l, err := m.NewLeaf("x", Limits{MemoryBytes: 1 << 26, PIDs: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{"/x/memory.max 67108864", "/x/memory.swap.max 0", "/x/memory.oom.group 1", "/x/pids.max 5"} {
		if !f.wrote(w) {
			t.Errorf("no write %q in %q", w, f.writes)
		}
	}
	if u, err := l.Usage(); err != nil || u.OOMKills != 2 || u.PeakBytes != 8192 || !u.HasCPU || u.CPU.Microseconds() != 1500 {
		t.Errorf("usage %+v, %v", u, err)
	}
	if d, ok := l.Dir(); !ok {
		t.Error("no directory for CLONE_INTO_CGROUP")
	} else {
		_ = d.Close()
	}
	if err := l.Remove(t.Context()); err != nil {
		t.Error(err)
	}
}

// busyWhile makes subtree_control of own refuse while own holds processes, and
// a write to any cgroup.procs move them.
func busyWhile(f *fakeTree, own string, others bool) {
	plain := write
	write = func(file, value string) error {
		file = strings.TrimPrefix(file, f.root)
		switch {
		case file == own+"/cgroup.subtree_control":
			if b, _ := os.ReadFile(f.root + own + "/cgroup.procs"); len(b) > 0 {
				return unix.EBUSY
			}
		case path.Base(file) == "cgroup.procs" && file != own+"/cgroup.procs":
			rest := ""
			if others {
				rest = "4711\n"
			}
			f.put(own+"/cgroup.procs", rest)
		}
		return plain(f.root+file, value)
	}
}

func TestVersion2MovesTheDaemonIntoALeaf(t *testing.T) {
	f, own := fakeV2(t, "memory pids\n", strconv.Itoa(os.Getpid())+"\n")
	busyWhile(f, own, false)
	m := open(t, Config{Root: f.root})
	if r := m.Report(); r.Memory != "cgroup-v2" || r.PIDs != "cgroup-v2" {
		t.Errorf("report %+v", r)
	}
	base := own + "/" + bases(t, f.root+own)[0]
	if !f.wrote(base + "/daemon/cgroup.procs " + strconv.Itoa(os.Getpid())) {
		t.Errorf("the daemon was not moved: %q", f.writes)
	}
}

func TestB23_OthersInTheDaemonsGroupAreNamed(t *testing.T) {
	f, own := fakeV2(t, "memory pids\n", strconv.Itoa(os.Getpid())+"\n4711\n")
	busyWhile(f, own, true)
	_, err := Open(Config{Root: f.root})
	if errs.KindOf(err) != errs.Unavailable || !strings.Contains(errs.Public(err), "other processes share") {
		t.Errorf("error %v", err)
	}
}

func TestB23_MissingControllerIsNamedTheRestIsEnforced(t *testing.T) {
	f, _ := fakeV2(t, "memory pids\n", "")
	m := open(t, Config{Root: f.root, Want: []Controller{CPU}})
	r := m.Report()
	if r.Memory == "" || r.PIDs == "" || r.CPU != "" || len(r.Missing) != 1 || !strings.Contains(r.Missing[0], "cpu controller is not available") {
		t.Errorf("report %+v", r)
	}
	if _, err := Open(Config{Root: f.root, Require: []Controller{CPU}}); errs.KindOf(err) != errs.Unavailable || errs.HintOf(err) == "" {
		t.Errorf("a required controller that is missing: %v", err)
	}
}

func TestB23_PlainDirectoryIsNoLimit(t *testing.T) {
	plain := func(string) map[string]string { return nil }
	f := newFake(t, v1Groups, v1Mounts, plain)
	for _, d := range []string{"/sys/fs/cgroup/memory/svc/a", "/sys/fs/cgroup/pids"} {
		if err := os.MkdirAll(f.root+d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Open(Config{Root: f.root})
	if errs.KindOf(err) != errs.Unavailable || !strings.Contains(errs.Public(err), "memory") || strings.Contains(errs.Public(err), f.root) {
		t.Errorf("error %v", err)
	}
	m := open(t, Config{Root: f.root, Degraded: true})
	if r := m.Report(); r.Memory != "" || r.PIDs != "" || len(r.Missing) != 2 {
		t.Errorf("degraded report %+v", r)
	}
	l, err := m.NewLeaf("x", Limits{MemoryBytes: 1, PIDs: 1})
	if err != nil {
		t.Fatalf("degraded leaf: %v", err)
	}
	if err := l.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	if left := bases(t, f.root+"/sys/fs/cgroup/pids"); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestB23_NoControlGroupsAtAll(t *testing.T) {
	f := newFake(t, "", "", v1Files)
	if _, err := Open(Config{Root: f.root}); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("error %v", err)
	}
	if _, err := Open(Config{Root: f.root + "/nothing"}); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("without /proc: %v", err)
	}
}

func TestNewLeafRefusesNamesThatAreNot(t *testing.T) {
	f, _ := fakeV2(t, "memory pids\n", "")
	m := open(t, Config{Root: f.root})
	for _, name := range []string{"", ".", "..", "a/b", "-x", "daemon", strings.Repeat("x", 65), "a\n"} {
		if l, err := m.NewLeaf(name, Limits{}); err == nil {
			t.Errorf("leaf %q was made", name)
			_ = l.Remove(t.Context())
		}
	}
}

func TestNewLeafLeavesNothingWhenItFails(t *testing.T) {
	f := newFake(t, v1Groups, v1Mounts, v1Files)
	f.mkdirs("/sys/fs/cgroup/memory/svc/a", "/sys/fs/cgroup/pids")
	m := open(t, Config{Root: f.root})
	plain := write
	write = func(file, value string) error {
		if path.Base(file) == "pids.max" {
			return unix.EIO
		}
		return plain(file, value)
	}
	if _, err := m.NewLeaf("x", Limits{MemoryBytes: 1 << 26, PIDs: 3}); errs.KindOf(err) != errs.RungFailed {
		t.Errorf("error %v", err)
	}
	for _, h := range m.trees {
		if exists(h.base + "/x") {
			t.Errorf("%s is left", h.base)
		}
	}
}

func TestB31_SweepTakesOnlyWhatIsCertainlyOrphaned(t *testing.T) {
	f := newFake(t, v1Groups, v1Mounts, v1Files)
	own := "/sys/fs/cgroup/pids"
	f.mkdirs("/sys/fs/cgroup/memory/svc/a", own)
	f.process(100, 555, "S")
	f.process(101, 555, "Z")
	const ns = "4026531836"
	gone := []string{
		"banyan-99-555-" + ns + "-1",  // no such process
		"banyan-100-554-" + ns + "-1", // its pid is another's now
		"banyan-101-555-" + ns + "-1", // a zombie
	}
	stay := []string{
		"banyan-100-555-" + ns + "-7", // alive
		"banyan-99-555-4026531999-1",  // of another pid namespace
		"banyan-99-555", "xbanyan-99-555-" + ns + "-1", "banyan-99-555-" + ns + "-1.bak", "other",
	}
	for _, name := range slices.Concat(gone, stay) {
		f.mkdirs(own + "/" + name)
		f.mkdirs(own + "/" + name + "/ex_1")
	}
	f.put(own+"/banyan-98-555-"+ns+"-1", "a file")
	m := open(t, Config{Root: f.root})
	removed, err := m.Sweep(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(removed)
	slices.Sort(gone)
	if diff := cmp.Diff(gone, removed); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	for _, name := range append(stay, "banyan-98-555-"+ns+"-1", path.Base(m.trees[0].base)) {
		if !exists(f.root + own + "/" + name) {
			t.Errorf("%s was removed", name)
		}
	}
}
