package rungtest

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
)

// forkCases are about what a fork must not share with its parent.
var forkCases = []testCase{
	{"B01_RandomStateDiffers", nil, b01},
	{"B02_WarmUpTextIsNotRepeated", nil, b02},
	{"B04_ThreadsAtWarmUp", nil, b04},
	{"B06_ParentsExitHandlersDoNotRun", nil, b06},
	{"B07_DescriptorsDoNotLeak", nil, b07},
	{"B07_SiblingsDoNotHoldEachOther", nil, b07Siblings},
	{"B08_UserCodeIsMain", nil, b08},
	{"B08_Multiprocessing", nil, b08Multi},
	{"SetUpNamesAreThere", nil, setUpNames},
}

func b01(t *testing.T, s *suite) {
	spec, numpy := Spec(t, "random", "uuid", "secrets"), "0"
	spec.Setup = "import random\nrandom.random()\n"
	draw := "import random, uuid, os\nprint(random.random(), uuid.uuid4(), os.urandom(8).hex()"
	seeded := "import random\nrandom.seed(7)\nprint(random.random()"
	if s.traits.ThirdParty && importable(Python(t), "numpy") {
		spec = Spec(t, "random", "uuid", "secrets", "numpy")
		spec.Setup = "import random, numpy\nrandom.random(); numpy.random.random()\n"
		draw = "import numpy; " + draw + ", numpy.random.random(), numpy.random.default_rng().random()"
		seeded = "import numpy; numpy.random.seed(7); " + seeded + ", numpy.random.random()"
		numpy = "1"
	}
	t.Logf("with numpy: %s", numpy)
	p := s.own(t, spec)
	var mu sync.Mutex
	var wg sync.WaitGroup
	columns := map[int]map[string]bool{}
	for range 8 {
		c := fork(t, p, Job(draw+")"))
		wg.Go(func() {
			r, err := c.Wait(t.Context())
			if err != nil || r.Status != rungs.StatusOK {
				t.Errorf("%v, %s", err, show(r))
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for i, v := range strings.Fields(string(r.Stdout)) {
				if columns[i] == nil {
					columns[i] = map[string]bool{}
				}
				columns[i][v] = true
			}
		})
	}
	wg.Wait()
	for i, values := range columns {
		if len(values) != 8 {
			t.Errorf("column %d has %d different values among 8 forks", i, len(values))
		}
	}
	// A user's own seed still means what it means in plain Python.
	want, err := exec.Command(Python(t), "-I", "-c", seeded+")").Output()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := output(t, p, seeded+")"); got != string(want) {
			t.Errorf("seeded: %q, want %q", got, want)
		}
	}
}

func b02(t *testing.T, s *suite) {
	spec := Spec(t)
	spec.Setup = `
import sys, ctypes
sys.stdout.write('WARMUP')
sys.stderr.write('WERR')
ctypes.CDLL(None).printf(b'CBUF')
`
	if s.traits.WarmFork && !s.traits.ThirdParty {
		spec.Setup = "import sys\nsys.stdout.write('WARMUP')\nsys.stderr.write('WERR')\n"
	}
	p := s.own(t, spec)
	for i := range 3 {
		r := runCode(t, p, fmt.Sprintf("print('C%d')", i))
		wantOutput(t, r, fmt.Sprintf("C%d\n", i))
		if len(r.Stderr) != 0 {
			t.Errorf("stderr %q", r.Stderr)
		}
	}
}

func b04(t *testing.T, s *suite) {
	spec := Spec(t)
	spec.Setup = `
import logging, sys, threading, types
bg = types.ModuleType('bg'); sys.modules['bg'] = bg
bg.LOCK = threading.Lock()
def loop():
    while True:
        with bg.LOCK: logging.getLogger().debug(1)
threading.Thread(target=loop, daemon=True).start()
`
	p, err := s.rung.Boot(t.Context(), spec)
	if err != nil {
		if !strings.Contains(errs.Public(err), "thread") && !strings.Contains(errs.Public(err), "fork-safe") {
			t.Errorf("refused, but not for its threads: %v", err)
		}
		return // a parent that is refused cannot hang a child
	}
	defer p.Close("the case is over") //nolint:errcheck // closed twice at the worst
	n := pick(200, 20)
	if !s.traits.WarmFork {
		n = pick(20, 5)
	}
	for range n {
		r := runCode(t, p, "import logging\nlogging.warning('x')\nimport bg\nprint(bg.LOCK.acquire(timeout=20))")
		if wantOutput(t, r, "True\n"); t.Failed() {
			return
		}
	}
}

func b06(t *testing.T, s *suite) {
	spec := Spec(t)
	spec.Setup = `
import atexit, shutil, tempfile
d = tempfile.mkdtemp()
atexit.register(shutil.rmtree, d)
atexit.register(print, 'INHERITED')
T = tempfile.TemporaryDirectory()
`
	p := s.own(t, spec)
	paths := strings.Fields(output(t, p, "print(d, T.name)"))
	for _, code := range []string{"pass", "1/0", "import sys; sys.exit(0)"} {
		if r := runCode(t, p, code); strings.Contains(string(r.Stdout), "INHERITED") {
			t.Errorf("%s: an inherited handler ran; %s", code, show(r))
		}
	}
	if pid := p.Stats().PID; pid != 0 && s.traits.WarmFork {
		for _, path := range paths {
			if !inParent(pid, path) {
				t.Errorf("a child's end removed the parent's %s", path)
			}
		}
	}
	if got := output(t, p, "import atexit\natexit.register(lambda: print('bye'))"); got != "bye\n" {
		t.Errorf("the job's own handler: %q", got)
	}
}

// listFDs prints the open descriptors.
const listFDs = `
import os
for fd in range(4096):
    try:
        os.fstat(fd)
    except OSError:
        continue
    try: link = os.readlink('/proc/self/fd/%d' % fd)
    except OSError: link = '?'
    print(fd, link.replace(' ', '_'))
`

func b07(t *testing.T, s *suite) {
	// A sibling that is running has pipes of its own in the parent and here.
	sibling := fork(t, s.plain(t), Job("import time; time.sleep(600)"))
	defer func() { sibling.Kill("the case is over"); wait(t, sibling) }()
	for _, f := range lines(output(t, s.plain(t), listFDs)) {
		switch {
		case f[0] == "0" || f[0] == "1" || f[0] == "2":
		case f[0] == "3" && strings.HasPrefix(f[1], "socket:"): // the bridge, as PROTOCOL.md says
		default:
			t.Errorf("descriptor %v is open in a job", f)
		}
	}
}

func b07Siblings(t *testing.T, s *suite) {
	b := fork(t, s.plain(t), Job("import time; time.sleep(600)"))
	wantOutput(t, runCode(t, s.plain(t), "print('a')"), "a\n")
	// Kill would have no effect on a job that has ended, so its status proves
	// that it ran all the time.
	b.Kill("the case is over")
	wantStatus(t, wait(t, b), rungs.StatusKilled)
}

const mainProgram = `
from dataclasses import dataclass
import pickle, sys
@dataclass
class P:
    x: int
def f(n): return 1 if n < 2 else n * f(n - 1)
def g(): return f(5)
assert __name__ == '__main__' and sys.modules['__main__'].P is P
`

func b08(t *testing.T, s *suite) {
	got := output(t, s.plain(t), mainProgram+"print(pickle.loads(pickle.dumps(P(3))).x, g())")
	if got != "3 120\n" {
		t.Errorf("stdout %q", got)
	}
	if got := output(t, s.plain(t), "print('P' in globals(), 'f' in globals())"); got != "False False\n" {
		t.Errorf("the next job sees the last one's names: %q", got)
	}
}

func b08Multi(t *testing.T, s *suite) {
	if !s.traits.ThirdParty {
		t.Skip("the rung promises no native modules, so no multiprocessing")
	}
	got := output(t, s.plain(t), mainProgram+"import multiprocessing\nprint(multiprocessing.get_context('fork').Pool(2).map(f, [3, 4]))")
	if got != "[6, 24]\n" {
		t.Errorf("stdout %q", got)
	}
}

func setUpNames(t *testing.T, s *suite) {
	spec := Spec(t)
	spec.Setup = "table = {'a': 1}"
	p := s.own(t, spec)
	for range 2 {
		if got := output(t, p, "table['a'] += 1\nprint(table)"); got != "{'a': 2}\n" {
			t.Errorf("stdout %q", got)
		}
	}
}
