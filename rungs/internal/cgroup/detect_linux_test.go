package cgroup

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDetect(t *testing.T) {
	for name, tt := range map[string]struct {
		groups, mounts string
		want           []mount
	}{
		"v1": {v1Groups, v1Mounts, []mount{
			{1, "/sys/fs/cgroup/cpu,cpuacct", []Controller{"cpu", "cpuacct"}},
			{1, "/sys/fs/cgroup/memory/svc/a", []Controller{"memory"}},
			{1, "/sys/fs/cgroup/pids", []Controller{"pids"}},
			{1, "/sys/fs/cgroup/systemd/u", []Controller{"name=systemd"}},
		}},
		"v2":                 {"0::/user.slice/x\n", v2Mounts, []mount{{2, "/sys/fs/cgroup/user.slice/x", nil}}},
		"part is mounted":    {"4:memory:/docker/abc/in\n", "1 2 0:3 /docker/abc /mnt rw - cgroup cgroup rw,memory\n", []mount{{1, "/mnt/in", []Controller{"memory"}}}},
		"whole part":         {"4:memory:/docker/abc\n", "1 2 0:3 /docker/abc /mnt rw - cgroup cgroup rw,memory\n", []mount{{1, "/mnt", []Controller{"memory"}}}},
		"other part":         {"4:memory:/docker/abcd\n", "1 2 0:3 /docker/abc /mnt rw - cgroup cgroup rw,memory\n", nil},
		"outside our view":   {"0::/../other\n", v2Mounts, nil},
		"space in the path":  {"0::/\n", `1 2 0:3 / /a\040b rw - cgroup2 x rw` + "\n", []mount{{2, "/a b", nil}}},
		"mounted twice":      {"0::/\n", v2Mounts + v2Mounts, []mount{{2, "/sys/fs/cgroup", nil}}},
		"broken lines":       {"x\n:\n0::/\n", "\n - \n1 2 3 - cgroup2\n1 2 0:3 / /m rw - cgroup\n", nil},
		"no version 2 group": {"4:memory:/\n", v2Mounts, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, tt.groups, tt.mounts, v1Files)
			got, err := detect(f.root)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				got[i].own = got[i].own[len(f.root):]
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(mount{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOuter(t *testing.T) {
	for own, want := range map[string]string{
		"/c/svc":                                "/c/svc",
		"/c/svc/banyan-1-2-3-4/daemon":          "/c/svc",
		"/c/svc/banyan-1-2-3-4/other":           "/c/svc/banyan-1-2-3-4/other",
		"/c/svc/xbanyan-1-2-3-4/daemon":         "/c/svc/xbanyan-1-2-3-4/daemon",
		"/c/banyan-1-2-3-4/daemon/x":            "/c/banyan-1-2-3-4/daemon/x",
		"/banyan-1-2-3-4/banyan-1-2-3-4/daemon": "/banyan-1-2-3-4",
	} {
		if got := outer(own); got != want {
			t.Errorf("outer(%q) = %q, want %q", own, got, want)
		}
	}
}
