package rungs

import (
	"cmp"
	"time"
)

// The limits that a job has which names none (INTERFACES, Job).
const (
	DefaultWall        = 30 * time.Second
	DefaultCPU         = 30 * time.Second
	DefaultMemoryBytes = 512 << 20
	DefaultPIDs        = 64
	DefaultOutputBytes = 1 << 20
	DefaultFilesBytes  = 64 << 20
)

// The bounds on what a job may ask for. The engine may hold jobs to less; no
// job gets more. The floors keep out limits that no runtime can start under.
const (
	MinWall        = time.Millisecond
	MaxWall        = 24 * time.Hour
	MaxCPU         = 24 * time.Hour
	MinMemoryBytes = 4 << 20
	MaxMemoryBytes = 1 << 40
	MaxPIDs        = 32768 // the kernel's default pid_max
	MaxOutputBytes = 64 << 20
	MinFilesBytes  = 64 << 10 // tmpfs rounds to whole pages and needs some itself
	MaxFilesBytes  = 64 << 30
)

// FloodFactor times its output limit is what a job may write to a stream
// before it is killed with StatusOutput. Up to there the surplus is read and
// dropped, so that a job which is merely talkative ends by itself.
const FloodFactor = 16

// WithDefaults returns the limits with every zero field set to its default.
func (l Limits) WithDefaults() Limits {
	l.Wall = cmp.Or(l.Wall, DefaultWall)
	l.CPU = cmp.Or(l.CPU, DefaultCPU)
	l.MemoryBytes = cmp.Or(l.MemoryBytes, DefaultMemoryBytes)
	l.PIDs = cmp.Or(l.PIDs, DefaultPIDs)
	l.OutputBytes = cmp.Or(l.OutputBytes, DefaultOutputBytes)
	l.FilesBytes = cmp.Or(l.FilesBytes, DefaultFilesBytes)
	return l
}

// Validate returns an Invalid error that names each limit out of its bounds. A
// zero field is valid: it takes the default.
func (l Limits) Validate() error {
	var f faults
	span(&f, "wall", l.Wall, MinWall, MaxWall)
	span(&f, "cpu", l.CPU, MinWall, MaxCPU)
	between(&f, "memory_bytes", l.MemoryBytes, MinMemoryBytes, MaxMemoryBytes)
	between(&f, "pids", l.PIDs, 1, MaxPIDs)
	between(&f, "output_bytes", l.OutputBytes, 1, MaxOutputBytes)
	between(&f, "files_bytes", l.FilesBytes, MinFilesBytes, MaxFilesBytes)
	return f.err("check limits")
}

func span(f *faults, name string, v, lo, hi time.Duration) {
	if v != 0 && (v < lo || v > hi) {
		f.add("/limits/"+name+"_ms", -1, "", "limit "+name+" is "+v.String()+"; it must lie between "+lo.String()+" and "+hi.String())
	}
}

func between(f *faults, name string, v, lo, hi int64) {
	if v != 0 && (v < lo || v > hi) {
		f.add("/limits/"+name, -1, "", "limit "+name+" is "+itoa(v)+"; it must lie between "+itoa(lo)+" and "+itoa(hi))
	}
}
