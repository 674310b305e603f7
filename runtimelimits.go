package banyan

import (
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/rungs"
)

// orDefaults fills in what a job leaves open with what its runtime declares. A
// declaration is not a demand: what it gives beyond the bounds of this host is
// the bound.
func (l Limits) orDefaults(d kg.DefaultLimits, maxMemory int64) Limits {
	for _, f := range [...]struct {
		limit           *int64
		declared        int64
		least, greatest int64
	}{
		{&l.WallMS, d.WallMillis, rungs.MinWall.Milliseconds(), rungs.MaxWall.Milliseconds()},
		{&l.CPUMS, d.CPUMillis, rungs.MinWall.Milliseconds(), rungs.MaxCPU.Milliseconds()},
		{&l.MemoryBytes, d.MemoryBytes, rungs.MinMemoryBytes, min(rungs.MaxMemoryBytes, maxMemory)},
		{&l.PIDs, d.PIDs, 1, rungs.MaxPIDs},
		{&l.OutputBytes, d.OutputBytes, 1, rungs.MaxOutputBytes},
		{&l.FilesBytes, d.FilesBytes, rungs.MinFilesBytes, rungs.MaxFilesBytes},
	} {
		if *f.limit == 0 && f.declared != 0 {
			*f.limit = min(max(f.declared, f.least), f.greatest)
		}
	}
	return l
}
