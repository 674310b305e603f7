package shacl

import (
	"cmp"
	"context"
	"slices"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// Result is one violation of a shape.
type Result struct {
	Focus     ttl.Term // the node that was held against the shape
	Path      string   // the path to the value as SPARQL writes it, "" for the node itself
	Value     ttl.Term // the value at fault; of Kind None if there is none
	Shape     ttl.Term // the shape that has the constraint
	Component string   // the IRI of the constraint component
	Message   string   // the shape's own message, or what is wrong in short
	Severity  string   // an IRI; sh:Violation if the shape names none
	Statement int      // the statement that bears the fault, by its place in the data; -1 if none does
}

// Report is the outcome of a validation.
type Report struct {
	Conforms  bool
	Results   []Result // by statement
	Truncated bool     // there were more than the 1,000 results that are kept
}

// run is one validation.
type run struct {
	ctx   context.Context //nolint:containedctx // lives for one call
	d     *Data
	steps int
	look  int
	err   error
}

// sink takes the results of shapes. One that only asks whether a node
// conforms keeps none.
type sink struct {
	keep    bool
	count   int
	results []Result
}

func (k *sink) full() bool { return k.count > 0 && !k.keep || k.count > maxResults }

// Validate holds data against the shapes. It returns TooLarge if that takes
// more work than is allowed, and Canceled or Timeout if ctx ends.
func (s *Shapes) Validate(ctx context.Context, d *Data) (Report, error) {
	r := &run{ctx: ctx, d: d}
	out := &sink{keep: true}
	r.spend(stepsPerLook)
	for _, t := range s.targets {
		for _, focus := range r.focus(t) {
			if r.shape(t.shape, focus, out); r.err != nil {
				return Report{}, r.err
			}
			if out.full() {
				break
			}
		}
	}
	if r.err != nil {
		return Report{}, r.err
	}
	rep := Report{Conforms: out.count == 0, Results: out.results, Truncated: out.count > maxResults}
	slices.SortStableFunc(rep.Results, func(a, b Result) int { return cmp.Compare(a.Statement, b.Statement) })
	return rep, nil
}

// spend counts work; false if there is to be no more.
func (r *run) spend(n int) bool {
	if r.err != nil {
		return false
	}
	r.steps, r.look = r.steps+n, r.look+n
	if r.look >= stepsPerLook {
		r.look = 0
		switch err := r.ctx.Err(); err {
		case nil:
		case context.DeadlineExceeded:
			r.err = errs.Wrap(errs.Timeout, err, "the validation took too long")
		default:
			r.err = errs.Wrap(errs.Canceled, err, "the validation was given up")
		}
	}
	if r.steps > maxSteps && r.err == nil {
		r.err = errs.New(errs.TooLarge, "holding the data against the shapes takes more than %d steps", maxSteps)
	}
	return r.err == nil
}

// focus returns the nodes of a target.
func (r *run) focus(t target) []value {
	switch t.kind {
	case targetNode:
		v := value{t.term, noStatement}
		if rows := r.d.all(&r.d.out, t.term); len(rows) > 0 {
			v.at = slices.MinFunc(rows, func(a, b edge) int { return cmp.Compare(a.at, b.at) }).at
		}
		return []value{v}
	case targetClass:
		var out []value
		sub := &path{kind: pathZeroOrMore, parts: []*path{{predicate: ttl.NewIRI(subClassOf)}}}
		for _, class := range r.walk(sub, value{t.term, noStatement}, true) {
			out = append(out, r.step(ttl.NewIRI(ttl.RDFType), class.term, true)...)
		}
		return distinct(out)
	}
	rows := r.d.all(&r.d.of, t.term)
	r.spend(len(rows))
	out := make([]value, len(rows))
	for i, e := range rows {
		out[i] = value{r.d.terms[e.far], e.at}
		if t.kind == targetObjectsOf {
			out[i].term = r.d.terms[r.d.object(e)]
		}
	}
	return distinct(out)
}

// shape holds a node against a shape.
func (r *run) shape(s *shape, focus value, out *sink) {
	if s.deactivated || !r.spend(1) {
		return
	}
	e := &eval{shape: s, focus: focus, out: out, values: []value{focus}}
	if s.path != nil {
		e.values = r.walk(s.path, focus, false)
	}
	for _, c := range s.constraints {
		if r.err != nil || out.full() {
			return
		}
		c.check(r, e, c)
	}
}

// conforms reports whether a node fits a shape.
func (r *run) conforms(s *shape, v value) bool {
	out := &sink{}
	r.shape(s, v, out)
	return out.count == 0
}

// eval is one node held against one shape.
type eval struct {
	shape  *shape
	focus  value
	values []value
	out    *sink
}

// fail notes that a value breaks a constraint; a zero term stands for none.
func (e *eval) fail(c constraint, v value, text string) { e.failAt(c, v, e.shape.pathText, text) }

func (e *eval) failAt(c constraint, v value, path, text string) {
	e.out.count++
	if !e.out.keep || e.out.count > maxResults {
		return
	}
	if e.shape.message != "" {
		text = e.shape.message
	}
	at := v.at
	if at == noStatement {
		at = e.focus.at
	}
	e.out.results = append(e.out.results, Result{
		Focus: e.focus.term, Path: path, Value: v.term, Shape: e.shape.node, Component: NS + c.component + "ConstraintComponent",
		Message: text, Severity: e.shape.severity, Statement: at,
	})
}

// isA reports whether a node is of a class or of one below it.
func (r *run) isA(n, class ttl.Term) bool {
	seen := map[ttl.Term]struct{}{}
	queue := r.step(ttl.NewIRI(ttl.RDFType), n, false)
	for len(queue) > 0 && r.spend(1) {
		at := queue[0].term
		queue = queue[1:]
		if at == class {
			return true
		}
		if _, ok := seen[at]; !ok {
			seen[at] = struct{}{}
			queue = append(queue, r.step(ttl.NewIRI(subClassOf), at, false)...)
		}
	}
	return false
}
