package banyan

import (
	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/forkserver"
	"github.com/seed-ff860830/banyan/rungs/local"
)

// defaultRungs makes the rungs of this build. One that cannot run here is made
// all the same: its probe says why, for the plan and the doctor.
func defaultRungs(cfg Config) ([]rungs.Rung, error) {
	fork, err := forkserver.New(forkserver.Config{
		AllowDegraded: cfg.AllowDegraded, Python: cfg.Python, Logger: cfg.Logger, BootTimeout: cfg.BootTimeout,
	})
	if err != nil {
		return nil, err
	}
	all := []rungs.Rung{fork}
	if cfg.AllowLocal {
		l, err := local.New(local.Config{Logger: cfg.Logger})
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}
