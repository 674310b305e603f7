package main

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
)

func TestSnapshotsAreDrawnAsATree(t *testing.T) {
	ta := newTestApp(t)
	got := ta.wantRun(t, "snapshots", "--all")
	want := `SNAPSHOT                             STATE    RUNG        RUNTIME  NEED                          RESIDENT  AGE  FORKS
sn_01JD0000000000000000000001        Live     forkserver  python   -                             120 MiB   1h   7
├─ sn_01JD0000000000000000000002     Live     forkserver  python   py:numpy,py:pandas            120 MiB   1h   7
│  └─ sn_01JD0000000000000000000003  Live     forkserver  python   py:numpy,py:pandas,py:scipy   120 MiB   1h   7
├─ sn_01JD0000000000000000000004     Live     forkserver  python   py:json                       120 MiB   1h   7
└─ sn_01JD0000000000000000000005     Retired  forkserver  python   py:re                         120 MiB   1h   7
`
	if diff := cmp.Diff(strings.Join(strings.Fields(want), " "), strings.Join(strings.Fields(got), " ")); diff != "" {
		t.Errorf("the tree differs (-want +got):\n%s", diff)
	}
	if strings.Contains(ta.wantRun(t, "snapshots", "ls"), "Retired") {
		t.Error("a snapshot that is gone is listed without --all")
	}
}

func TestNoSnapshots(t *testing.T) {
	ta := newTestApp(t)
	ta.eng.tree = nil
	if out := ta.wantRun(t, "snapshots"); out != "" || !strings.Contains(ta.err.String(), "there are no snapshots") {
		t.Errorf("out %q, err %q", out, ta.err.String())
	}
	if out := ta.wantRun(t, "snapshots", "--json"); !strings.Contains(out, `"items": []`) {
		t.Errorf("no snapshots are %s", out)
	}
}

// endless gives the same page for ever.
type endless struct {
	*fakeEngine
	empty bool
}

func (e endless) Snapshots(context.Context, banyan.ListOptions) (banyan.SnapshotPage, error) {
	next := "c"
	page := banyan.SnapshotPage{NextCursor: &next}
	if !e.empty {
		page.Items = []banyan.Snapshot{{ID: idTrunk}}
	}
	return page, nil
}

func TestEndlessListingsEnd(t *testing.T) {
	for _, empty := range []bool{true, false} {
		_, err := collect(t.Context(), endless{newFakeEngine(), empty}, banyan.ListOptions{}, 1000)
		if errs.KindOf(err) != errs.Unavailable {
			t.Errorf("empty %t: %v", empty, err)
		}
	}
}

func TestLsOptions(t *testing.T) {
	var got *lsOptions
	ta := newTestApp(t)
	cmd := newSnapshotsLsCmd(ta.app, func(_ context.Context, o *lsOptions) error { got = o; return nil })
	cmd.SetArgs([]string{"--all", "--limit", "5", "-q"})
	if err := cmd.ExecuteContext(t.Context()); err != nil || !got.all || got.limit != 5 || !got.quiet || got.json {
		t.Errorf("options = %+v, %v", got, err)
	}
}

func TestProvidesIsShortOnATerminal(t *testing.T) {
	ta := newTestApp(t)
	many := make([]string, maxShownProvides+1)
	for i := range many {
		many[i] = "m" + strconv.Itoa(i)
	}
	if got := ta.provides(py(many[1:]...)); strings.Count(got, ",") != maxShownProvides-1 {
		t.Errorf("%d capabilities are shown as %q", maxShownProvides, got)
	}
	if got := ta.provides(py(many...)); got != "25 capabilities (--json lists them)" {
		t.Errorf("too many capabilities are shown as %q", got)
	}
	if ta.tty = false; strings.Count(ta.provides(py(many...)), ",") != maxShownProvides {
		t.Error("what is no terminal does not get all")
	}
}
