package oracle

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan/bench/peer"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/kg/sparql"
	"github.com/seed-ff860830/banyan/kg/sparql/results"
	"github.com/seed-ff860830/banyan/ttl"
)

// limit is how long an engine may take over one small question.
const limit = 10 * time.Second

// given are the flags of the command line.
var given = map[string]bool{}

func TestMain(m *testing.M) {
	peer.Child()
	flag.Parse()
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	os.Exit(m.Run())
}

// banyan is our engine over a store of its own.
type banyan struct{ store *kg.Store }

func newBanyan(t testing.TB) banyan {
	s, err := kg.Open(context.Background(), kg.Config{InMemory: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return banyan{s}
}

// load empties the store, the built-in graph included, and puts data in, which
// is written as for INSERT DATA.
func (b banyan) load(data string) ([]ttl.Quad, error) {
	ctx := context.Background()
	graphs, err := b.store.Graphs(ctx)
	if err != nil {
		return nil, err
	}
	err = b.store.Update(ctx, func(tx *kg.Tx) error {
		for _, g := range graphs {
			if err := tx.DeleteGraph(g); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if _, err := sparql.Update(ctx, b.store, prefixes+"INSERT DATA {\n"+data+"}", sparql.Options{StandardDataset: true}); err != nil {
		return nil, err
	}
	return b.dump()
}

func (b banyan) dump() (out []ttl.Quad, err error) {
	for q, err := range b.store.Match(context.Background(), ttl.Quad{}) {
		if err != nil {
			return nil, err
		}
		out = append(out, q)
	}
	return out, nil
}

func (b banyan) query(text string) (a answer, err error) {
	r, err := sparql.Run(context.Background(), b.store, text, sparql.Options{StandardDataset: true, Timeout: limit})
	if err != nil {
		return answer{refused: err.Error()}, nil
	}
	switch r.Kind {
	case sparql.Ask:
		return truth(r.Bool), nil
	case sparql.Select:
		a.vars = r.Vars
		for row, err := range r.Rows {
			if err != nil {
				return a, err
			}
			a.rows = append(a.rows, append([]ttl.Term(nil), row...))
		}
		return a, nil
	}
	a = answer{vars: spo, set: true}
	for t, err := range r.Triples {
		if err != nil {
			return a, err
		}
		a.rows = append(a.rows, []ttl.Term{t.S, t.P, t.O})
	}
	return a, nil
}

func (b banyan) update(text string) (answer, error) {
	if _, err := sparql.Update(context.Background(), b.store, text, sparql.Options{StandardDataset: true, Timeout: limit}); err != nil {
		return answer{refused: err.Error()}, nil
	}
	quads, err := b.dump()
	return dataset(quads), err
}

var spo, spog = []string{"s", "p", "o"}, []string{"s", "p", "o", "g"}

func dataset(quads []ttl.Quad) answer {
	a := answer{vars: spog, set: true}
	for _, q := range quads {
		a.rows = append(a.rows, []ttl.Term{q.S, q.P, q.O, q.G})
	}
	return a
}

func truth(v bool) answer {
	return answer{vars: []string{"truth"}, rows: [][]ttl.Term{{ttl.NewString(fmt.Sprint(v))}}}
}

// other is an engine beside ours. A child that was stopped is started again.
type other struct {
	name  string
	start func() (*peer.Peer, error)
	child *peer.Peer
	// fewerVars says that its SELECT * has only the variables that are bound
	// somewhere; section 18.2.4.4 has all that are in scope.
	fewerVars bool
}

// errHung says that the engine had no answer in time.
var errHung = errors.New("no answer in time")

func (o *other) ask(q peer.Request) (r peer.Reply, err error) {
	if o.child == nil {
		if o.child, err = o.start(); err != nil {
			return r, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if r, err = o.child.Ask(ctx, q); err != nil {
		o.close()
	}
	if errors.Is(err, peer.ErrStopped) {
		err = errHung
	}
	return r, err
}

func (o *other) close() {
	if o.child != nil {
		o.child.Close()
		o.child = nil
	}
}

func (o *other) load(quads []ttl.Quad) error {
	text, err := nquads(quads)
	if err != nil {
		return err
	}
	r, err := o.ask(peer.Request{Op: peer.OpLoad, Text: text})
	if err == nil && r.Error != "" {
		err = errors.New(r.Error)
	}
	return err
}

func (o *other) query(text string) (a answer, err error) {
	r, err := o.ask(peer.Request{Op: peer.OpQuery, Text: text})
	if err != nil || r.Error != "" {
		return answer{refused: r.Error}, err
	}
	if strings.HasPrefix(r.Result, "{") {
		set, err := results.Read(strings.NewReader(r.Result), results.JSON, results.Limits{})
		if err != nil {
			return a, fmt.Errorf("%s wrote a result that is none: %w", o.name, err)
		}
		if set.Boolean != nil {
			return truth(*set.Boolean), nil
		}
		return answer{vars: set.Vars, rows: set.Rows}, nil
	}
	quads, err := readQuads(r.Result)
	a = answer{vars: spo, set: true}
	for _, q := range quads {
		a.rows = append(a.rows, []ttl.Term{q.S, q.P, q.O})
	}
	return a, err
}

func (o *other) update(text string) (a answer, err error) {
	r, err := o.ask(peer.Request{Op: peer.OpUpdate, Text: text})
	if err != nil || r.Error != "" {
		return answer{refused: r.Error}, err
	}
	if r, err = o.ask(peer.Request{Op: peer.OpDump}); err != nil || r.Error != "" {
		return answer{refused: r.Error}, err
	}
	quads, err := readQuads(r.Result)
	return dataset(quads), err
}

func readQuads(text string) (out []ttl.Quad, err error) {
	r := ttl.NewReader(strings.NewReader(text), ttl.Options{Format: ttl.NQuads})
	for {
		q, err := r.ReadQuad()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, q)
	}
}
