package forkserver

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/rungs"
)

// Every attempt prints its name and how it ended. Nothing may end well.
const attempts = `
import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)

def attempt(name, action):
    try:
        action()
    except OSError as e:
        print(name, errno.errorcode.get(e.errno, e.errno))
    except Exception as e:
        print(name, type(e).__name__)
    else:
        print(name, "WORKED")

def call(name, *args):
    def action():
        if getattr(libc, name)(*args) < 0:
            raise OSError(ctypes.get_errno(), name)
    return action

def syscall(number, *args):
    return call("syscall", number, *args)
`

// tryAll runs lines of attempts and fails for each that worked or is missing.
func tryAll(t *testing.T, p rungs.Parent, names []string, code string) *rungs.Result {
	t.Helper()
	res := run(t, p, attempts+code)
	if res.Status != rungs.StatusOK {
		t.Fatalf("status %s (%d), stdout %s, stderr %s", res.Status, res.ExitCode, res.Stdout, res.Stderr)
	}
	out := string(res.Stdout)
	for _, name := range names {
		if !strings.Contains("\n"+out, "\n"+name+" ") {
			t.Errorf("attempt %q was not made", name)
		}
	}
	for line := range strings.Lines(out) {
		if strings.Contains(line, "WORKED") {
			t.Errorf("a job got away with: %s", line)
		}
	}
	return res
}

func TestEscapesFail(t *testing.T) {
	p := boot(t, newRung(t), specOf(""))
	self := os.Getpid()
	tryAll(t, p,
		[]string{"shadow", "home", "root", "agent-fd", "daemon-mem", "write-usr", "write-root", "setuid", "mount", "unshare-user", "ptrace", "net", "vsock", "kill-all", "sysctl", "remount", "chroot", "mknod", "keyctl", "bpf", "reboot", "setns", "raise-limit", "proc-mem", "suid"},
		fmt.Sprintf(`
attempt("shadow", lambda: open("/etc/shadow").read())
attempt("home", lambda: os.listdir("/home"))
attempt("root", lambda: os.listdir("/root/.ssh"))
attempt("var", lambda: os.listdir("/var"))
attempt("agent-fd", lambda: os.fstat(4))
attempt("daemon-mem", lambda: open("/proc/%[1]d/mem"))
attempt("daemon-environ", lambda: open("/proc/%[1]d/environ"))
attempt("proc-mem", lambda: open("/proc/self/mem", "r+b"))
attempt("write-usr", lambda: open("/usr/x", "w"))
attempt("write-root", lambda: open("/x", "w"))
attempt("write-etc", lambda: open("/etc/passwd", "w"))
attempt("setuid", lambda: os.setuid(0))
attempt("setgid", lambda: os.setgid(0))
attempt("setgroups", lambda: os.setgroups([0]))
attempt("mount", call("mount", b"none", b"/tmp", b"tmpfs", 0, None))
attempt("umount", call("umount2", b"/proc", 2))
attempt("remount", call("mount", None, b"/", None, 32 | 4096, None))
attempt("unshare-user", call("unshare", 0x10000000))
attempt("unshare-mnt", call("unshare", 0x20000))
attempt("setns", lambda: call("setns", os.open("/proc/self/ns/net", 0), 0)())
attempt("chroot", lambda: os.chroot("/usr"))
attempt("mknod", lambda: os.mknod("/tmp/mem", 0o20666, os.makedev(1, 1)))
attempt("ptrace", call("ptrace", 16, 1, 0, 0))
attempt("net", lambda: socket.create_connection(("127.0.0.1", 22), 2))
attempt("net-out", lambda: socket.create_connection(("192.0.2.1", 80), 2))
attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
attempt("vsock", lambda: socket.socket(40, socket.SOCK_STREAM))
attempt("alg", lambda: socket.socket(38, socket.SOCK_SEQPACKET))
attempt("kill-all", lambda: os.kill(-1, 0))
attempt("kill-daemon", lambda: os.kill(%[1]d, 0))
attempt("sysctl", lambda: open("/proc/sys/kernel/core_pattern", "w"))
attempt("sysrq", lambda: open("/proc/sysrq-trigger", "w"))
attempt("keyctl", syscall(%[2]d, 0, -3, 0))
attempt("bpf", syscall(%[3]d, 0, 0, 0))
attempt("io-uring", syscall(%[4]d, 1, 0))
attempt("clone3", syscall(%[5]d, 0, 0))
if os.uname().machine == "x86_64":
    attempt("x32", syscall(0x40000000 + 39))
attempt("reboot", syscall(%[6]d, 0, 0, 0))
attempt("syslog", syscall(%[7]d, 10, 0, 0))
def up():
    import resource
    resource.setrlimit(resource.RLIMIT_NPROC, (1 << 20, 1 << 20))
attempt("raise-limit", up)
attempt("hostname", lambda: socket.sethostname("x"))
attempt("cgroup", lambda: open("/sys/fs/cgroup/memory/cgroup.procs", "w"))
attempt("pdeathsig", call("prctl", 1, 0, 0, 0, 0))
def suid():
    # A program with the set-uid bit must not become root; /usr/bin/su has it.
    import subprocess
    out = subprocess.run(["/usr/bin/su", "-c", "id -u"], capture_output=True, stdin=subprocess.DEVNULL)
    if out.stdout.strip() != b"0":
        raise PermissionError(1, "refused")
attempt("suid", suid)
`, self, unix.SYS_KEYCTL, unix.SYS_BPF, unix.SYS_IO_URING_SETUP, unix.SYS_CLONE3, unix.SYS_REBOOT, unix.SYS_SYSLOG))
}

func TestAJobIsNobodyAndAlone(t *testing.T) {
	p := boot(t, newRung(t), specOf(""))
	res := run(t, p, `
import os, socket
status = dict(l.split(":\t", 1) for l in open("/proc/self/status").read().splitlines() if ":\t" in l)
print(os.getpid(), sorted(x for x in os.listdir("/proc") if x.isdigit()), socket.gethostname(), os.getcwd())
print([status[k].strip() for k in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Groups")])
print(len(set(os.getresuid() + os.getresgid())), os.getuid() >= 1000000000, sorted(os.listdir("/")))
print(os.listdir("/tmp"), os.listdir("/dev/shm"), os.listdir("."), sorted(os.listdir("/dev")))
print(sorted(os.environ.items()))
print({l.split(":")[2].strip() for l in open("/proc/self/cgroup")})
`)
	zero := "0000000000000000"
	want := fmt.Sprintf(`1 ['1'] banyan /job
['%[1]s', '%[1]s', '%[1]s', '%[1]s', '%[1]s', '1', '2', '']
1 True ['bin', 'box', 'dev', 'etc', 'job', 'lib', 'lib64', 'proc', 'sbin', 'tmp', 'usr']
[] [] [] ['fd', 'full', 'null', 'random', 'shm', 'stderr', 'stdin', 'stdout', 'urandom', 'zero']
[('HOME', '/tmp'), ('LANG', 'C.UTF-8'), ('MKL_NUM_THREADS', '1'), ('MPLBACKEND', 'Agg'), ('NUMEXPR_NUM_THREADS', '1'), ('OMP_NUM_THREADS', '1'), ('OPENBLAS_NUM_THREADS', '1'), ('PATH', '/usr/local/bin:/usr/bin:/bin'), ('VECLIB_MAXIMUM_THREADS', '1')]
{'/'}
`, zero)
	// An interpreter of one's own brings the folders above it, empty but for it.
	own := "'" + strings.SplitN(pythonPath(), "/", 3)[1] + "', "
	if own == "'usr', " {
		own = "\x00"
	}
	got := strings.NewReplacer("'lib32', ", "", "'libx32', ", "", own, "").Replace(string(res.Stdout))
	if got != want {
		t.Errorf("got\n%s\nwant\n%s\nstderr %s", got, want, res.Stderr)
	}
}

func TestB07_DescriptorsDoNotLeak(t *testing.T) {
	p := boot(t, newRung(t), specOf(""))
	sleeper := start(t, p, jobOf("import time; time.sleep(60)"))
	res := run(t, p, `
import os
for fd in range(4096):
    try: os.fstat(fd)
    except OSError: continue
    print(fd, os.readlink("/proc/self/fd/%d" % fd).split(":")[0])`)
	if got, want := string(res.Stdout), "0 pipe\n1 pipe\n2 pipe\n3 socket\n"; got != want {
		t.Errorf("open descriptors:\n%s", got)
	}
	sub := run(t, p, "import subprocess; subprocess.run(['ls', '/proc/self/fd'])")
	if got := string(sub.Stdout); got != "0\n1\n2\n3\n" { // 3 is ls's own view of the folder
		t.Errorf("a program that the job starts has %q, stderr %s", got, sub.Stderr)
	}
	if sub := run(t, p, "import subprocess; subprocess.run(['readlink', '/proc/self/fd/3'])"); len(sub.Stdout) != 0 {
		t.Errorf("the bridge leaks into programs: %s", sub.Stdout)
	}
	sleeper.Kill("test is over")
	if res := wait(t, sleeper); res.Status != rungs.StatusKilled {
		t.Errorf("status %s", res.Status)
	}
}

// A sibling's sockets must be out of reach, out of sight and not in the way.
func TestSiblingsDoNotReachEachOther(t *testing.T) {
	p := boot(t, newRung(t), specOf(""))
	server := start(t, p, jobOf(`
import socket, time
s = socket.socket(socket.AF_UNIX); s.bind("\0sibling"); s.listen()
t = socket.socket(); t.bind(("0.0.0.0", 8000)); t.listen()
open("/tmp/mark", "w"); open("/dev/shm/mark", "w"); open("mark", "w")
print("ready", flush=True)
s.settimeout(3)
try: s.accept(); print("REACHED")
except TimeoutError: print("alone")`))
	eventually(t, "the server listens", func() bool {
		return strings.HasPrefix(string(server.(*child).stdout.Bytes()), "ready")
	})
	res := run(t, p, `
import os, socket
s = socket.socket(socket.AF_UNIX)
try: s.connect("\0sibling"); print("REACHED")
except OSError as e: print(type(e).__name__)
socket.socket().bind(("0.0.0.0", 8000))
assert "sibling" not in open("/proc/net/unix").read()
print(os.listdir("/tmp"), os.listdir("/dev/shm"), os.listdir("."), os.getuid())`)
	if got := string(res.Stdout); strings.Contains(got, "REACHED") || !strings.Contains(got, "[] [] []") {
		t.Errorf("a sibling sees: %s %s", got, res.Stderr)
	}
	if got := string(wait(t, server).Stdout); got != "ready\nalone\n" {
		t.Errorf("the server says %q", got)
	}
}

func TestFilesLimitHoldsForAllPlacesTogether(t *testing.T) {
	p := boot(t, newRung(t), specOf(""))
	job := jobOf(`
import errno
def fill(path, n):
    try:
        with open(path, "wb") as f: f.write(b"x" * n)
        print("ok")
    except OSError as e: print(errno.errorcode[e.errno])
fill("/tmp/a", 600_000); fill("/dev/shm/b", 600_000); fill("c", 10)`)
	job.Limits.FilesBytes = 1 << 20
	if got := string(wait(t, start(t, p, job)).Stdout); got != "ok\nENOSPC\nENOSPC\n" && got != "ok\nENOSPC\nok\n" {
		t.Errorf("got %q", got)
	}
}

func TestLinksDoNotLeadOut(t *testing.T) {
	p := boot(t, newRung(t), specOf(""))
	job := jobOf(`
import os
os.symlink("/etc/passwd", "a.txt"); os.symlink("/proc/self/environ", "b.txt")
os.mkdir("d"); os.symlink("/etc", "d/e"); open("ok.txt", "w").write("fine")
open("\udcff.txt", "w").write("odd")`)
	job.Artifacts = []string{"*.txt", "**/passwd"}
	res := wait(t, start(t, p, job))
	if len(res.Artifacts) != 1 || res.Artifacts[0].Path != "ok.txt" || string(res.Artifacts[0].Data) != "fine" || len(res.Skipped) != 3 {
		t.Errorf("artifacts %v, skipped %q, stderr %s", res.Artifacts, res.Skipped, res.Stderr)
	}
}
