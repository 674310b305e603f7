package forkserver

import (
	"testing"

	"github.com/seed-ff860830/banyan/rungs"
)

func TestAJobRunsBehindAllWalls(t *testing.T) {
	p := boot(t, newRung(t), specOf(""))
	res := run(t, p, "print('hello'); 6 * 7")
	if res.Status != rungs.StatusOK || string(res.Stdout) != "hello\n" || res.Value["text/plain"] != "42" {
		t.Fatalf("result %+v, stderr %s", res, res.Stderr)
	}
	e := res.Enforced
	if len(e.Namespaces) != 6 || !e.UID || !e.Capabilities || !e.NoNewPrivs || !e.Seccomp || e.Root != "narrow" ||
		e.Files != "tmpfs" || e.Memory == "" || e.PIDs == "" || len(e.Missing) != 0 {
		t.Errorf("enforced %+v", e)
	}
	t.Logf("enforced %+v", e)
	t.Logf("fork %v, run %v, peak %d", res.Fork, res.Run, res.PeakBytes)
}
