// Package rungtest is the conformance suite that every rung has to pass, and its
// twin, the benchmark. Both run against a real interpreter.
//
//	func TestConformance(t *testing.T) {
//		rungtest.Suite(t, func(t *testing.T) rungs.Rung { … })
//	}
//
// A case that a rung's Traits do not promise is skipped with the reason. Cases
// that stand for a report of a fault in another system carry its number (B07);
// what they ask for is what that report's reader would expect.
//
// The cases of one suite run one after the other on one rung: several of them
// count what there is on the host. Suites must not run in parallel with tests
// that start processes.
package rungtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
)

// patience bounds every wait for something that must happen. It is no speed
// that is asked for: a run that takes so long hangs.
const patience = 60 * time.Second

// Python returns the interpreter that tests use: BANYAN_PYTHON or
// /usr/bin/python3. It skips the test if there is none.
func Python(t testing.TB) string {
	t.Helper()
	exe := os.Getenv("BANYAN_PYTHON")
	if exe == "" {
		exe = "/usr/bin/python3"
	}
	if _, err := exec.LookPath(exe); err != nil {
		t.Skipf("needs Python at %s; set BANYAN_PYTHON to another", exe)
	}
	return exe
}

// importable reports whether the test's Python can import a module.
var importable = func() func(exe, module string) bool {
	var mu sync.Mutex
	known := map[string]bool{}
	return func(exe, module string) bool {
		mu.Lock()
		defer mu.Unlock()
		ok, tried := known[exe+"\x00"+module]
		if !tried {
			ok = exec.Command(exe, "-I", "-c", "import "+module).Run() == nil
			known[exe+"\x00"+module] = ok
		}
		return ok
	}
}()

// RequireModule skips the test if the test's Python cannot import a module.
func RequireModule(t testing.TB, module string) {
	t.Helper()
	if exe := Python(t); !importable(exe, module) {
		t.Skipf("needs %s for %s; apt-get install python3-%s", module, exe, module)
	}
}

// Spec returns a spec for the test's Python with the given modules.
func Spec(t testing.TB, modules ...string) rungs.Spec {
	t.Helper()
	spec := rungs.Spec{Runtime: rungs.Runtime{
		ID: "python", Language: "python", Executable: Python(t), Namespace: ontology.PythonNS,
	}}
	for _, m := range modules {
		c, err := ontology.NewCapability(ontology.PythonNS, m)
		if err != nil {
			t.Fatal(err)
		}
		spec.Modules = append(spec.Modules, rungs.Module{Capability: c, ImportName: m})
	}
	return spec
}

// Job returns a job with a fresh id and limits that suit a test.
func Job(code string) rungs.Job {
	return rungs.Job{ID: ontology.NewRunID(), Code: code, Limits: rungs.Limits{Wall: patience / 2}}
}

// suite is one rung under test.
type suite struct {
	rung    rungs.Rung
	traits  rungs.Traits
	mu      sync.Mutex
	parents map[ontology.SpecKey]rungs.Parent
}

// promise is a reason to skip a case, "" to run it.
type promise func(rungs.Traits) string

func walls(tr rungs.Traits) string {
	if tr.Isolation < ontology.IsolationProcess {
		return "the rung promises no walls"
	}
	return ""
}

func branches(tr rungs.Traits) string {
	if !tr.Branch {
		return "the rung promises no branches"
	}
	return ""
}

func thirdParty(tr rungs.Traits) string {
	if !tr.ThirdParty {
		return "the rung promises no third-party libraries"
	}
	return ""
}

// testCase is one case of the suite.
type testCase struct {
	name  string
	needs []promise
	run   func(t *testing.T, s *suite)
}

// cases returns all cases, by theme.
func cases() []testCase {
	return slices.Concat(forkCases, outcomeCases, streamCases, fileCases, containCases, wallCases, lifeCases, registryCases)
}

// Suite runs every case against a rung that factory makes. The factory skips
// the test where the rung cannot run; Suite closes the rung, and checks at the
// end that nothing is left of it.
func Suite(t *testing.T, factory func(t *testing.T) rungs.Rung) {
	Python(t)
	CheckNothingLeft(t)
	s := &suite{rung: factory(t), parents: map[ontology.SpecKey]rungs.Parent{}}
	s.traits = s.rung.Traits()
	t.Cleanup(func() { s.close(t) })
	if err := s.rung.Probe(t.Context()); err != nil {
		t.Skipf("rung %s cannot run here: %v", s.rung.Name(), err)
	}
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			for _, need := range c.needs {
				if why := need(s.traits); why != "" {
					t.Skip(why)
				}
			}
			t.Cleanup(func() {
				if t.Failed() {
					s.dump(t)
				}
			})
			c.run(t, s)
		})
	}
}

// close ends what the suite made.
func (s *suite) close(t *testing.T) {
	for _, p := range s.parents {
		if err := p.Close("the suite is over"); err != nil {
			t.Errorf("close a parent: %v", err)
		}
	}
	if err := s.rung.Close(); err != nil {
		t.Errorf("close the rung: %v", err)
	}
}

// dump shows what there is when a case has failed.
func (s *suite) dump(t *testing.T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, p := range s.parents {
		ended := false
		select {
		case <-p.Done():
			ended = true
		default:
		}
		t.Logf("parent %.8s: ended %v, %+v", key, ended, p.Stats())
	}
	t.Logf("host: %+v", observe())
}

// parent returns a parent that the cases share; they must not close it.
func (s *suite) parent(t testing.TB, spec rungs.Spec) rungs.Parent {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.parents[spec.Key()]; p != nil {
		select {
		case <-p.Done():
			t.Error("a parent died in an earlier case")
		default:
			return p
		}
	}
	p := s.boot(t, spec)
	s.parents[spec.Key()] = p
	return p
}

// plain is a parent without modules.
func (s *suite) plain(t testing.TB) rungs.Parent { return s.parent(t, Spec(t)) }

// own returns a parent for one case alone.
func (s *suite) own(t testing.TB, spec rungs.Spec) rungs.Parent {
	t.Helper()
	p := s.boot(t, spec)
	t.Cleanup(func() {
		if err := p.Close("the case is over"); err != nil {
			t.Errorf("close a parent: %v", err)
		}
	})
	return p
}

func (s *suite) boot(t testing.TB, spec rungs.Spec) rungs.Parent {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	p, err := s.rung.Boot(ctx, spec)
	if err != nil {
		t.Fatalf("boot: %v", err)
	}
	return p
}

// fork starts a job that must start.
func fork(t testing.TB, p rungs.Parent, job rungs.Job) rungs.Child {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := p.Fork(ctx, job)
	if err != nil {
		t.Fatalf("fork: %v", err)
	}
	return c
}

// wait returns the result of a job that must have one.
func wait(t testing.TB, c rungs.Child) *rungs.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := c.Wait(ctx)
	if err != nil {
		t.Fatalf("wait: %v", err)
	}
	if ctx.Err() != nil {
		t.Fatalf("the job did not end in %v; %s", patience, show(r))
	}
	return r
}

// run runs a job that must start and have a result.
func run(t testing.TB, p rungs.Parent, job rungs.Job) *rungs.Result {
	t.Helper()
	return wait(t, fork(t, p, job))
}

// runCode runs a program.
func runCode(t testing.TB, p rungs.Parent, code string) *rungs.Result {
	t.Helper()
	return run(t, p, Job(code))
}

// output runs a program that must succeed and returns what it printed.
func output(t testing.TB, p rungs.Parent, code string) string {
	t.Helper()
	r := runCode(t, p, code)
	if r.Status != rungs.StatusOK {
		t.Fatalf("the program failed: %s", show(r))
	}
	return string(r.Stdout)
}

// show is a result in a line or two.
func show(r *rungs.Result) string {
	if r == nil {
		return "no result"
	}
	return fmt.Sprintf("status %s, exit code %d, signal %q, exception %+v\nstdout %.2000q\nstderr %.2000q",
		r.Status, r.ExitCode, r.Signal, r.Exception, r.Stdout, r.Stderr)
}

// wantStatus checks how a job ended.
func wantStatus(t testing.TB, r *rungs.Result, want rungs.Status) {
	t.Helper()
	if r.Status != want {
		t.Errorf("want status %s; %s", want, show(r))
	}
}

// wantOutput checks a job that must have succeeded.
func wantOutput(t testing.TB, r *rungs.Result, stdout string) {
	t.Helper()
	wantStatus(t, r, rungs.StatusOK)
	if string(r.Stdout) != stdout {
		t.Errorf("want stdout %q; %s", stdout, show(r))
	}
}

// eventually polls until ok, for at most patience.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); {
		if time.Now().After(end) {
			t.Errorf("still not so: %s", what)
			return
		}
		<-time.After(5 * time.Millisecond)
	}
}

// pick returns many, or few with -short.
func pick(many, few int) int {
	if testing.Short() {
		return few
	}
	return many
}

// lines splits a program's output into lines of fields.
func lines(out string) [][]string {
	var all [][]string
	for l := range strings.Lines(out) {
		all = append(all, strings.Fields(l))
	}
	return all
}
