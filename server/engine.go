package server

import (
	"context"
	"io"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
)

// Runner runs jobs.
type Runner interface {
	// Plan says how the job would be run and why; nothing is run.
	Plan(ctx context.Context, job banyan.Job) (planner.Plan, error)
	// Execute runs the job. The end of ctx kills it.
	Execute(ctx context.Context, job banyan.Job) (*banyan.Result, error)
}

// Warmer makes snapshots ahead of time.
type Warmer interface {
	// Warm returns a snapshot that holds what is asked; Created says if it is new.
	Warm(ctx context.Context, req banyan.WarmRequest) (banyan.Snapshot, error)
	// Branch returns a snapshot derived from id that holds more.
	Branch(ctx context.Context, id ontology.SnapshotID, req banyan.WarmRequest) (banyan.Snapshot, error)
}

// Tree reads and prunes the tree of snapshots.
type Tree interface {
	Snapshots(ctx context.Context, opt banyan.ListOptions) (banyan.SnapshotPage, error)
	Snapshot(ctx context.Context, id ontology.SnapshotID) (banyan.Snapshot, error)
	Lineage(ctx context.Context, id ontology.SnapshotID) (banyan.Lineage, error)
	Remove(ctx context.Context, id ontology.SnapshotID) error
}

// Graphs takes graphs in and out.
type Graphs interface {
	// Import replaces one graph by what r holds or merges it into one, or
	// changes nothing.
	Import(ctx context.Context, r io.Reader, opt banyan.ImportOptions) (banyan.ImportReport, error)
	Export(ctx context.Context, w io.Writer, opt banyan.ExportOptions) error
	// GraphDelete takes a graph out; "" is the one without a name.
	GraphDelete(ctx context.Context, graph ontology.IRI) error
}

// Sparql answers queries and runs updates.
type Sparql interface {
	// Query parses and, for all but ASK, leaves the evaluation to the reading of
	// its result, which ends with ctx.
	Query(ctx context.Context, text string, opt banyan.QueryOptions) (*banyan.QueryResult, error)
	// Update changes all that the text says, or nothing.
	Update(ctx context.Context, text string, opt banyan.UpdateOptions) (banyan.UpdateReport, error)
}

// Operator tells the operator how things stand.
type Operator interface {
	Status(ctx context.Context) (banyan.Status, error)
	Rungs(ctx context.Context) ([]banyan.RungStatus, error)
	Doctor(ctx context.Context) (banyan.Report, error)
	// Reap closes what is idle past its time, or with all everything that no
	// job uses, and returns how many snapshots that were.
	Reap(ctx context.Context, all bool) (int, error)
	// Backup writes all graphs as they stand at one commit. With an error, what
	// was written is none.
	Backup(ctx context.Context, w io.Writer) (banyan.BackupReport, error)
	// Ready returns nil if jobs can be run now, else why not. It does not block.
	Ready() error
}

// Engine is all that the server calls; *banyan.Engine is one. It must be safe
// for concurrent use.
type Engine interface {
	Runner
	Warmer
	Tree
	Graphs
	Sparql
	Operator
}
