package rungtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
)

// lifeCases are about parents: how they come, branch, serve many, and go.
var lifeCases = []testCase{
	{"ImportFailsAtBoot", nil, bootImport},
	{"SetUpFailsAtBoot", nil, bootSetUp},
	{"BootIsBounded", nil, bootHangs},
	{"BootRefusesBadSpecs", nil, bootBad},
	{"HoldsWhatWasObserved", nil, holds},
	{"HoldsImpliedModules", []promise{thirdParty}, holdsNumpy},
	{"WrongVersion", []promise{thirdParty}, wrongVersion},
	{"Branch", []promise{branches}, branch},
	{"BranchOfABranch", []promise{branches}, branchTwice},
	{"BranchOutlivesItsTrunk", []promise{branches}, branchAlone},
	{"BranchFailsAtImport", []promise{branches}, branchFails},
	{"BranchIsUnsupported", nil, noBranch},
	{"ClosedParent", nil, closedParent},
	{"CloseKillsTheJobs", nil, closeKills},
	{"ManyJobsAtOnce", nil, many},
	{"ForksOfOneParentAreApart", nil, apart},
}

func bootImport(t *testing.T, s *suite) {
	s.plain(t)
	before := steady(t)
	p, err := s.rung.Boot(t.Context(), Spec(t, "no_such_module_xyz"))
	if err == nil {
		_ = p.Close("it should not be there")
	}
	if errs.KindOf(err) != errs.Invalid || !strings.Contains(errs.Public(err), "No module named 'no_such_module_xyz'") {
		t.Errorf("error %v", err)
	}
	settled(t, before)
	wantOutput(t, runCode(t, s.own(t, Spec(t)), "print(1)"), "1\n")
}

func bootSetUp(t *testing.T, s *suite) {
	s.plain(t)
	before := steady(t)
	for setup, says := range map[string]string{
		"raise ValueError('set-up went wrong')": "set-up went wrong",
		"import sys; sys.exit(3)":               "3",
		"x = = 1":                               "invalid syntax",
	} {
		spec := Spec(t)
		spec.Setup = setup
		p, err := s.rung.Boot(t.Context(), spec)
		if err == nil {
			_ = p.Close("it should not be there")
		}
		if errs.KindOf(err) != errs.Invalid || !strings.Contains(errs.Public(err), says) {
			t.Errorf("%s: %v", setup, err)
		}
	}
	settled(t, before)
}

func bootHangs(t *testing.T, s *suite) {
	s.plain(t)
	before := steady(t)
	spec := Spec(t)
	spec.Setup = "import time; time.sleep(600)"
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	p, err := s.rung.Boot(ctx, spec)
	if err == nil {
		_ = p.Close("it should not be there")
	}
	if kind := errs.KindOf(err); kind != errs.Timeout && kind != errs.Canceled {
		t.Errorf("error %v", err)
	}
	settled(t, before)
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	if p, err := s.rung.Boot(gone, Spec(t)); err == nil {
		_ = p.Close("nobody wants it")
		t.Error("a boot for a caller who is gone")
	}
	settled(t, before)
}

func bootBad(t *testing.T, s *suite) {
	for name, breakIt := range map[string]func(*rungs.Spec){
		"module": func(s *rungs.Spec) { s.Modules = []rungs.Module{{ImportName: "os;x"}} },
		"UTF-8":  func(s *rungs.Spec) { s.Setup = "\xff" },
		"cobol":  func(s *rungs.Spec) { s.Runtime.Language = "cobol" },
		"python": func(s *rungs.Spec) { s.Runtime.Executable = "/nonexistent/python" },
	} {
		spec := Spec(t)
		breakIt(&spec)
		p, err := s.rung.Boot(t.Context(), spec)
		if err == nil {
			_ = p.Close("it should not be there")
		}
		kind := errs.KindOf(err)
		if kind != errs.Invalid && kind != errs.Unsupported && kind != errs.Unavailable || !strings.Contains(errs.Public(err), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// held reports whether a parent says that it holds a module.
func held(p rungs.Parent, module string) bool {
	return slices.ContainsFunc(p.Holds(), func(h rungs.Holding) bool {
		return h.Capability == ontology.Capability(string(ontology.PythonNS)+module)
	})
}

func holds(t *testing.T, s *suite) {
	p := s.own(t, Spec(t, "colorsys", "xml.dom.minidom"))
	for _, m := range []string{"colorsys", "xml.dom.minidom", "xml.dom"} {
		if !held(p, m) {
			t.Errorf("%s is not among what the parent holds", m)
		}
	}
	if held(p, "wave") || held(s.plain(t), "colorsys") {
		t.Error("a parent says that it holds what nobody loaded")
	}
	if s.traits.WarmFork {
		got := output(t, p, "import sys\nprint('colorsys' in sys.modules, 'wave' in sys.modules)")
		if got != "True False\n" {
			t.Errorf("a job finds loaded: %q", got)
		}
	}
	if p.Stats().Warm <= 0 {
		t.Error("no figure for the warm-up")
	}
}

func holdsNumpy(t *testing.T, s *suite) {
	RequireModule(t, "pandas")
	p := s.parent(t, Spec(t, "pandas"))
	i := slices.IndexFunc(p.Holds(), func(h rungs.Holding) bool { return h.Capability.Module() == "numpy" })
	if i < 0 || p.Holds()[i].Version == "" {
		t.Fatal("importing pandas was not seen to load numpy, with its version")
	}
	want := output(t, p, "import numpy\nprint(numpy.__version__)")
	if got := p.Holds()[i].Version + "\n"; got != want {
		t.Errorf("numpy is held in version %q, a job finds %q", got, want)
	}
	got := output(t, p, "import pandas as pd\nprint(pd.DataFrame({'a': [1, 2, 3]}).a.sum())")
	if got != "6\n" {
		t.Errorf("stdout %q", got)
	}
}

func wrongVersion(t *testing.T, s *suite) {
	RequireModule(t, "numpy")
	spec := Spec(t, "numpy")
	spec.Modules[0].Version = "0.0.1"
	p, err := s.rung.Boot(t.Context(), spec)
	if err == nil {
		_ = p.Close("it should not be there")
	}
	if errs.KindOf(err) != errs.Invalid || !strings.Contains(errs.Public(err), "0.0.1") {
		t.Errorf("error %v", err)
	}
}

// grow branches a parent for one case.
func grow(t *testing.T, p rungs.Parent, spec rungs.Spec) rungs.Parent {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	b, err := p.Branch(ctx, spec)
	if err != nil {
		t.Fatalf("branch: %v", err)
	}
	t.Cleanup(func() { _ = b.Close("the case is over") })
	return b
}

const loaded = "import sys\nprint('colorsys' in sys.modules, 'wave' in sys.modules)"

func branch(t *testing.T, s *suite) {
	trunk := s.own(t, Spec(t))
	spec := Spec(t, "colorsys")
	spec.Setup = "grown = 1"
	b := grow(t, trunk, spec)
	wantOutput(t, runCode(t, b, loaded), "True False\n")
	wantOutput(t, runCode(t, trunk, loaded), "False False\n")
	wantOutput(t, runCode(t, b, "print(grown)"), "1\n")
	wantOutput(t, runCode(t, trunk, "print('grown' in globals())"), "False\n")
	if !held(b, "colorsys") || held(trunk, "colorsys") {
		t.Error("what the two hold is not told apart")
	}
	wantStatus(t, runCode(t, b, "1/0"), rungs.StatusError)
	if r := runCode(t, b, "pass"); !slices.Equal(r.Enforced.Namespaces, runCode(t, trunk, "pass").Enforced.Namespaces) {
		t.Errorf("a job of the branch has other walls: %+v", r.Enforced)
	}
}

func branchTwice(t *testing.T, s *suite) {
	trunk := s.own(t, Spec(t))
	first := grow(t, trunk, Spec(t, "colorsys"))
	second := grow(t, first, Spec(t, "wave"))
	wantOutput(t, runCode(t, second, loaded), "True True\n")
	wantOutput(t, runCode(t, first, loaded), "True False\n")
	if !held(second, "colorsys") || !held(second, "wave") || held(first, "wave") {
		t.Error("what the branches hold is not told apart")
	}
}

func branchAlone(t *testing.T, s *suite) {
	trunk := s.boot(t, Spec(t))
	b := grow(t, trunk, Spec(t, "colorsys"))
	c := fork(t, b, Job("import time\ntime.sleep(1)\nprint('through')"))
	if err := trunk.Close("a test"); err != nil {
		t.Error(err)
	}
	wantOutput(t, wait(t, c), "through\n")
	wantOutput(t, runCode(t, b, loaded), "True False\n")
}

func branchFails(t *testing.T, s *suite) {
	trunk := s.own(t, Spec(t))
	runCode(t, trunk, "pass")
	before := steady(t)
	b, err := trunk.Branch(t.Context(), Spec(t, "no_such_module_xyz"))
	if err == nil {
		_ = b.Close("it should not be there")
	}
	if errs.KindOf(err) != errs.Invalid || !strings.Contains(errs.Public(err), "no_such_module_xyz") {
		t.Errorf("error %v", err)
	}
	settled(t, before)
	wantOutput(t, runCode(t, trunk, "print(1)"), "1\n")
}

func noBranch(t *testing.T, s *suite) {
	if s.traits.Branch {
		t.Skip("the rung promises branches")
	}
	if _, err := s.plain(t).Branch(t.Context(), Spec(t, "colorsys")); errs.KindOf(err) != errs.Unsupported {
		t.Errorf("error %v", err)
	}
}

func closedParent(t *testing.T, s *suite) {
	p := s.boot(t, Spec(t))
	for range 2 {
		if err := p.Close("a test"); err != nil {
			t.Error(err)
		}
	}
	select {
	case <-p.Done():
	default:
		t.Error("Done is open after Close")
	}
	if _, err := p.Fork(t.Context(), Job("pass")); errs.KindOf(err) != errs.Conflict {
		t.Errorf("fork: %v", err)
	}
	if _, err := p.Branch(t.Context(), Spec(t)); errs.KindOf(err) != errs.Conflict && s.traits.Branch {
		t.Errorf("branch: %v", err)
	}
	if st := p.Stats(); st.Children != 0 {
		t.Errorf("%+v", st)
	}
}

func closeKills(t *testing.T, s *suite) {
	s.plain(t)
	before := steady(t)
	p := s.boot(t, Spec(t))
	c := fork(t, p, Job("import time; time.sleep(600)"))
	if n := p.Stats().Children; n != 1 {
		t.Errorf("%d children", n)
	}
	if err := p.Close("a test"); err != nil {
		t.Error(err)
	}
	wantStatus(t, wait(t, c), rungs.StatusKilled)
	settled(t, before)
}

func many(t *testing.T, s *suite) {
	p := s.plain(t)
	n, before := pick(50, 16), p.Stats().Forks
	work := make(chan int)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range work {
				job := Job("import sys\nprint(sys.argv[1], sys.stdin.read(), open('f').read())")
				id := fmt.Sprint("job", i)
				job.Args, job.Stdin, job.Files = []string{id}, []byte(id), []rungs.File{{Path: "f", Data: []byte(id)}}
				c, err := p.Fork(t.Context(), job)
				if err != nil {
					t.Errorf("fork: %v", err)
					continue
				}
				r, err := c.Wait(t.Context())
				if err != nil || string(r.Stdout) != id+" "+id+" "+id+"\n" {
					t.Errorf("%s: %v, %s", id, err, show(r))
				}
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	wg.Wait()
	if got := p.Stats(); got.Forks != before+int64(n) || got.Children != 0 {
		t.Errorf("%+v, forks before %d", got, before)
	}
}

func apart(t *testing.T, s *suite) {
	spec := Spec(t)
	spec.Setup = "shared = []"
	p := s.own(t, spec)
	var wg sync.WaitGroup
	for i := range 8 {
		c := fork(t, p, Job(fmt.Sprintf("import sys, builtins\nshared.append(%d)\nbuiltins.mark = 1\nprint(shared)", i)))
		wg.Go(func() {
			r, err := c.Wait(t.Context())
			if err != nil || string(r.Stdout) != fmt.Sprintf("[%d]\n", i) {
				t.Errorf("%v, %s", err, show(r))
			}
		})
	}
	wg.Wait()
	wantOutput(t, runCode(t, p, "import builtins\nprint(shared, hasattr(builtins, 'mark'))"), "[] False\n")
}
