package pyhost_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/internal/pyhost"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEnvironIsCleanAndLayered(t *testing.T) {
	t.Setenv("SECRET_MARK", "zz91")
	env := pyhost.Environ(map[string]string{"A": "1", "LANG": "x"}, map[string]string{"A": "2"})
	if !slices.IsSorted(env) || !slices.Contains(env, "A=2") || !slices.Contains(env, "LANG=x") {
		t.Errorf("%q", env)
	}
	if strings.Contains(strings.Join(env, "\n"), "zz91") {
		t.Error("the daemon's environment shows")
	}
	if again := pyhost.Environ(); slices.Contains(again, "A=2") || slices.Contains(again, "LANG=x") {
		t.Errorf("one call's environment is left in the next: %q", again)
	}
}

func TestFindExecutable(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"good": 0o755, "plain": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := pyhost.FindExecutable(dir + "/good"); err != nil || got != dir+"/good" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := pyhost.FindExecutable("sh"); err != nil || !filepath.IsAbs(got) {
		t.Errorf("sh: %q, %v", got, err)
	}
	t.Setenv("PATH", dir)
	for _, name := range []string{dir + "/plain", dir, dir + "/nothing", "good"} {
		if got, err := pyhost.FindExecutable(name); errs.KindOf(err) != errs.Unavailable {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestHoldings(t *testing.T) {
	spec := rungs.Spec{
		Runtime: rungs.Runtime{Namespace: ontology.PythonNS},
		Modules: []rungs.Module{
			{Capability: ontology.Capability(ontology.PythonNS + "scikit-learn@1.2"), ImportName: "sklearn"},
			{Capability: ontology.Capability(ontology.PythonNS + "gone"), ImportName: "gone"},
		},
	}
	got := pyhost.Holdings(spec, [][2]string{{"sklearn", "1.2"}, {"a.b", "not a version"}, {"x>y", "1"}, {"e@1", ""}, {"", ""}, {"sklearn", "1.2"}})
	want := []rungs.Holding{
		{Capability: ontology.Capability(ontology.PythonNS + "scikit-learn"), Version: "1.2"},
		{Capability: ontology.Capability(ontology.PythonNS + "sklearn"), Version: "1.2"},
		{Capability: ontology.Capability(ontology.PythonNS + "a.b")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	many := make([][2]string, pyhost.MaxHoldings+10)
	for i := range many {
		many[i][0] = "m" + strings.Repeat("x", i%200) + string(rune('a'+i/200))
	}
	if n := len(pyhost.Holdings(spec, many)); n > pyhost.MaxHoldings {
		t.Errorf("%d holdings", n)
	}
}

func TestCheckVersions(t *testing.T) {
	spec := rungs.Spec{Modules: []rungs.Module{{ImportName: "a"}, {ImportName: "b", Version: "1.2"}}}
	if err := pyhost.CheckVersions(spec, map[string]string{"b": "1.2"}); err != nil {
		t.Error(err)
	}
	for _, there := range []map[string]string{{"b": "1.3"}, {}} {
		if err := pyhost.CheckVersions(spec, there); errs.KindOf(err) != errs.Invalid || !strings.Contains(errs.Public(err), "b is wanted in version 1.2") {
			t.Errorf("%v: %v", there, err)
		}
	}
}
