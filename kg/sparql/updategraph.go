package sparql

import (
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// The store has no empty graphs: a graph is there as long as it holds a
// statement. So CREATE leaves nothing behind, and CLEAR and DROP are the same
// (SPARQL 1.1 Update, section 3.2, lets a store be so).

// graphs returns the names of the graphs that there are, the unnamed one as
// the zero term.
func (r *updater) graphs() ([]ttl.Term, error) {
	x, err := r.exec(&updateOp{})
	if err != nil {
		return nil, err
	}
	defer x.sc.Close()
	var out []ttl.Term
	for name := range x.sc.Graphs() {
		t, err := x.terms.term(name)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// there reports whether a graph holds a statement.
func (r *updater) there(g ttl.Term) (bool, error) {
	all, err := r.graphs()
	for _, t := range all {
		if t == g {
			return true, err
		}
	}
	return false, err
}

func (r *updater) create(op *updateOp) error {
	g := op.to.graph
	if err := r.writable(g); err != nil {
		return err
	}
	if op.silent {
		return nil
	}
	ok, err := r.there(g)
	if err != nil {
		return err
	}
	if ok || r.created[g] {
		return errs.New(errs.Conflict, "the graph <%s> is there already", g.Value)
	}
	if r.created == nil {
		r.created = map[ttl.Term]bool{}
	}
	r.created[g] = true
	return nil
}

// clear runs CLEAR and DROP. ALL and NAMED leave Banyan's own graphs alone
// unless the update may change them: they are not the caller's data.
func (r *updater) clear(op *updateOp) error {
	t := op.to
	if t.deflt {
		return r.empty(ttl.Term{})
	}
	if !t.all && !t.named {
		return r.clearOne(op)
	}
	all, err := r.graphs()
	if err != nil {
		return err
	}
	for _, g := range all {
		if g.IsZero() && !t.all || system(g) && !r.o.AllowSystem {
			continue
		}
		if err := r.empty(g); err != nil {
			return err
		}
	}
	return nil
}

func (r *updater) clearOne(op *updateOp) error {
	g := op.to.graph
	if err := r.writable(g); err != nil {
		return err
	}
	if ok, err := r.mustBe(op, g); err != nil || !ok {
		return err
	}
	delete(r.created, g)
	return r.empty(g)
}

// mustBe reports whether a graph is there; that it is not is an error unless
// the operation is SILENT.
func (r *updater) mustBe(op *updateOp, g ttl.Term) (bool, error) {
	if g.IsZero() || r.created[g] {
		return true, nil
	}
	ok, err := r.there(g)
	if err != nil || ok || op.silent {
		return ok, err
	}
	return false, errs.New(errs.NotFound, "there is no graph <%s>", g.Value)
}

// empty takes all statements out of a graph.
func (r *updater) empty(g ttl.Term) error {
	if err := r.writable(g); err != nil {
		return err
	}
	r.report.Cleared++
	return r.tx.DeleteGraph(ontology.IRI(g.Value))
}

// transfer runs ADD, COPY and MOVE.
func (r *updater) transfer(op *updateOp) error {
	from, to := op.from.graph, op.to.graph
	if err := r.writable(to); err != nil {
		return err
	}
	if op.kind == opMove {
		if err := r.writable(from); err != nil {
			return err
		}
	}
	ok, err := r.mustBe(op, from)
	if err != nil || !ok || from == to {
		return err
	}
	quads, err := r.contents(from)
	if err != nil {
		return err
	}
	if op.kind != opAdd {
		if err := r.empty(to); err != nil {
			return err
		}
	}
	for _, q := range quads {
		q.G = to
		if err := r.change(q, true); err != nil {
			return err
		}
	}
	if op.kind == opMove {
		delete(r.created, from)
		return r.empty(from)
	}
	return nil
}

// contents returns a graph's statements.
func (r *updater) contents(g ttl.Term) ([]ttl.Quad, error) {
	if g.IsZero() {
		g = kg.DefaultGraph
	}
	var out []ttl.Quad
	for q, err := range r.tx.Match(ttl.Quad{G: g}) {
		if err != nil {
			return nil, err
		}
		if out = append(out, q); len(out) > r.o.MaxChanges {
			return nil, errChanges(r.o.MaxChanges)
		}
	}
	return out, nil
}
