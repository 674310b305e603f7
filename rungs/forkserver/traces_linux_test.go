package forkserver

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/rungs"
)

// What a job did to its network namespace must not be there for the next one:
// neither sockets that outlive it, with their names, nor what the kernel counts.
func TestTheNextJobFindsNoTraceOnTheNetwork(t *testing.T) {
	p := boot(t, newRung(t, noSpares), specOf(""))
	const look = `
import os
print("net", os.readlink("/proc/self/ns/net"))
print(open("/proc/net/sockstat").readline(), open("/proc/net/unix").read().count("\n"))
print(open("/proc/net/snmp").read(), open("/proc/net/snmp6").read())
`
	fresh := run(t, p, look)
	if again := run(t, p, look); string(again.Stdout) != string(fresh.Stdout) {
		t.Errorf("a namespace that was not used is not used again:\n%s\n%s", fresh.Stdout, again.Stdout)
	}
	want := strings.SplitN(string(fresh.Stdout), "\n", 2)[1]
	for name, code := range map[string]string{
		"a socket sent over itself": `
import array, socket
s = socket.socket(socket.AF_UNIX); s.bind("\0left behind"); s.listen()
a, b = socket.socketpair()
a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [s.fileno(), a.fileno(), b.fileno()]))])`,
		"counters of version 4": `
import socket
try: socket.socket().connect(("192.0.2.1", 80))
except OSError: pass`,
		"counters of version 6": `
import socket
try: socket.socket(socket.AF_INET6).connect(("2001:db8::1", 80))
except OSError: pass`,
	} {
		if res := run(t, p, code); res.Status != rungs.StatusOK {
			t.Fatalf("%s: status %s, %s", name, res.Status, res.Stderr)
		}
		if got := strings.SplitN(string(run(t, p, look).Stdout), "\n", 2)[1]; got != want {
			t.Errorf("%s: the next job sees\n%s\nnot\n%s", name, got, want)
		}
	}
}

func TestProcTellsNothingOfTheHost(t *testing.T) {
	p := boot(t, newRung(t), specOf(""))
	res := run(t, p, `
import os
for name in ("cmdline", "config.gz", "interrupts", "kallsyms", "key-users", "keys", "modules", "softirqs", "timer_list"):
    try: print(name, len(open("/proc/" + name, "rb").read(1)))
    except OSError: pass
for name in ("cpuinfo", "meminfo", "self/status"):  # these are wanted
    print(name, 1 - len(open("/proc/" + name, "rb").read(1)))
`)
	if out := string(res.Stdout); !strings.Contains(out, "kallsyms 0\n") || strings.Contains(out, " 1\n") {
		t.Errorf("stdout %s, stderr %s", out, res.Stderr)
	}
}

func TestKernelMachineryIsRefused(t *testing.T) {
	p := boot(t, newRung(t), specOf(""))
	tryAll(t, p, []string{"watch", "netfilter", "sctp", "mptcp", "personality", "secret", "policy", "open-tree-attr", "core", "core-0"}, fmt.Sprintf(`
import resource
attempt("watch", lambda: call("inotify_init1", 0)())
attempt("netfilter", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12))
attempt("sctp", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132))
attempt("mptcp", lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM, 262))
attempt("personality", call("personality", 0x0040000))
attempt("secret", syscall(447, 0))
attempt("open-tree-attr", syscall(467, -100, b"/", 0, 0, 0))
attempt("policy", syscall(%d, 0, 0, 0, 0, 0, 0))
attempt("core", lambda: resource.setrlimit(resource.RLIMIT_CORE, (1, 1)))
attempt("core-0", lambda: resource.prlimit(0, resource.RLIMIT_CORE, (0, 0)))
`, unix.SYS_MBIND))
	// What programs do use still works.
	res := run(t, p, `
import resource, socket, time
socket.socket(); socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); socket.socketpair(); print(socket.if_nameindex())
print(resource.getrlimit(resource.RLIMIT_CORE), resource.getrlimit(resource.RLIMIT_RTPRIO))
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
`)
	if got, want := string(res.Stdout), "[(1, 'lo')]\n(1, 1) (0, 0)\n"; got != want {
		t.Errorf("stdout %q, want %q, stderr %s", got, want, res.Stderr)
	}
}

// When the host's memory runs out, a job goes before its agent, and that
// before the daemon.
func TestJobsAreTheFirstVictims(t *testing.T) {
	p := boot(t, newRung(t), specOf(""))
	res := run(t, p, "print(open('/proc/self/oom_score_adj').read())")
	agent := strings.TrimSpace(read(t, fmt.Sprintf("/proc/%d/oom_score_adj", p.pid)))
	if got := strings.TrimSpace(string(res.Stdout)); got != "1000" || agent != "300" {
		t.Errorf("a job has %s, its agent %s", got, agent)
	}
	// The kernel keeps the lowest value that a process with this right has set.
	if !hasCapability(t, unix.CAP_SYS_RESOURCE) {
		return
	}
	if res := run(t, p, "import subprocess\nprint(subprocess.run(['sh', '-c', 'echo 0 > /proc/self/oom_score_adj'], stderr=-3).returncode)"); string(res.Stdout) == "0\n" {
		t.Errorf("a job can save itself at its agent's cost: %s", res.Stdout)
	}
}

func hasCapability(t *testing.T, bit int) bool {
	t.Helper()
	have, err := effective()
	if err != nil {
		t.Fatal(err)
	}
	return have&(1<<bit) != 0
}
