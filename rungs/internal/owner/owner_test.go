package owner_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/seed-ff860830/banyan/rungs/internal/owner"
)

func TestNamesComeBack(t *testing.T) {
	o := owner.Owner{PID: 12, Start: 345, NS: 4026531836}
	a, b := o.Name("banyan"), o.Name("banyan")
	if a == b {
		t.Errorf("%q was given out twice", a)
	}
	if got, ok := owner.Parse("banyan", a); !ok || got != o {
		t.Errorf("Parse(%q) = %v, %v", a, got, ok)
	}
	if _, ok := owner.Parse("banyan-local", a); ok {
		t.Error("a name of another prefix was taken for ours")
	}
}

func TestB31_LookAlikesAreNotOurs(t *testing.T) {
	for _, name := range []string{
		"", "banyan", "banyan-1-2-3", "xbanyan-1-2-3-4", "banyan-1-2-3-4x", "banyan-0-2-3-4", "banyan-1-2-0-4", "banyan--2-3-4",
		"banyan-1-2-3-4-5", "banyan-9999999999-2-3-4", "banyan-1-99999999999999999999-3-4", "Banyan-1-2-3-4", "banyan-1-2-3-4\n",
		"banyan-local-1-2-3-4",
	} {
		if o, ok := owner.Parse("banyan", name); ok {
			t.Errorf("Parse(%q) = %v", name, o)
		}
	}
}

// stat lays out /proc/<pid>/stat with a name that is chosen to mislead.
func stat(t *testing.T, root string, pid int, start uint64, state string) {
	t.Helper()
	dir := filepath.Join(root, "proc", fmt.Sprint(pid))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%d (a) S 1 (b) %s 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0", pid, state, start)
	if err := os.WriteFile(dir+"/stat", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestGone(t *testing.T) {
	root := t.TempDir()
	stat(t, root, 100, 555, "S")
	stat(t, root, 101, 555, "Z")
	stat(t, root, 102, 555, "X")
	if err := os.MkdirAll(root+"/proc/103", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(root+"/proc/103/stat", []byte("103 (x) S 1"), 0o644); err != nil {
		t.Fatal(err)
	}
	me := owner.Owner{PID: 1, Start: 1, NS: 7}
	for name, tt := range map[string]struct {
		o    owner.Owner
		want bool
	}{
		"alive":                 {owner.Owner{PID: 100, Start: 555, NS: 7}, false},
		"no such process":       {owner.Owner{PID: 99, Start: 555, NS: 7}, true},
		"its pid was reused":    {owner.Owner{PID: 100, Start: 554, NS: 7}, true},
		"zombie":                {owner.Owner{PID: 101, Start: 555, NS: 7}, true},
		"dead":                  {owner.Owner{PID: 102, Start: 555, NS: 7}, true},
		"cannot be read":        {owner.Owner{PID: 103, Start: 555, NS: 7}, false},
		"other pid namespace":   {owner.Owner{PID: 99, Start: 555, NS: 8}, false},
		"alive, in other space": {owner.Owner{PID: 100, Start: 1, NS: 8}, false},
	} {
		if got := tt.o.Gone(root, me); got != tt.want {
			t.Errorf("%s: Gone = %v", name, got)
		}
	}
}

func TestRealProcesses(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux's /proc")
	}
	me, err := owner.Self("")
	if err != nil {
		t.Fatal(err)
	}
	if me.Gone("", me) {
		t.Error("this process counts as gone")
	}
	cmd := exec.Command("/bin/sh", "-c", "exit")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if o := (owner.Owner{PID: cmd.Process.Pid, Start: 1, NS: me.NS}); !o.Gone("", me) {
		t.Error("a process that has ended counts as alive")
	}
}
