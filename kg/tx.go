package kg

import (
	"context"
	"encoding/binary"
	"errors"
	"iter"

	"github.com/dgraph-io/badger/v4"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// Tx is a transaction that changes the store. It is valid inside the function
// it was handed to, and for one goroutine.
type Tx struct {
	reader
	meta    meta
	base    *graphTable
	touched map[ID]*graphEntry    // by graph term, as this transaction leaves them
	fresh   map[ttl.Term]ID       // terms that this transaction adds
	counts  map[predicateAt]int64 // rows that come, less those that go
	orphans map[ID]struct{}       // terms that may have lost their last use
	dead    []ID                  // graph numbers to sweep after the commit
	entries int64                 // keys written, as Badger counts them
	bytes   int64
	marks   marks
}

// marks say which part of what is kept in memory a commit makes stale.
type marks struct{ snapshots, catalogue bool }

// Update calls fn with a transaction and commits what fn did if it returns
// nil: all of it or nothing, on disk when Update returns. One Update runs at a
// time; the others wait as long as their context lets them. A change of more
// than some ten thousand quads is refused as TooLarge; ReplaceGraph has no
// such bound. Blank nodes are those of the store: a label names one node in
// all graphs.
func (s *Store) Update(ctx context.Context, fn func(*Tx) error) error {
	return s.write(ctx, fn)
}

// Add puts a quad into the store. Adding what is there changes nothing.
func (t *Tx) Add(q ttl.Quad) error {
	if err := checkQuad(q); err != nil {
		return err
	}
	t.mark(q.G)
	return t.add(q)
}

// Delete takes a quad out of the store. Deleting what is not there changes
// nothing. A zero G means the unnamed graph, as in Add.
func (t *Tx) Delete(q ttl.Quad) error {
	if err := checkQuad(q); err != nil {
		return err
	}
	t.mark(q.G)
	return t.remove(q)
}

// DeleteGraph takes a graph with all its statements out of the store; "" is
// the unnamed graph. It costs the same however large the graph is.
func (t *Tx) DeleteGraph(graph ontology.IRI) error {
	g := ttl.NewIRI(string(graph))
	t.mark(g)
	name, ok, err := t.graphName(g, false)
	if err != nil || !ok {
		return err
	}
	e, err := t.entry(name)
	if err != nil || e.num == 0 {
		return err
	}
	return t.drop(name, e)
}

// Match returns the quads that fit a pattern, this transaction's own changes
// included; see Store.Match. The rows are gathered before the first is
// yielded, so the loop's body may change the store.
func (t *Tx) Match(pattern ttl.Quad) iter.Seq2[ttl.Quad, error] {
	return func(yield func(ttl.Quad, error) bool) {
		found, err := t.gather(pattern)
		if err != nil {
			yield(ttl.Quad{}, err)
			return
		}
		for _, q := range found {
			if !yield(q, nil) {
				return
			}
		}
	}
}

// gather reads all quads of a pattern. Badger allows one iterator at a time in
// a transaction that writes.
func (t *Tx) gather(pattern ttl.Quad) ([]ttl.Quad, error) {
	var found []ttl.Quad
	for q, err := range t.match(pattern) {
		if err != nil {
			return nil, err
		}
		found = append(found, q)
	}
	return found, nil
}

// mark notes what in memory a change to a graph makes stale.
func (t *Tx) mark(g ttl.Term) {
	if g.Value == string(ontology.GraphSnapshots) {
		t.marks.snapshots = true
		t.s.cat.foresee(t.meta.commit + 1)
	} else {
		t.marks.catalogue = true
	}
}

// add is Add without the marks.
func (t *Tx) add(q ttl.Quad) error {
	name, _, err := t.graphName(q.G, true)
	if err != nil {
		return err
	}
	e, err := t.entry(name)
	if err != nil {
		return err
	}
	if e.num == 0 {
		*e = graphEntry{num: t.s.newNumber()}
	}
	added, err := t.addRow(ttl.Triple{S: q.S, P: q.P, O: q.O}, e.num)
	if added {
		e.count++
		t.meta.triples++
	}
	return err
}

// addRow writes a row under a graph number unless it is there.
func (t *Tx) addRow(q ttl.Triple, num ID) (added bool, err error) {
	w := row{g: num}
	if w.s, err = t.intern(q.S); err != nil {
		return false, err
	}
	if w.p, err = t.intern(q.P); err != nil {
		return false, err
	}
	if w.o, err = t.intern(q.O); err != nil {
		return false, err
	}
	there, err := t.hasRow(w)
	if err != nil || there {
		return false, err
	}
	for _, order := range orders {
		if err := t.set(rowKey(order, w), nil); err != nil {
			return false, err
		}
	}
	t.countRow(w, 1)
	return true, nil
}

func (t *Tx) hasRow(w row) (bool, error) {
	_, err := t.txn.Get(rowKey(tagGSPO, w))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return false, nil
	}
	return err == nil, storeErr("look for a row", err)
}

// remove is Delete without the marks.
func (t *Tx) remove(q ttl.Quad) error {
	if q.G.IsZero() {
		q.G = DefaultGraph
	}
	w, ok, err := t.bind(q)
	if err != nil || !ok {
		return err
	}
	there, err := t.hasRow(w)
	if err != nil || !there {
		return err
	}
	for _, order := range orders {
		if err := t.del(rowKey(order, w)); err != nil {
			return err
		}
	}
	t.countRow(w, -1)
	name, _ := t.nameOf(w.g)
	e, err := t.entry(name)
	if err != nil {
		return err
	}
	e.count--
	t.meta.triples--
	t.orphan(w.s, w.p, w.o, name)
	return nil
}

// drop takes a graph out of the table and lists its rows for sweeping.
func (t *Tx) drop(name ID, e *graphEntry) error {
	t.meta.triples -= uint64(e.count)
	t.dead = append(t.dead, e.num)
	t.orphan(name)
	err := t.set(deadKey(e.num), []byte{1})
	*e = graphEntry{}
	return err
}

// orphan notes terms that may have lost their last use.
func (t *Tx) orphan(ids ...ID) {
	for _, id := range ids {
		switch id.kind() {
		case kindIRI, kindBlank, kindLiteral:
			t.orphans[id] = struct{}{}
		}
	}
}

// graphName returns the term id of a graph, 0 for the unnamed one. With make
// an unknown name gets an id.
func (t *Tx) graphName(g ttl.Term, make bool) (name ID, ok bool, err error) {
	if g.Value == "" {
		return 0, true, nil
	}
	if make {
		name, err = t.intern(g)
		return name, err == nil, err
	}
	name, _, ok, err = t.s.dict.find(t.txn, g)
	return name, ok, err
}

// entry returns a graph's entry as this transaction leaves it.
func (t *Tx) entry(name ID) (*graphEntry, error) {
	if e, ok := t.touched[name]; ok {
		return e, nil
	}
	e, err := readGraph(t.txn, name)
	if err != nil {
		return nil, err
	}
	t.touched[name] = &e
	return &e, nil
}

// numberOf and nameOf are the graph table with this transaction's changes.
func (t *Tx) numberOf(term ID) (ID, bool) {
	if e, ok := t.touched[term]; ok {
		return e.num, e.num != 0
	}
	return t.base.numberOf(term)
}

func (t *Tx) nameOf(num ID) (ID, bool) {
	for term, e := range t.touched { // a transaction touches few graphs
		if e.num == num {
			return term, true
		}
	}
	term, ok := t.base.nameOf(num)
	if _, changed := t.touched[term]; ok && changed {
		return 0, false
	}
	return term, ok
}

// intern returns a term's id, a new one if the store does not know the term.
func (t *Tx) intern(term ttl.Term) (ID, error) {
	if id, ok := inlineID(term); ok {
		return id, nil
	}
	if id, ok := t.fresh[term]; ok {
		return id, nil
	}
	if id, ok := t.s.dict.ids.get(term); ok {
		return id, nil
	}
	id, probe, ok, err := t.s.dict.find(t.txn, term)
	if err != nil {
		return 0, err
	}
	if ok {
		t.s.dict.remember(term, id)
		return id, nil
	}
	return t.newTerm(term, probe)
}

// newTerm gives a term an id and writes both directions.
func (t *Tx) newTerm(term ttl.Term, probe int) (ID, error) {
	seq := t.s.newTerm()
	if seq > uint64(idMask) {
		return 0, errs.New(errs.Exhausted, "the dictionary is full")
	}
	id := kindOf(term)<<kindShift | ID(seq)
	text := encodeTerm(term)
	if err := t.set(termKey(t.s.dict.hash(text), probe), binary.BigEndian.AppendUint64(nil, uint64(id))); err != nil {
		return 0, err
	}
	if err := t.set(idKey(id), text); err != nil {
		return 0, err
	}
	t.fresh[term] = id
	return id, nil
}

// set and del write one key and keep count of the transaction's size, as
// Badger reckons it: key, value and a few bytes beside.
func (t *Tx) set(key, value []byte) error {
	t.entries++
	t.bytes += int64(len(key)+len(value)) + 16
	return storeErr("write", t.txn.Set(key, value))
}

func (t *Tx) del(key []byte) error {
	t.entries++
	t.bytes += int64(len(key)) + 16
	return storeErr("write", t.txn.Delete(key))
}

// full reports whether the transaction nears what Badger takes at once.
func (t *Tx) full() bool {
	return t.entries+int64(len(t.counts)) > t.s.batch || t.bytes > t.s.db.MaxBatchSize()/4*3-maxTermBytes*2
}
