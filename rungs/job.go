package rungs

import (
	"io/fs"
	"time"

	"github.com/seed-ff860830/banyan/ontology"
)

// Job is one run of user code in a fork. Jobs are values; do not change the
// slices and maps of one that has been handed on.
type Job struct {
	ID        ontology.RunID
	Code      string            // the program, run as __main__
	Args      []string          // sys.argv[1:]
	Stdin     []byte            // nil is an empty standard input
	Env       map[string]string // beside the clean base environment
	Files     []File            // laid into the work directory before the code runs
	Artifacts []string          // patterns of files to bring back
	Limits    Limits
}

// File is one file for a job's work directory. Path is checked by CheckFiles.
type File struct {
	Path string // relative, slash-separated
	Data []byte
	Mode fs.FileMode // 0 means 0644
}

// Artifact is one file a job left behind and its patterns asked for.
type Artifact struct {
	Path string
	Data []byte
}

// Limits bound a job. A zero field takes the default; see Limits.WithDefaults.
type Limits struct {
	Wall        time.Duration
	CPU         time.Duration
	MemoryBytes int64
	PIDs        int64
	OutputBytes int64 // each of stdout and stderr
	FilesBytes  int64 // everything the job writes to its private file systems
}

// Status says how a job ended, by what the kernel says of it.
type Status string

// The statuses of DESIGN §4.
const (
	StatusOK      Status = "ok"      // exit code 0
	StatusError   Status = "error"   // an uncaught exception
	StatusExit    Status = "exit"    // any other exit code but 0
	StatusTimeout Status = "timeout" // our timer or RLIMIT_CPU
	StatusMemory  Status = "memory"  // the kernel's oom_kill counter rose
	StatusOutput  Status = "output"  // killed for writing past a multiple of its output limit
	StatusSignal  Status = "signal"  // a signal that was not ours
	StatusKilled  Status = "killed"  // Kill, or the caller went away
)

// Result is a job's outcome.
type Result struct {
	Status    Status
	ExitCode  int    // 128+n where a signal n ended it
	Signal    string // "SIGKILL"; "" if none ended it
	Stdout    []byte
	Stderr    []byte
	Truncated Truncated
	Value     map[string]string // last expression by MIME type; nil if none
	Exception *Exception        // set for StatusError
	Artifacts []Artifact
	Skipped   []string // artifacts left behind, each with the reason
	Fork      time.Duration
	Run       time.Duration
	CPU       time.Duration
	PeakBytes int64
	Enforced  Enforced
}

// Truncated says which stream was cut at its limit.
type Truncated struct {
	Stdout bool `json:"stdout"`
	Stderr bool `json:"stderr"`
}

// Exception is an uncaught exception. It comes from the child: untrusted text,
// bounded in size.
type Exception struct {
	Name      string `json:"name"`
	Message   string `json:"message"`
	Traceback string `json:"traceback"`
}

// Enforced says which walls and limits were truly in force, as observed. An
// empty string or false is a wall that was not up.
type Enforced struct {
	Namespaces   []string `json:"namespaces"`
	UID          bool     `json:"uid"`
	Capabilities bool     `json:"capabilities"` // all dropped
	NoNewPrivs   bool     `json:"no_new_privs"`
	Seccomp      bool     `json:"seccomp"`
	Landlock     bool     `json:"landlock"`
	Root         string   `json:"root,omitempty"`   // "narrow", or "" for the host's
	Memory       string   `json:"memory,omitempty"` // "cgroup-v1", "cgroup-v2", "rlimit"
	PIDs         string   `json:"pids,omitempty"`
	CPU          string   `json:"cpu,omitempty"`
	Files        string   `json:"files,omitempty"`   // "tmpfs"
	Missing      []string `json:"missing,omitempty"` // walls asked for that are not up
}
