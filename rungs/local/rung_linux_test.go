package local

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/internal/owner"
	"github.com/seed-ff860830/banyan/rungs/rungtest"
)

func open(t testing.TB, cfg Config) *Rung {
	t.Helper()
	cfg.Python = rungtest.Python(t)
	cfg.Logger = slog.New(slog.DiscardHandler)
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func boot(t testing.TB, r *Rung, setup string) rungs.Parent {
	t.Helper()
	spec := rungtest.Spec(t)
	spec.Setup = setup
	p, err := r.Boot(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func run(t testing.TB, p rungs.Parent, job rungs.Job) *rungs.Result {
	t.Helper()
	c, err := p.Fork(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// withoutGroups is a root in which /proc knows this process and no control
// groups are mounted.
func withoutGroups(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	own := fmt.Sprintf("%s/proc/%d", root, os.Getpid())
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Fatal(err)
	}
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.MkdirAll(own, 0o755), os.WriteFile(own+"/stat", stat, 0o600),
		os.MkdirAll(root+"/proc/self/ns", 0o755), os.Symlink(ns, root+"/proc/self/ns/pid"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestB23_WithoutControlGroupsTheResultSaysSo(t *testing.T) {
	p := boot(t, open(t, Config{CgroupRoot: withoutGroups(t), Dir: t.TempDir()}), "")
	job := rungtest.Job("import numpy" + "\nprint(1)")
	rungtest.RequireModule(t, "numpy")
	r := run(t, p, job)
	if r.Status != rungs.StatusOK {
		t.Errorf("numpy does not load under the limit of address space: %s %s", r.Status, r.Stderr)
	}
	e := r.Enforced
	if e.Memory != "rlimit" || e.PIDs != "" || e.UID || len(e.Namespaces) != 0 {
		t.Errorf("enforced %+v", e)
	}
	for _, want := range []string{"isolation:", "memory:", "processes:", "files:", "pids"} {
		if !slices.ContainsFunc(e.Missing, func(m string) bool { return strings.Contains(m, want) }) {
			t.Errorf("%q is not named among %q", want, e.Missing)
		}
	}
	hog := rungtest.Job("x = bytearray(3 << 30)")
	hog.Limits.MemoryBytes = 64 << 20
	if r := run(t, p, hog); r.Status != rungs.StatusError || r.Exception.Name != "MemoryError" {
		t.Errorf("a hog: %s, %+v", r.Status, r.Exception)
	}
}

func TestB19_WithoutControlGroupsASurvivorDoesNotHoldTheResult(t *testing.T) {
	p := boot(t, open(t, Config{CgroupRoot: withoutGroups(t), Dir: t.TempDir()}), "")
	r := run(t, p, rungtest.Job(`
import os, time
r, w = os.pipe()
if os.fork() == 0:
    os.setsid()
    os.write(w, str(os.getpid()).encode())
    time.sleep(120)
    os._exit(0)
print(os.read(r, 20).decode())
`))
	pid, err := strconv.Atoi(strings.TrimSpace(string(r.Stdout)))
	if err != nil || r.Status != rungs.StatusOK {
		t.Fatalf("%s: %q, %s", r.Status, r.Stdout, r.Stderr)
	}
	survivor, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	_ = survivor.Kill() // it may be gone
	if !slices.ContainsFunc(r.Enforced.Missing, func(m string) bool { return strings.Contains(m, "setsid") }) {
		t.Errorf("missing %q", r.Enforced.Missing)
	}
}

func TestMaxJobs(t *testing.T) {
	p := boot(t, open(t, Config{MaxJobs: 1}), "")
	c, err := p.Fork(t.Context(), rungtest.Job("import time; time.sleep(600)"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Fork(t.Context(), rungtest.Job("pass")); errs.KindOf(err) != errs.Exhausted || errs.HintOf(err) == "" {
		t.Errorf("a second job: %v", err)
	}
	c.Kill("the test is over")
	if _, err := c.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := run(t, p, rungtest.Job("pass")); r.Status != rungs.StatusOK {
		t.Errorf("the place is not free again: %s", r.Status)
	}
}

func TestSetUpThatFailsOnlyLater(t *testing.T) {
	flag := filepath.Join(t.TempDir(), "flag")
	p := boot(t, open(t, Config{}), fmt.Sprintf("import os\nif os.path.exists(%q): raise ValueError('second time')\nopen(%q, 'w')", flag, flag))
	_, err := p.Fork(t.Context(), rungtest.Job("print(1)"))
	if errs.KindOf(err) != errs.RungFailed || !strings.Contains(err.Error(), "second time") {
		t.Errorf("error %v", err)
	}
}

func TestInterpreterThatIsNone(t *testing.T) {
	r := open(t, Config{})
	for _, exe := range []string{"/bin/true", "/bin/false", "/bin/cat"} {
		spec := rungtest.Spec(t)
		spec.Runtime.Executable = exe
		if p, err := r.Boot(t.Context(), spec); errs.KindOf(err) != errs.RungFailed {
			t.Errorf("%s: %v, %v", exe, p, err)
		}
	}
}

func TestInterpreterThatHangs(t *testing.T) {
	rungtest.CheckNothingLeft(t)
	spec := rungtest.Spec(t)
	spec.Runtime.Executable, spec.Runtime.Args = "/bin/sh", []string{"-c", "sleep 600"}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := open(t, Config{}).Boot(ctx, spec); errs.KindOf(err) != errs.Timeout {
		t.Errorf("error %v", err)
	}
}

func TestProbeAndClosedRung(t *testing.T) {
	none, err := New(Config{Python: "/nonexistent/python"})
	if err != nil {
		t.Fatal(err)
	}
	if err := none.Probe(t.Context()); errs.KindOf(err) != errs.Unavailable || errs.HintOf(err) == "" {
		t.Errorf("without an interpreter: %v", err)
	}
	if err := none.Close(); err != nil {
		t.Error(err)
	}
	r := open(t, Config{Dir: "/proc/nowhere"})
	if err := r.Probe(t.Context()); errs.KindOf(err) != errs.Unavailable || strings.Contains(errs.Public(err), "nowhere") {
		t.Errorf("without a work directory: %v", err)
	}
	r = open(t, Config{})
	p := boot(t, r, "")
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	<-p.Done()
	if err := r.Probe(t.Context()); errs.KindOf(err) != errs.Conflict {
		t.Errorf("probe of a closed rung: %v", err)
	}
	if _, err := r.Boot(t.Context(), rungtest.Spec(t)); errs.KindOf(err) != errs.Conflict {
		t.Errorf("boot on a closed rung: %v", err)
	}
	for _, bad := range []Config{{StartTimeout: -1}, {BootTimeout: -1}, {MaxJobs: -1}} {
		if _, err := New(bad); errs.KindOf(err) != errs.Invalid {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// deadOwner returns an owner of this namespace that has ended.
func deadOwner(t *testing.T, me owner.Owner) owner.Owner {
	t.Helper()
	cmd := exec.Command("/bin/true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return owner.Owner{PID: cmd.Process.Pid, Start: 1, NS: me.NS}
}

func TestB31_SweepTakesOnlyWhatADeadDaemonLeft(t *testing.T) {
	me, err := owner.Self("")
	if err != nil {
		t.Fatal(err)
	}
	dir, sentinel := t.TempDir(), t.TempDir()
	dead := deadOwner(t, me)
	path := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	left := path(dead.Name(prefix))
	must(os.MkdirAll(left+"/job-1/work/a/b", 0o755))
	must(os.WriteFile(sentinel+"/x", []byte("x"), 0o600))
	must(os.Symlink(sentinel, left+"/job-1/work/a/link"))
	must(os.Chmod(left+"/job-1/work/a/b", 0))
	must(os.Chmod(left+"/job-1/work/a", 0))
	stay := []string{path(me.Name(prefix)), path("banyan-local-x"), path("banyan-local"), path("x" + dead.Name(prefix)), path(dead.Name("banyan"))}
	for _, d := range stay {
		must(os.Mkdir(d, 0o755))
	}
	link, file := path(dead.Name(prefix)), path(dead.Name(prefix))
	must(os.Symlink(sentinel, link))
	must(os.WriteFile(file, nil, 0o600))
	stay = append(stay, link, file, sentinel+"/x")
	if os.Geteuid() == 0 {
		foreign := path(dead.Name(prefix))
		must(os.Mkdir(foreign, 0o755))
		must(os.Chown(foreign, 12345, 12345))
		stay = append(stay, foreign)
	}
	r := open(t, Config{Dir: dir})
	if err := r.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(left); err == nil {
		t.Error("what a dead daemon left is still there")
	}
	for _, p := range stay {
		if _, err := os.Lstat(p); err != nil {
			t.Errorf("swept what is none of ours: %v", err)
		}
	}
}

// daemonDir is the variable that makes this test binary a daemon that hangs.
const daemonDir = "BANYAN_TEST_LOCAL_DAEMON"

// TestDaemonForTheKill is the daemon that TestB24_AKilledDaemonIsSweptAfter
// kills; by itself it does nothing.
func TestDaemonForTheKill(t *testing.T) {
	dir := os.Getenv(daemonDir)
	if dir == "" {
		t.Skip("it is started by another test")
	}
	p := boot(t, open(t, Config{Dir: dir}), "")
	c, err := p.Fork(t.Context(), rungtest.Job(`
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print('GRANDCHILD', flush=True)
        time.sleep(600)
    os._exit(0)
time.sleep(600)
`))
	if err != nil {
		t.Fatal(err)
	}
	for len(c.(*child).stdio.Stdout.Bytes()) == 0 {
		<-time.After(time.Millisecond)
	}
	fmt.Println("READY")
	_, _ = c.Wait(t.Context()) // until it is killed
}

func TestB24_AKilledDaemonIsSweptAfter(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: only a control group finds what called setsid")
	}
	rungtest.CheckNothingLeft(t)
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestDaemonForTheKill$", "-test.v")
	cmd.Env = append(os.Environ(), daemonDir+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := false
	lines := bufio.NewScanner(out)
	for !ready && lines.Scan() {
		ready = strings.Contains(lines.Text(), "READY")
	}
	if !ready {
		_ = cmd.Wait()
		t.Fatal("the daemon did not come up")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // ends when the job's processes do
	_ = cmd.Wait()
	groups := func() (left []string) {
		for _, pattern := range []string{"/sys/fs/cgroup/*/", "/sys/fs/cgroup/*/*/", "/sys/fs/cgroup/*/*/*/"} {
			found, _ := filepath.Glob(pattern + fmt.Sprintf("banyan-%d-*", cmd.Process.Pid))
			left = append(left, found...)
		}
		return left
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Fatalf("the killed daemon left %d directories; the test needs one", len(entries))
	}
	r := open(t, Config{Dir: dir})
	if err := r.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || !strings.Contains(entries[0].Name(), fmt.Sprint("-", os.Getpid(), "-")) {
		t.Errorf("%v, %v; want just the new daemon's", entries, err)
	}
	if left := groups(); len(left) != 0 {
		t.Errorf("control groups %q are left", left)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
