package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/kg/sparql"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// ours is Banyan's store with the world in it.
type ours struct {
	store   *kg.Store
	w       *world
	blocked bool // elsewhere is in the store
}

// loadOurs loads the world, closes the store and opens it again: the index is
// made anew from the triples then.
func loadOurs(ctx context.Context, out io.Writer, w *world, dir string) (*ours, error) {
	cfg := kg.Config{Dir: dir + "/store", Logger: slog.New(slog.DiscardHandler)}
	s, err := kg.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	added, _, err := s.ReplaceGraph(ctx, ontology.GraphSnapshots, w.triples())
	took := time.Since(begin)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "loaded and indexed in %.1f s, %.0f k statements/s\n", took.Seconds(), float64(added)/took.Seconds()/1e3)
	if err := s.Close(); err != nil {
		return nil, err
	}
	begin = time.Now()
	if s, err = kg.Open(ctx, cfg); err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "opened again, with the index made anew, in %.2f s\n", time.Since(begin).Seconds())
	return &ours{store: s, w: w}, nil
}

func (o *ours) close() { _ = o.store.Close() } // the folder goes with the run

// index answers from the capability index.
func (o *ours) index() answerer { return index{o} }

type index struct{ *ours }

func (index) name() string { return "index" }

func (x index) answer(_ context.Context, f form, a asked) (ids []ontology.SnapshotID, took time.Duration, err error) {
	begin := time.Now()
	var found []kg.Candidate
	switch f {
	case supersets:
		found = x.store.View().Supersets(a.l, 10)
	case bases:
		found = x.store.View().Bases(a.l, 10)
	case lineage:
		ids = x.store.Ancestors(x.w.snaps[a.of].id)
	case revocation:
		ids = x.store.Tainted(kg.Taint{Snapshots: []ontology.SnapshotID{x.w.snaps[a.of].id}})
	}
	took = time.Since(begin)
	for _, c := range found {
		ids = append(ids, c.ID)
	}
	return slices.Clone(ids), took, nil
}

// sparql answers by SPARQL, joined from the triples if plain.
func (o *ours) sparql(name string, plain bool) answerer { return &engine{o, name, plain} }

type engine struct {
	*ours
	title string
	plain bool
}

func (e *engine) name() string { return e.title }

// elsewhere is a statement that keeps the index from being used.
var elsewhere = ttl.Quad{
	S: ttl.NewIRI("http://example.org/elsewhere"), P: ttl.NewIRI(string(ontology.PropProvides)),
	O: ttl.NewIRI("http://example.org/something"), G: ttl.NewIRI("http://example.org/graph"),
}

func (e *engine) answer(ctx context.Context, _ form, a asked) (ids []ontology.SnapshotID, took time.Duration, err error) {
	if err := e.block(ctx); err != nil {
		return nil, 0, err
	}
	begin := time.Now()
	r, err := sparql.Run(ctx, e.store, a.text, sparql.Options{Timeout: time.Hour, MaxMemory: 8 << 30, MaxPathSteps: 1 << 40})
	if err != nil {
		return nil, 0, err
	}
	at := slices.Index(r.Vars, "s")
	for row, err := range r.Rows {
		if errs.KindOf(err) == errs.Timeout || ctx.Err() != nil {
			return nil, 0, errStopped
		}
		if err != nil {
			return nil, 0, err
		}
		id, _ := ontology.SnapshotOf(ontology.IRI(row[at].Value))
		ids = append(ids, id)
	}
	return ids, time.Since(begin), nil
}

// block keeps the index from being used, or lets it.
func (e *engine) block(ctx context.Context) error {
	if e.plain == e.blocked {
		return nil
	}
	e.blocked = e.plain
	return e.store.Update(ctx, func(tx *kg.Tx) error {
		if e.plain {
			return tx.Add(elsewhere)
		}
		return tx.Delete(elsewhere)
	})
}
