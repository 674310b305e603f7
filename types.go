package banyan

import (
	"time"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
	"github.com/seed-ff860830/banyan/rungs"
)

// Job is a request to run code (INTERFACES, Job). Only Code is required.
type Job struct {
	Runtime   ontology.RuntimeID   `json:"runtime,omitempty"` // default "python"
	Code      string               `json:"code"`
	Need      []string             `json:"need,omitzero"` // nil: read from the code's imports; empty: nothing
	Args      []string             `json:"args,omitempty"`
	Stdin     string               `json:"stdin,omitempty"`
	Env       map[string]string    `json:"env,omitempty"`
	Files     []File               `json:"files,omitempty"`
	Artifacts []string             `json:"artifacts,omitempty"`
	Isolation *ontology.Isolation  `json:"isolation,omitempty"` // the least that will do; default process
	Rung      ontology.RungName    `json:"rung,omitempty"`      // only this rung
	Match     ontology.MatchPolicy `json:"match,omitempty"`
	Network   bool                 `json:"network,omitempty"`
	Callbacks []string             `json:"callbacks,omitempty"`
	Limits    Limits               `json:"limits,omitzero"`
}

// File is one file for a job's work directory: text or base64, not both.
type File struct {
	Path   string  `json:"path"`
	Text   *string `json:"text,omitempty"`
	Base64 *string `json:"base64,omitempty"`
	Mode   uint32  `json:"mode,omitempty"` // permission bits; 0 means 0644
}

// Limits bound a job; a zero member takes the default.
type Limits struct {
	WallMS      int64 `json:"wall_ms,omitempty"`
	CPUMS       int64 `json:"cpu_ms,omitempty"`
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
	PIDs        int64 `json:"pids,omitempty"`
	OutputBytes int64 `json:"output_bytes,omitempty"` // each of stdout and stderr
	FilesBytes  int64 `json:"files_bytes,omitempty"`
}

// Result is a job's outcome (INTERFACES, Result).
type Result struct {
	ID           ontology.RunID    `json:"id"`
	Status       rungs.Status      `json:"status"`
	ExitCode     int               `json:"exit_code"`
	Signal       *string           `json:"signal"`
	Stdout       string            `json:"stdout"`
	Stderr       string            `json:"stderr"`
	StdoutBase64 *string           `json:"stdout_base64,omitempty"` // set where Stdout was not UTF-8
	StderrBase64 *string           `json:"stderr_base64,omitempty"`
	Truncated    rungs.Truncated   `json:"truncated"`
	Result       map[string]string `json:"result"`
	Error        *rungs.Exception  `json:"error"`
	Artifacts    []Artifact        `json:"artifacts"`
	Skipped      []string          `json:"skipped,omitempty"` // artifacts not brought back, and why
	Plan         PlanUsed          `json:"plan"`
	Timings      Timings           `json:"timings_ms"`
	Usage        Usage             `json:"usage"`
	Enforced     rungs.Enforced    `json:"enforced"`
}

// Artifact is one file a job left behind.
type Artifact struct {
	Path   string `json:"path"`
	Bytes  int    `json:"bytes"`
	Base64 string `json:"base64"`
}

// PlanUsed says how the job was in truth run.
type PlanUsed struct {
	Rung          ontology.RungName     `json:"rung"`
	Route         planner.Route         `json:"route"`
	Snapshot      ontology.SnapshotID   `json:"snapshot"`
	Missing       []ontology.Capability `json:"missing"`
	FallbacksUsed []string              `json:"fallbacks_used"` // rungs that failed before, each with the reason
	Notes         []string              `json:"notes,omitempty"`
}

// Timings are milliseconds of wall time.
type Timings struct {
	Plan  float64 `json:"plan"`
	Warm  float64 `json:"warm,omitempty"` // waiting for a parent to be made
	Fork  float64 `json:"fork"`
	Run   float64 `json:"run"`
	Total float64 `json:"total"`
}

// Usage is what the job used.
type Usage struct {
	CPUMS           float64 `json:"cpu_ms"`
	PeakMemoryBytes int64   `json:"peak_memory_bytes"`
}

// WarmRequest asks for a snapshot ahead of time.
type WarmRequest struct {
	Runtime ontology.RuntimeID `json:"runtime,omitempty"`
	Need    []string           `json:"need,omitzero"`
	Rung    ontology.RungName  `json:"rung,omitempty"`
	Setup   string             `json:"setup,omitempty"`
}

// Snapshot is one node of the tree as users see it.
type Snapshot struct {
	ID            ontology.SnapshotID    `json:"id"`
	DerivedFrom   *ontology.SnapshotID   `json:"derived_from"`
	Rung          ontology.RungName      `json:"rung"`
	Runtime       ontology.RuntimeID     `json:"runtime"`
	State         ontology.SnapshotState `json:"state"`
	Need          []ontology.Capability  `json:"need"`     // what it was made for
	Provides      []ontology.Capability  `json:"provides"` // what it was observed to hold
	SpecKey       ontology.SpecKey       `json:"spec_key"`
	WarmMS        float64                `json:"warm_ms"`
	ResidentBytes int64                  `json:"resident_bytes"`
	CreatedAt     time.Time              `json:"created_at"`
	ExpiresAt     *time.Time             `json:"expires_at"`
	Node          string                 `json:"node"`
	PID           int                    `json:"pid,omitempty"`      // while it is live here
	Children      int                    `json:"children,omitempty"` // jobs running now
	Forks         int64                  `json:"forks,omitempty"`    // jobs started so far
	// Created says that this request made it; not part of the JSON.
	Created bool `json:"-"`
}

// Lineage is a snapshot with its ancestors, nearest first, and all that was
// derived from it.
type Lineage struct {
	Snapshot    Snapshot   `json:"snapshot"`
	Ancestors   []Snapshot `json:"ancestors"`
	Descendants []Snapshot `json:"descendants"`
}

// SnapshotPage is one page of a listing.
type SnapshotPage struct {
	Items      []Snapshot `json:"items"`
	NextCursor *string    `json:"next_cursor"`
}

// ListOptions choose a page of snapshots: at most Limit (1 to 1000, default
// 100) behind Cursor; Live leaves out those that are gone.
type ListOptions struct {
	Limit  int
	Cursor string
	Live   bool
}

// RungStatus says what a rung offers and whether it can run here.
type RungStatus struct {
	Rung        ontology.RungName  `json:"rung"`
	Rank        int                `json:"rank"`
	Isolation   ontology.Isolation `json:"isolation"`
	Languages   []string           `json:"languages"`
	Callbacks   bool               `json:"callbacks"`
	ThirdParty  bool               `json:"third_party"`
	WarmFork    bool               `json:"warm_fork"`
	Available   bool               `json:"available"`
	Reason      string             `json:"reason,omitempty"` // why not
	Fix         string             `json:"fix,omitempty"`    // the command that mends it
	Reward      float64            `json:"reward"`
	BreakerOpen string             `json:"breaker_open,omitempty"`
	Parents     int                `json:"parents"` // live ones
	ForkMS      float64            `json:"fork_ms"` // learned
}

// Status is the state of an engine.
type Status struct {
	Version   string       `json:"version"`
	Node      string       `json:"node"`
	StartedAt time.Time    `json:"started_at"`
	Rungs     []RungStatus `json:"rungs"`
	Parents   int          `json:"parents"` // live warm parents
	Running   int          `json:"running"` // jobs running now
	Runs      int64        `json:"runs"`    // jobs run since the start
	Triples   int64        `json:"triples"`
	Draining  bool         `json:"draining"`
	// Backup is what became of the scheduled backups; nil if there are none.
	Backup *BackupStatus `json:"backup,omitempty"`
}

// Check is one line of the doctor's report.
type Check struct {
	Name   string `json:"name"`
	State  string `json:"state"` // ok | warn | fail
	Found  string `json:"found"`
	Needed string `json:"needed,omitempty"`
	Costs  string `json:"costs,omitempty"` // what is lost while it fails
	Fix    string `json:"fix,omitempty"`   // the command that mends it
}

// Report is the doctor's report. OK is false only if no walled rung works.
type Report struct {
	OK     bool    `json:"ok"`
	Checks []Check `json:"checks"`
}

// ImportOptions say how a file is imported. Graph is the named graph to
// replace ("" derives it from Name); Format is "turtle" or "ntriples" ("" goes by
// Name's ending, and is Turtle where that says nothing). Unnamed means the graph
// without a name, and Merge adds to the graph instead of replacing it.
type ImportOptions struct {
	Name    string
	Graph   ontology.IRI
	Unnamed bool
	Merge   bool
	Format  string
	DryRun  bool
}

// ImportReport says what an import did.
type ImportReport struct {
	Graph        ontology.IRI `json:"graph"`
	Triples      int          `json:"triples"`
	Replaced     int          `json:"replaced"` // triples that the graph held before
	Runtimes     int          `json:"runtimes"`
	Capabilities int          `json:"capabilities"`
	Bundles      int          `json:"bundles"`
	DryRun       bool         `json:"dry_run,omitempty"`
}

// ExportOptions say what is exported: one graph or, with Graph "", all; Unnamed
// means only the graph without a name. Format is "turtle", "ntriples" or "nquads".
type ExportOptions struct {
	Graph   ontology.IRI
	Unnamed bool
	Format  string
}
