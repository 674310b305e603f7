package kg

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// ReplaceGraph puts triples into a named graph in place of all that it holds:
// all or nothing, and of any size. It returns how many statements the graph
// holds now and held before. An error from triples undoes everything.
//
// Blank nodes are the graph's own: a label of triples becomes a store-wide
// label made of the graph's name and the label, so that the nodes of two
// graphs never meet and the same file gives the same nodes again.
func (s *Store) ReplaceGraph(ctx context.Context, graph ontology.IRI, triples iter.Seq2[ttl.Triple, error]) (added, replaced int, err error) {
	name := ttl.NewIRI(string(graph))
	if err := checkTerm(name); err != nil {
		return 0, 0, err
	}
	unlock, err := s.lockWriter(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer unlock()
	st := &staging{s: s, ctx: ctx, num: s.newNumber(), blanks: newSkolem(graph)}
	st.begin()
	defer func() { st.t.txn.Discard() }()
	if err := st.fill(triples); err != nil {
		st.abandon()
		return 0, 0, err
	}
	replaced, err = st.publish(name)
	if err != nil {
		st.abandon()
		return 0, 0, err
	}
	return int(st.count), replaced, s.settle(ctx, st.t)
}

// staging writes the rows of a graph under a number that no reader sees, in as
// many transactions as it takes. Until the number is published it is listed
// for sweeping.
type staging struct {
	s       *Store
	ctx     context.Context //nolint:containedctx // lives for one call
	t       *Tx
	num     ID
	count   ID
	commits int
	blanks  *skolem
}

// begin starts the next transaction.
func (st *staging) begin() { st.t = st.s.begin(st.ctx) }

// fill writes all rows.
func (st *staging) fill(triples iter.Seq2[ttl.Triple, error]) error {
	if err := st.t.set(deadKey(st.num), []byte{1}); err != nil {
		return err
	}
	for q, err := range triples {
		if err != nil {
			return err
		}
		if err := st.add(q); err != nil {
			return err
		}
	}
	return storeErr("write a graph", st.ctx.Err())
}

// add writes one row, and commits when the transaction is full.
func (st *staging) add(q ttl.Triple) error {
	q = st.blanks.triple(q)
	if err := checkQuad(ttl.Quad{S: q.S, P: q.P, O: q.O}); err != nil {
		return err
	}
	added, err := st.t.addRow(q, st.num)
	if err != nil {
		return err
	}
	if added {
		st.count++
	}
	if !st.t.full() {
		return nil
	}
	if err := st.ctx.Err(); err != nil {
		return storeErr("write a graph", err)
	}
	if err := st.s.commit(st.t); err != nil {
		return err
	}
	st.commits++
	st.begin()
	return nil
}

// publish turns the graph table over to the new rows in one commit.
func (st *staging) publish(name ttl.Term) (replaced int, err error) {
	t := st.t
	t.mark(name)
	id, _, err := t.graphName(name, true)
	if err != nil {
		return 0, err
	}
	e, err := t.entry(id)
	if err != nil {
		return 0, err
	}
	replaced = int(e.count)
	if e.num != 0 {
		if err := t.drop(id, e); err != nil {
			return 0, err
		}
	}
	if st.count > 0 {
		*e = graphEntry{num: st.num, count: st.count}
		t.meta.triples += uint64(st.count)
	} else {
		t.orphan(id)
	}
	if err := t.del(deadKey(st.num)); err != nil {
		return 0, err
	}
	return replaced, st.s.commit(t)
}

// abandon sweeps what was committed under the number, if anything was.
func (st *staging) abandon() {
	if st.commits == 0 || st.s.failed != nil {
		return
	}
	st.t.txn.Discard()
	st.s.pending = append(st.s.pending, st.num)
	st.s.sweepPending(context.WithoutCancel(st.ctx))
}

// maxSkolemCache bounds the labels a skolem remembers; beyond it each is
// hashed again, which gives the same name.
const maxSkolemCache = 1 << 16

// skolem gives the blank nodes of one graph their store-wide labels.
type skolem struct {
	graph ontology.IRI
	known map[string]string
}

func newSkolem(graph ontology.IRI) *skolem {
	return &skolem{graph: graph, known: map[string]string{}}
}

// label is a hash of graph and label: 128 bits of SHA-256, so that no file can
// choose its labels to meet those of another.
func (k *skolem) label(label string) string {
	if l, ok := k.known[label]; ok {
		return l
	}
	sum := sha256.Sum256([]byte(string(k.graph) + "\x00" + label))
	l := "b" + hex.EncodeToString(sum[:16])
	if len(k.known) < maxSkolemCache {
		k.known[label] = l
	}
	return l
}

func (k *skolem) triple(q ttl.Triple) ttl.Triple {
	if q.S.Kind == ttl.Blank {
		q.S.Value = k.label(q.S.Value)
	}
	if q.O.Kind == ttl.Blank {
		q.O.Value = k.label(q.O.Value)
	}
	return q
}

// own reports the graphs that only Banyan itself writes.
func own(graph ontology.IRI) error {
	switch graph {
	case ontology.GraphSnapshots, ontology.GraphHost, ontology.GraphBuiltin:
		return errs.New(errs.Denied, "the graph <%s> is Banyan's own; import into another", graph)
	}
	return nil
}
