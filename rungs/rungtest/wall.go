package rungtest

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// wallCases are about what a job must not see or reach.
var wallCases = []testCase{
	{"NamespacesOfItsOwn", []promise{walls}, namespaces},
	{"UserOfItsOwn", []promise{walls}, users},
	{"NetworkIsUnreachable", []promise{walls}, network},
	{"HostFilesAreNotThere", []promise{walls}, hostFiles},
	{"B21_SecretsOfTheDaemon", []promise{walls}, b21},
	{"B21_EnvironmentIsClean", nil, cleanEnv},
	{"NoPrivileges", []promise{walls}, privileges},
}

func namespaces(t *testing.T, s *suite) {
	sibling := fork(t, s.plain(t), Job("import time; time.sleep(600)"))
	defer func() { sibling.Kill("the case is over"); wait(t, sibling) }()
	r := runCode(t, s.plain(t), `
import os, socket
print(len([p for p in os.listdir('/proc') if p.isdigit()]), socket.gethostname())
`)
	f := strings.Fields(string(r.Stdout))
	if len(f) != 2 {
		t.Fatal(show(r))
	}
	if n, err := strconv.Atoi(f[0]); err != nil || n > 3 {
		t.Errorf("a job sees %s processes", f[0])
	}
	if host, err := os.Hostname(); err == nil && f[1] == host {
		t.Errorf("a job sees the host's name %s", host)
	}
}

func users(t *testing.T, s *suite) {
	c := fork(t, s.plain(t), Job("import os, time\nprint(os.getuid(), os.getgid(), flush=True)\ntime.sleep(600)"))
	second := strings.Fields(output(t, s.plain(t), "import os\nprint(os.getuid(), os.getgid(), os.getgroups(), os.geteuid())"))
	c.Kill("the case is over")
	first := strings.Fields(string(wait(t, c).Stdout))
	if len(second) < 4 {
		t.Fatalf("%q", second)
	}
	if second[0] == "0" || second[1] == "0" || second[0] != second[3] || second[0] == strconv.Itoa(os.Getuid()) {
		t.Errorf("a job runs as %q", second)
	}
	if len(first) == 2 && first[0] == second[0] {
		t.Errorf("two jobs at a time are the same user %s", first[0])
	}
}

func network(t *testing.T, s *suite) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	path := filepath.Join(t.TempDir(), "sock")
	u, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	abstract, err := net.Listen("unix", "@"+path)
	if err == nil {
		defer abstract.Close()
	}
	job := Job(`
import socket, sys
def reach(family, address):
    try:
        s = socket.socket(family, socket.SOCK_STREAM); s.settimeout(5); s.connect(address)
        return 'reached'
    except OSError: return 'no'
print(reach(socket.AF_INET, ('127.0.0.1', int(sys.argv[1]))), reach(socket.AF_UNIX, sys.argv[2]), reach(socket.AF_UNIX, '\0' + sys.argv[2]))
`)
	job.Args = []string{strconv.Itoa(l.Addr().(*net.TCPAddr).Port), path}
	wantOutput(t, run(t, s.plain(t), job), "no no no\n")
}

func hostFiles(t *testing.T, s *suite) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("zz91"), 0o644); err != nil {
		t.Fatal(err)
	}
	job := Job(`
import os, sys
seen = []
for path in (sys.argv[1], '/etc/shadow', '/root', '/home', '/var/log', '/sys/kernel', '/proc/1/root' + sys.argv[1]):
    try:
        seen.append(path if os.path.isfile(path) and open(path).read() or os.listdir(path) else '')
    except OSError: pass
print([s for s in seen if s])
for path in ('/usr/x', '/etc/x', '/x', '/dev/x', '/proc/x'):
    try: open(path, 'w'); print('wrote', path)
    except OSError: pass
`)
	job.Args = []string{secret}
	wantOutput(t, run(t, s.plain(t), job), "[]\n")
}

func b21(t *testing.T, s *suite) {
	// Ours is the daemon here: its environment was read when it was started,
	// so one that is in it all the same is looked for.
	mark := []byte("PATH=" + os.Getenv("PATH"))
	environ, err := os.ReadFile("/proc/self/environ")
	if err != nil || !bytes.Contains(environ, mark) {
		t.Skip("this process has no variable to look for")
	}
	job := Job(`
import os, sys
mark, found = sys.argv[1].encode(), []
for pid in [p for p in os.listdir('/proc') if p.isdigit()] + ['self', str(os.getppid())]:
    for name in ('environ', 'cmdline'):
        try: text = open('/proc/%s/%s' % (pid, name), 'rb').read()
        except OSError: continue
        if mark in text and not (name == 'cmdline'): found.append((pid, name))
print(found)
try: open('/proc/%d/mem' % os.getppid(), 'rb').read(1); print('memory')
except OSError: pass
`)
	job.Args = []string{string(mark)}
	wantOutput(t, run(t, s.plain(t), job), "[]\n")
}

func cleanEnv(t *testing.T, s *suite) {
	t.Setenv("SECRET_MARK", "zz91")
	job := Job("import os\nprint(sorted(os.environ))")
	job.Env = map[string]string{"A": "1"}
	r := run(t, s.own(t, Spec(t)), job)
	if !strings.Contains(string(r.Stdout), "'A'") || strings.Contains(string(r.Stdout), "SECRET_MARK") {
		t.Error(show(r))
	}
}

func privileges(t *testing.T, s *suite) {
	got := output(t, s.plain(t), `
status = dict(l.split(':', 1) for l in open('/proc/self/status') if ':' in l)
print([status[k].strip().strip('0') for k in ('CapInh', 'CapPrm', 'CapEff', 'CapAmb')], status['NoNewPrivs'].strip())
`)
	if got != "['', '', '', ''] 1\n" {
		t.Errorf("capabilities and no_new_privs of a job: %q", got)
	}
	got = output(t, s.plain(t), `
import os
tried = []
for name, call in (('setuid', lambda: os.setuid(0)), ('chroot', lambda: os.chroot('/')), ('kill', lambda: os.kill(-1, 0)),
                   ('mknod', lambda: os.mknod('x', 0o20600, 0x101))):
    try: call(); tried.append(name)
    except OSError: pass
print(tried)
`)
	if got != "[]\n" {
		t.Errorf("a job may: %q", got)
	}
}
