package sparql

import (
	"context"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// UpdateReport says what an update asked of the store: the statements that
// operations inserted and deleted, whether or not they were there before, and
// the graphs that were cleared.
type UpdateReport struct {
	Operations, Inserted, Deleted, Cleared int
}

// Update runs an update request as one transaction: all of it or nothing. An
// operation sees what those before it did. A graph that is Banyan's own is
// refused with Denied unless Options.AllowSystem says otherwise.
func Update(ctx context.Context, store *kg.Store, text string, o Options) (UpdateReport, error) {
	if err := o.Validate(); err != nil {
		return UpdateReport{}, err
	}
	u, err := ParseUpdate(text, o.parse())
	if err != nil {
		return UpdateReport{}, err
	}
	return u.Apply(ctx, store, o)
}

// Apply runs a parsed update request; see Update.
func (u *UpdateRequest) Apply(ctx context.Context, store *kg.Store, o Options) (UpdateReport, error) {
	if err := o.Validate(); err != nil {
		return UpdateReport{}, err
	}
	o = o.withDefaults()
	if len(o.DefaultGraphs)+len(o.NamedGraphs) > 0 && u.NamesDataset() {
		return UpdateReport{}, errs.New(errs.Invalid, "the request says WITH or USING, so the protocol may not name graphs as well")
	}
	for _, op := range u.ops {
		if op.where != nil && op.where.usesService() {
			return UpdateReport{}, errService()
		}
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	var done UpdateReport
	err := store.Update(ctx, func(tx *kg.Tx) error {
		r := &updater{ctx: ctx, tx: tx, o: o, uses: u.uses}
		for i := range u.ops {
			if err := ended(ctx); err != nil {
				return err
			}
			if err := r.apply(&u.ops[i]); err != nil {
				return err
			}
			r.report.Operations++
		}
		done = r.report
		return nil
	})
	return done, err
}

// updater runs the operations of one request.
type updater struct {
	ctx     context.Context //nolint:containedctx // lives for one call
	tx      *kg.Tx
	o       Options
	report  UpdateReport
	uses    map[string]int // of the request's text; see compiler
	changes int
	created map[ttl.Term]bool // graphs that CREATE made and that are empty
}

func (r *updater) apply(op *updateOp) error {
	switch op.kind {
	case opInsertData, opDeleteData:
		return r.data(op)
	case opModify:
		return r.modify(op)
	case opLoad:
		if op.silent {
			return nil
		}
		return errs.New(errs.Unsupported, "LOAD is not supported: an update does not reach out to the network; import the file instead")
	case opCreate:
		return r.create(op)
	case opClear, opDrop:
		return r.clear(op)
	}
	return r.transfer(op)
}

// exec makes a run that sees what the transaction did so far. The caller
// closes its scanner.
func (r *updater) exec(op *updateOp) (*exec, error) {
	sc, err := r.tx.Scanner()
	if err != nil {
		return nil, err
	}
	o := r.o
	if op.base != "" {
		o.Base = op.base
	}
	x := newExec(r.ctx, sc, o)
	x.scope = (&compiler{x: x, uses: r.uses}).scope()
	return x, nil
}

// data inserts or deletes what stands in the text.
func (r *updater) data(op *updateOp) error {
	x, err := r.exec(op)
	if err != nil {
		return err
	}
	defer x.sc.Close()
	f := &filler{x: x}
	for _, t := range op.quads {
		q, ok, err := f.quad(t)
		if err != nil {
			return err
		}
		if !ok {
			return errs.New(errs.Invalid, "the data holds what is no statement: the subject is an IRI or a blank node, the predicate an IRI")
		}
		if err := r.change(q, op.kind == opInsertData); err != nil {
			return err
		}
	}
	return nil
}

// modify evaluates the pattern, fills the templates in with all solutions, and
// only then deletes and inserts.
func (r *updater) modify(op *updateOp) error {
	del, ins, err := r.solve(op)
	if err != nil {
		return err
	}
	for _, q := range del {
		if err := r.change(q, false); err != nil {
			return err
		}
	}
	for _, q := range ins {
		if err := r.change(q, true); err != nil {
			return err
		}
	}
	return nil
}

func (r *updater) solve(op *updateOp) (del, ins []ttl.Quad, err error) {
	x, err := r.exec(op)
	if err != nil {
		return nil, nil, err
	}
	defer x.sc.Close()
	if x.ds, err = newDataset(x, op.using); err != nil {
		return nil, nil, err
	}
	if op.with != nil && !op.using.given() {
		if err := x.ds.withDefault(x, *op.with); err != nil {
			return nil, nil, err
		}
	}
	p, err := x.scope.group(op.where, graphRef{})
	if err != nil {
		return nil, nil, err
	}
	row := make([]kg.ID, x.width)
	f := &filler{x: x, row: row}
	err = p.run(x, row, func() error {
		f.next()
		if del, err = r.gather(f, del, op.del, op.with); err != nil {
			return err
		}
		ins, err = r.gather(f, ins, op.ins, op.with)
		return err
	})
	return del, ins, err
}

// gather fills a template in with the solution in hand.
func (r *updater) gather(f *filler, to []ttl.Quad, from []quadPat, with *ttl.Term) ([]ttl.Quad, error) {
	for _, t := range from {
		q, ok, err := f.quad(t)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if q.G.IsZero() && with != nil {
			q.G = *with
		}
		if to = append(to, q); len(to) > r.o.MaxChanges {
			return nil, errChanges(r.o.MaxChanges)
		}
		if err := f.x.charge(400 + len(q.S.Value) + len(q.O.Value)); err != nil {
			return nil, err
		}
	}
	return to, nil
}

func errChanges(most int) error {
	return errs.New(errs.TooLarge, "the update changes more than the limit of %d statements", most).
		WithHint("split it, or replace a whole graph by an import")
}

// change inserts or deletes one statement. Where the default graph is the
// union of all, a statement without a graph is deleted from every graph that
// an update may change; it is inserted into the unnamed one.
func (r *updater) change(q ttl.Quad, insert bool) error {
	if err := r.count(); err != nil {
		return err
	}
	if insert {
		if err := r.writable(q.G); err != nil {
			return err
		}
		r.report.Inserted++
		return r.tx.Add(q)
	}
	r.report.Deleted++
	if !q.G.IsZero() || r.o.StandardDataset {
		if err := r.writable(q.G); err != nil {
			return err
		}
		return r.tx.Delete(q)
	}
	return r.deleteEverywhere(q)
}

// deleteEverywhere deletes a statement from each graph that holds it.
func (r *updater) deleteEverywhere(q ttl.Quad) error {
	for found, err := range r.tx.Match(ttl.Quad{S: q.S, P: q.P, O: q.O}) {
		if err != nil {
			return err
		}
		if err := r.writable(found.G); err != nil {
			return err
		}
		if err := r.tx.Delete(found); err != nil {
			return err
		}
	}
	return nil
}

// count bounds the changes of a request and looks at its context.
func (r *updater) count() error {
	if r.changes++; r.changes > r.o.MaxChanges {
		return errChanges(r.o.MaxChanges)
	}
	if r.changes%tickEvery == 0 {
		return ended(r.ctx)
	}
	return nil
}

// system reports the graphs that are Banyan's own.
func system(g ttl.Term) bool {
	switch ontology.IRI(g.Value) {
	case ontology.GraphSnapshots, ontology.GraphHost, ontology.GraphBuiltin:
		return true
	}
	return false
}

// writable refuses to change a graph that is Banyan's own.
func (r *updater) writable(g ttl.Term) error {
	if system(g) && !r.o.AllowSystem {
		return errs.New(errs.Denied, "the graph <%s> is Banyan's own; an update cannot change it", g.Value)
	}
	return nil
}
