package local_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/local"
	"github.com/seed-ff860830/banyan/rungs/rungtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newRung(t testing.TB) rungs.Rung {
	t.Helper()
	r, err := local.New(local.Config{Python: rungtest.Python(t)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestConformance(t *testing.T) {
	rungtest.Suite(t, func(t *testing.T) rungs.Rung { return newRung(t) })
}

func BenchmarkRung(b *testing.B) {
	rungtest.Bench(b, func(b *testing.B) rungs.Rung { return newRung(b) })
}
