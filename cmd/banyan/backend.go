package main

import (
	"context"
	"io"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
)

// backend is what the commands ask of an engine, be it in this process or
// behind a daemon.
type backend interface {
	Plan(ctx context.Context, job banyan.Job) (planner.Plan, error)
	Execute(ctx context.Context, job banyan.Job) (*banyan.Result, error)
	Warm(ctx context.Context, req banyan.WarmRequest) (banyan.Snapshot, error)
	Branch(ctx context.Context, id ontology.SnapshotID, req banyan.WarmRequest) (banyan.Snapshot, error)
	Snapshots(ctx context.Context, opt banyan.ListOptions) (banyan.SnapshotPage, error)
	Snapshot(ctx context.Context, id ontology.SnapshotID) (banyan.Snapshot, error)
	Lineage(ctx context.Context, id ontology.SnapshotID) (banyan.Lineage, error)
	Remove(ctx context.Context, id ontology.SnapshotID) error
	Import(ctx context.Context, r io.Reader, opt banyan.ImportOptions) (banyan.ImportReport, error)
	Export(ctx context.Context, w io.Writer, opt banyan.ExportOptions) error
	Query(ctx context.Context, text string, opt banyan.QueryOptions) (*banyan.QueryResult, error)
	Update(ctx context.Context, text string, opt banyan.UpdateOptions) (banyan.UpdateReport, error)
	Backup(ctx context.Context, w io.Writer) (kg.BackupReport, error)
	Status(ctx context.Context) (banyan.Status, error)
	Rungs(ctx context.Context) ([]banyan.RungStatus, error)
	Doctor(ctx context.Context) (banyan.Report, error)
	Reap(ctx context.Context, all bool) (int, error)
	Close() error
}

// engine is a backend in this process, which can also be served.
type engine interface {
	backend
	GraphDelete(ctx context.Context, graph ontology.IRI) error
	Ready() error
}
