package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed-ff860830/banyan/bench/peer"
	"github.com/seed-ff860830/banyan/kg/sparql/results"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// other is another engine with the world in it. One that was stopped is started
// and loaded again for the next question.
type other struct {
	title string
	start func() (*peer.Peer, error)
	file  string
	child *peer.Peer
}

func (o *other) name() string { return o.title }

func (o *other) close() {
	if o.child != nil {
		o.child.Close()
		o.child = nil
	}
}

// load starts the engine and gives it the world.
func (o *other) load(ctx context.Context) (r peer.Reply, err error) {
	if o.child, err = o.start(); err != nil {
		return r, err
	}
	if r, err = o.child.Ask(ctx, peer.Request{Op: peer.OpLoad, File: o.file, Union: true}); err != nil {
		o.close()
		return r, err
	}
	if r.Error != "" {
		return r, errors.New(r.Error)
	}
	return r, nil
}

func (o *other) answer(ctx context.Context, _ form, a asked) (ids []ontology.SnapshotID, took time.Duration, err error) {
	if o.child == nil {
		if _, err := o.load(context.WithoutCancel(ctx)); err != nil {
			return nil, 0, err
		}
	}
	r, err := o.child.Ask(ctx, peer.Request{Op: peer.OpQuery, Text: a.text, Union: true})
	if errors.Is(err, peer.ErrStopped) {
		o.close()
		return nil, 0, errStopped
	}
	if err != nil {
		return nil, 0, err
	}
	if r.Error != "" {
		return nil, 0, errors.New(r.Error)
	}
	set, err := results.Read(strings.NewReader(r.Result), results.JSON, results.Limits{})
	if err != nil {
		return nil, 0, err
	}
	at := slices.Index(set.Vars, "s")
	for _, row := range set.Rows {
		id, _ := ontology.SnapshotOf(ontology.IRI(row[at].Value))
		ids = append(ids, id)
	}
	return ids, time.Duration(r.Nanos), nil
}

// startOthers starts the engines that take a world of this size, and says who
// is left out and why.
func startOthers(ctx context.Context, out io.Writer, o options, w *world, dir string) (all []*other, err error) {
	file := dir + "/world.nq"
	if err := writeWorld(file, w); err != nil {
		return nil, err
	}
	installed := peer.InstallOxigraph()
	for _, e := range []struct {
		title   string
		start   func() (*peer.Peer, error)
		most    int
		missing error
	}{{"goRDFlib", peer.StartGoRDFlib, o.goRDFlib, nil}, {"Oxigraph in memory", peer.StartOxigraph, o.oxigraph, installed}} {
		if e.missing != nil {
			fmt.Fprintf(out, "%s is left out: %v\n", e.title, e.missing)
			continue
		}
		if len(w.snaps) > e.most {
			fmt.Fprintf(out, "%s is left out above %d snapshots\n", e.title, e.most)
			continue
		}
		p := &other{title: e.title, start: e.start, file: file}
		all = append(all, p)
		r, err := p.load(ctx)
		if err != nil {
			return all, fmt.Errorf("%s: %w", e.title, err)
		}
		took := time.Duration(r.Nanos)
		fmt.Fprintf(out, "%s loaded it in %.1f s, %.0f k statements/s, %.0f MB resident\n", e.title, took.Seconds(), float64(w.statements())/took.Seconds()/1e3, float64(r.RSS)/1e6)
	}
	return all, nil
}

func writeWorld(file string, w *world) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := ttl.NewWriter(f, ttl.WriterOptions{Format: ttl.NQuads})
	for t, err := range w.triples() {
		if err == nil {
			err = out.WriteQuad(ttl.Quad{S: t.S, P: t.P, O: t.O, G: ttl.NewIRI(string(ontology.GraphSnapshots))})
		}
		if err != nil {
			return err
		}
	}
	return out.Close()
}
