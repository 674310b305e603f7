package banyan

import (
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
)

// Config says how an engine is opened. The zero value of each field but Dir
// takes its default.
type Config struct {
	// Dir is the data folder. It is made if it is missing, readable by its
	// owner only.
	Dir string
	// InMemory keeps the graph in memory; nothing survives Close. For tests and
	// throw-away engines.
	InMemory bool
	// Node names this host in the graph; default the host's name.
	Node string
	// Logger takes the engine's log; default discards it.
	Logger *slog.Logger
	// AllowLocal offers the local rung, which has no walls.
	AllowLocal bool
	// AllowDegraded lets a rung run jobs with a wall missing; each result then
	// names it.
	AllowDegraded bool
	// Python overrides the executable of the built-in runtime "python".
	Python string
	// MaxParents bounds the live warm parents; default by memory, at least 4.
	MaxParents int
	// MaxRunning bounds the jobs that run at once; default 8 a core. Each may
	// have 64 processes that spin, all below one parent: with many more, the
	// kernel is too busy with their shared memory to fork that parent again.
	MaxRunning int
	// MaxJobMemory is the most memory, in bytes, that one job may ask for; a job
	// with more could take the host's last, and then the kernel may well choose
	// to kill the daemon. Default three quarters of the machine's, but no less
	// than a job has that asks for none.
	MaxJobMemory int64
	// MaxQueued bounds the jobs that wait for a place; default 16×MaxRunning.
	MaxQueued int
	// Idle closes a parent that was not used for so long; default 30 minutes.
	Idle time.Duration
	// MaxAge lets a parent take no new job after so long; default 1 hour.
	MaxAge time.Duration
	// BootTimeout bounds boot and branch; default 2 minutes.
	BootTimeout time.Duration
	// Tick is the period of upkeep: reaping, probing, pruning; default 5 s.
	Tick time.Duration
	// KeepRetired bounds how many snapshots that are gone stay in the graph for
	// their lineage; default 10,000.
	KeepRetired int
	// MaxQueries bounds the SPARQL queries that are evaluated at once; default
	// 4 a core. Updates run one at a time.
	MaxQueries int
	// MaxQueriesQueued bounds the queries, and the updates, that wait for a
	// place, for at most QueryTimeout; default 16×MaxQueries.
	MaxQueriesQueued int
	// QueryTimeout bounds a query, the reading of its answer included, and an
	// update; default 30 s.
	QueryTimeout time.Duration
	// MaxQueryRows bounds the rows or triples of an answer; default 1 million.
	MaxQueryRows int
	// MaxQueryMemory bounds the bytes that one query holds in tables, groups and
	// orders; default what leaves half of the machine's memory if MaxQueries
	// hold as much at once, but 16 MiB at least and 512 MiB at most.
	MaxQueryMemory int64
	// BackupEvery is the period of scheduled backups; 0, the default, makes none.
	BackupEvery time.Duration
	// BackupDir is the folder for them. It is made if it is missing; one on
	// another disk than Dir survives more.
	BackupDir string
	// BackupKeep is how many of them are kept; default 7.
	BackupKeep int
	// Rungs replaces the rungs the engine would make itself. The engine closes
	// them.
	Rungs []rungs.Rung
}

// Default returns the configuration for a data folder with every default
// filled in.
func Default(dir string) Config {
	return Config{Dir: dir}.withDefaults()
}

// withDefaults returns a copy with every zero field filled in.
func (c Config) withDefaults() Config {
	setDefault(&c.Logger, slog.New(slog.DiscardHandler))
	if c.Node == "" {
		if c.Node, _ = os.Hostname(); c.Node == "" {
			c.Node = "localhost"
		}
	}
	setDefault(&c.MaxParents, max(4, min(64, int(memoryBytes()/(512<<20)))))
	setDefault(&c.MaxRunning, 8*runtime.NumCPU())
	setDefault(&c.MaxJobMemory, max(rungs.DefaultMemoryBytes, memoryBytes()/4*3))
	setDefault(&c.MaxQueued, min(1_000_000, 16*c.MaxRunning))
	setDefault(&c.Idle, 30*time.Minute)
	setDefault(&c.MaxAge, time.Hour)
	setDefault(&c.BootTimeout, 2*time.Minute)
	setDefault(&c.Tick, 5*time.Second)
	setDefault(&c.KeepRetired, 10_000)
	setDefault(&c.BackupKeep, 7)
	setDefault(&c.MaxQueries, 4*runtime.NumCPU())
	setDefault(&c.MaxQueriesQueued, min(1_000_000, 16*c.MaxQueries))
	setDefault(&c.QueryTimeout, 30*time.Second)
	setDefault(&c.MaxQueryRows, 1_000_000)
	setDefault(&c.MaxQueryMemory, max(minQueryMemory, min(512<<20, memoryBytes()/2/int64(max(1, c.MaxQueries)))))
	return c
}

// minQueryMemory is the least of MaxQueryMemory, in bytes.
const minQueryMemory = 16 << 20

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Validate returns an error that names each setting that cannot be.
func (c Config) Validate() error {
	var parts []errs.Part
	bad := func(setting, format string, args ...any) {
		parts = append(parts, errs.Part{Pointer: setting, Detail: fmt.Sprintf(format, args...)})
	}
	if c.Dir == "" && !c.InMemory {
		bad("Dir", "a data folder is needed unless InMemory is set")
	}
	for _, n := range []struct {
		name  string
		value int
	}{
		{"MaxParents", c.MaxParents},
		{"MaxRunning", c.MaxRunning},
		{"MaxQueued", c.MaxQueued},
		{"KeepRetired", c.KeepRetired},
		{"MaxQueries", c.MaxQueries},
		{"MaxQueriesQueued", c.MaxQueriesQueued},
	} {
		if n.value < 1 || n.value > 1_000_000 {
			bad(n.name, "%d is not between 1 and 1,000,000", n.value)
		}
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"Idle", c.Idle}, {"MaxAge", c.MaxAge}, {"BootTimeout", c.BootTimeout}, {"Tick", c.Tick}, {"QueryTimeout", c.QueryTimeout}} {
		if d.value < 10*time.Millisecond || d.value > 30*24*time.Hour {
			bad(d.name, "%v is not between 10 ms and 30 days", d.value)
		}
	}
	if (c.BackupEvery != 0) != (c.BackupDir != "") {
		bad("BackupDir", "scheduled backups need a folder and BackupEvery")
	}
	if c.BackupEvery != 0 && (c.BackupEvery < time.Minute || c.BackupEvery > 30*24*time.Hour) {
		bad("BackupEvery", "%v is not between 1 minute and 30 days", c.BackupEvery)
	}
	if c.BackupKeep < 1 || c.BackupKeep > 10_000 {
		bad("BackupKeep", "%d is not between 1 and 10,000", c.BackupKeep)
	}
	if c.MaxQueryRows < 1 || c.MaxQueryRows > 1_000_000_000 {
		bad("MaxQueryRows", "%d is not between 1 and 1,000,000,000", c.MaxQueryRows)
	}
	if c.MaxQueryMemory < minQueryMemory {
		bad("MaxQueryMemory", "%d is less than %d", c.MaxQueryMemory, minQueryMemory)
	}
	if c.MaxJobMemory < rungs.MinMemoryBytes || c.MaxJobMemory > rungs.MaxMemoryBytes {
		bad("MaxJobMemory", "%d is not between %d and %d", c.MaxJobMemory, rungs.MinMemoryBytes, rungs.MaxMemoryBytes)
	}
	if len(parts) > 0 {
		return errs.New(errs.Invalid, "the configuration has %d wrong settings", len(parts)).WithParts(parts...)
	}
	return nil
}
