package forkserver

import (
	"testing"

	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/rungtest"
)

// The suite compares the host before and after a job, process by process. A
// spare is a process that has come in between and is meant to stay, so the
// suite sees a rung that keeps none; tests of this package see one that does.
func noSpares(cfg *Config) { cfg.Spares = -1 }

func TestConformance(t *testing.T) {
	rungtest.Suite(t, func(t *testing.T) rungs.Rung { return newRung(t, noSpares) })
}

func BenchmarkConformance(b *testing.B) {
	rungtest.Bench(b, func(b *testing.B) rungs.Rung { return newRung(b) })
}
