package kg

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// maxFaults is how many faults of one file are reported.
const maxFaults = 20

// valueShape is what the value of a property must be.
type valueShape struct {
	domain ontology.IRI // the class a subject must have in the same file; "" for any capability
	most   int          // how many values; 0 for any number
	check  func(d *document, o uint32) string
}

// valueShapes are the properties that an imported file may use. All other
// properties of the vocabulary are Banyan's own to say.
var valueShapes = map[ontology.IRI]valueShape{
	ontology.PropImplies:             {check: checkImplies},
	ontology.PropWarmMillis:          {most: 1, check: checkMillis},
	ontology.PropVersion:             {most: 1, check: checkVersion},
	ontology.PropImportName:          {domain: ontology.ClassModule, most: 1, check: checkImportName},
	ontology.PropLanguage:            {domain: ontology.ClassRuntime, most: 1, check: checkLanguage},
	ontology.PropExecutable:          {domain: ontology.ClassRuntime, most: 1, check: checkExecutable},
	ontology.PropArguments:           {domain: ontology.ClassRuntime, most: 1, check: checkList},
	ontology.PropCapabilityNamespace: {domain: ontology.ClassRuntime, most: 1, check: checkNamespace},
	ontology.PropStandardModules:     {domain: ontology.ClassRuntime, most: 1, check: checkStandardModules},
	ontology.PropAlias:               {domain: ontology.ClassRuntime, check: checkAlias},
	ontology.PropPreimports:          {domain: ontology.ClassRuntime, check: checkPreimports},
	ontology.PropDefaultWallMillis:   {domain: ontology.ClassRuntime, most: 1, check: checkLimit},
	ontology.PropDefaultCPUMillis:    {domain: ontology.ClassRuntime, most: 1, check: checkLimit},
	ontology.PropDefaultMemoryBytes:  {domain: ontology.ClassRuntime, most: 1, check: checkLimit},
	ontology.PropDefaultPIDs:         {domain: ontology.ClassRuntime, most: 1, check: checkLimit},
	ontology.PropDefaultOutputBytes:  {domain: ontology.ClassRuntime, most: 1, check: checkLimit},
	ontology.PropDefaultFilesBytes:   {domain: ontology.ClassRuntime, most: 1, check: checkLimit},
}

// importable are the classes that an imported file may declare nodes of.
var importable = []ontology.IRI{
	ontology.ClassRuntime, ontology.ClassModule, ontology.ClassBundle, ontology.ClassCapability,
}

// subject gathers what a file says of one node.
type subject struct {
	first   docRow
	classes []ontology.IRI
	values  map[ontology.IRI][]docRow
}

// has reports whether the file gives the node a class.
func (s *subject) has(class ontology.IRI) bool { return slices.Contains(s.classes, class) }

// checker holds a file against the ontology.
type checker struct {
	d        *document
	decl     *declared // what the store declares already
	subjects map[uint32]*subject
	order    []uint32
	faults   []errs.Part
	total    int
	lists    map[uint32][2][]uint32 // rdf:first and rdf:rest, by cell
	steps    int                    // taken along bn:implies so far
}

// checkShapes returns an error that lists the faults of a file, each with
// file:line:column, node and broken shape; nil if there are none.
func checkShapes(ctx context.Context, d *document, decl *declared) (*checker, error) {
	c := &checker{d: d, decl: decl, subjects: map[uint32]*subject{}}
	for i, w := range d.rows {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, storeErr("check the file", ctx.Err())
		}
		c.statement(w)
	}
	for _, id := range c.order {
		if ctx.Err() != nil {
			return nil, storeErr("check the file", ctx.Err())
		}
		c.node(id, c.subjects[id])
	}
	if c.total == 0 {
		return c, nil
	}
	return nil, c.report()
}

// report is the error of a file with faults.
func (c *checker) report() error {
	first := c.faults[0]
	more := ""
	switch {
	case c.total > maxFaults:
		more = "; the file has more faults than are listed"
	case c.total > 1:
		more = "; there are more faults"
	}
	return errs.New(errs.Invalid, "%s does not fit the ontology: %s: %s%s", c.d.title(), first.Pointer, first.Detail, more).
		WithParts(c.faults...)
}

// fault notes a fault at a statement; shape is the part of the ontology it breaks.
func (c *checker) fault(w docRow, shape ontology.IRI, text string) {
	c.total++
	if len(c.faults) < maxFaults {
		c.faults = append(c.faults, errs.Part{
			Pointer: c.d.place(int(w.line), int(w.column)),
			Detail:  c.d.show(w.s) + ": " + text + " (shape " + shortIRI(shape) + ")",
		})
	}
}

// statement checks what one statement says by itself and files it under its
// subject, if it is about a runtime or a capability.
func (c *checker) statement(w docRow) {
	c.words(w)
	p, o := ontology.IRI(c.d.terms[w.p].Value), c.d.terms[w.o]
	if p == ontology.RDFType && o.Kind == ttl.IRI && slices.Contains(importable, ontology.IRI(o.Value)) {
		s := c.subject(w)
		s.classes = append(s.classes, ontology.IRI(o.Value))
	}
	shape, ok := valueShapes[p]
	if !ok {
		return
	}
	s := c.subject(w)
	if rows := s.values[p]; shape.most == 0 || len(rows) <= shape.most && !slices.ContainsFunc(rows, func(x docRow) bool { return x.o == w.o }) {
		if s.values == nil {
			s.values = map[ontology.IRI][]docRow{}
		}
		s.values[p] = append(rows, w)
	}
	if text := shape.check(c.d, w.o); text != "" {
		c.fault(w, p, text)
	}
}

// subject returns what is gathered of a statement's subject.
func (c *checker) subject(w docRow) *subject {
	s := c.subjects[w.s]
	if s == nil {
		s = &subject{first: w}
		c.subjects[w.s] = s
		c.order = append(c.order, w.s)
	}
	return s
}

// words checks that a statement speaks Banyan's vocabulary as it is, and only
// of what an import may speak of.
func (c *checker) words(w docRow) {
	s, p, o := c.d.terms[w.s], c.d.terms[w.p], c.d.terms[w.o]
	if local, ours := cutBase(ontology.IRI(s.Value)); ours && s.Kind == ttl.IRI {
		c.fault(w, ontology.IRI(s.Value), "an import cannot change the vocabulary; bn:"+local+" is not its to describe")
		return
	}
	if _, ok := ontology.SnapshotOf(ontology.IRI(s.Value)); ok && s.Kind == ttl.IRI {
		c.fault(w, ontology.ClassWarmSnapshot, "an import cannot speak of snapshots")
		return
	}
	if _, ok := ontology.RungOf(ontology.IRI(s.Value)); ok && s.Kind == ttl.IRI {
		c.fault(w, ontology.ClassRung, "an import cannot speak of rungs")
		return
	}
	if local, ours := cutBase(ontology.IRI(p.Value)); ours {
		if !c.known(w, p) {
			return
		}
		if _, ok := valueShapes[ontology.IRI(p.Value)]; !ok {
			c.fault(w, ontology.IRI(p.Value), "bn:"+local+" is Banyan's own to say, not an import's")
			return
		}
	}
	if local, ours := cutBase(ontology.IRI(o.Value)); ours && o.Kind == ttl.IRI && c.known(w, o) {
		if p.Value == ttl.RDFType && !slices.Contains(importable, ontology.IRI(o.Value)) {
			c.fault(w, ontology.IRI(o.Value), "an import cannot declare a bn:"+local)
		}
	}
}

// known faults a term of the vocabulary that does not exist.
func (c *checker) known(w docRow, t ttl.Term) bool {
	if slices.Contains(ontology.Terms, ontology.IRI(t.Value)) {
		return true
	}
	local, _ := cutBase(ontology.IRI(t.Value))
	text := "there is no " + quote("bn:"+local) + " in the vocabulary"
	if near := nearestTerm(local); near != "" {
		text += "; did you mean bn:" + near + "?"
	}
	c.fault(w, ontology.IRI(ontology.Base), text)
	return false
}

// cutBase returns the local name of a term of the vocabulary's namespace.
func cutBase(i ontology.IRI) (string, bool) { return strings.CutPrefix(string(i), ontology.Base) }

// node checks what a file says of one node as a whole.
func (c *checker) node(id uint32, s *subject) {
	for _, p := range slices.Sorted(maps.Keys(s.values)) {
		rows, shape := s.values[p], valueShapes[p]
		if shape.most > 0 && len(rows) > shape.most {
			c.fault(rows[shape.most], p, shortIRI(p)+" has more than one value")
		}
		if shape.domain != "" && !s.has(shape.domain) {
			c.fault(rows[0], p, shortIRI(p)+" belongs to a node of class "+shortIRI(shape.domain)+", which this file does not make it")
		}
	}
	if s.has(ontology.ClassRuntime) {
		c.runtime(id, s)
		return
	}
	if s.has(ontology.ClassModule) || s.has(ontology.ClassBundle) || s.has(ontology.ClassCapability) || len(s.values[ontology.PropImplies]) > 0 {
		c.capability(id, s)
	}
}

// runtime is the shape of bn:Runtime.
func (c *checker) runtime(id uint32, s *subject) {
	t := c.d.terms[id]
	if _, ok := ontology.RuntimeOf(ontology.IRI(t.Value)); t.Kind != ttl.IRI || !ok {
		c.fault(s.first, ontology.ClassRuntime, "a runtime's IRI is <"+string(ontology.RuntimeID("NAME").IRI())+">, with a name of letters, digits, '.', '_' and '-'")
	}
	for _, p := range [...]ontology.IRI{ontology.PropLanguage, ontology.PropExecutable} {
		if len(s.values[p]) == 0 {
			c.fault(s.first, ontology.ClassRuntime, "a runtime needs "+shortIRI(p))
		}
	}
	if s.has(ontology.ClassModule) || s.has(ontology.ClassBundle) || s.has(ontology.ClassCapability) {
		c.fault(s.first, ontology.ClassRuntime, "a runtime is not a capability")
	}
	if rows := s.values[ontology.PropImplies]; len(rows) > 0 {
		c.fault(rows[0], ontology.PropImplies, "a runtime implies nothing")
	}
	for _, w := range s.values[ontology.PropArguments] {
		c.arguments(w)
	}
}

// badCapability is the fault of a node that no need could name.
const badCapability = "a capability is named by a module's name in its runtime's namespace, or by an IRI with \"://\" or of urn:, of at most 512 bytes"

// maxImplied bounds what one capability implies, directly or not; maxSteps
// what a file may make the check of it cost.
const (
	maxImplied = 1024
	maxSteps   = 20_000_000
)

// capability is the shape of bn:Capability, bn:Module and bn:Bundle.
func (c *checker) capability(id uint32, s *subject) {
	t := c.d.terms[id]
	if t.Kind != ttl.IRI {
		c.fault(s.first, ontology.ClassCapability, "a capability is an IRI, so that others can name it")
		return
	}
	if _, err := ontology.ParseCapability("", t.Value); err != nil {
		c.fault(s.first, ontology.ClassCapability, badCapability)
		return
	}
	if s.has(ontology.ClassBundle) {
		if len(s.values[ontology.PropImplies]) == 0 {
			c.fault(s.first, ontology.ClassBundle, "a bundle needs bn:implies")
		}
		if s.has(ontology.ClassModule) {
			c.fault(s.first, ontology.ClassBundle, "a bundle is not a module")
		}
	}
	if s.has(ontology.ClassModule) && len(s.values[ontology.PropImportName]) == 0 && !moduleName(ontology.Capability(t.Value).Module()) {
		c.fault(s.first, ontology.ClassModule, "a module needs bn:importName where the end of its IRI is not a module's name")
	}
	switch {
	case c.steps > maxSteps:
		c.fault(s.first, ontology.PropImplies, "the file's implications are too many to follow")
	case c.impliesTooMuch(id):
		c.fault(s.first, ontology.PropImplies, "it implies more than 1024 capabilities")
	}
}

// impliesTooMuch follows bn:implies through the file and the store. Cycles are
// harmless.
func (c *checker) impliesTooMuch(id uint32) bool {
	start := ontology.Capability(c.d.terms[id].Value)
	seen := map[ontology.Capability]struct{}{start: {}}
	queue := []ontology.Capability{start}
	for len(queue) > 0 && len(seen) <= maxImplied+1 {
		at := queue[0]
		queue = queue[1:]
		next := c.decl.implies(at)
		if n, ok := c.d.ids[iri(at.IRI())]; ok && c.subjects[n] != nil {
			next = slices.Clip(next)
			for _, w := range c.subjects[n].values[ontology.PropImplies] {
				next = append(next, ontology.Capability(c.d.terms[w.o].Value))
			}
		}
		c.steps += 1 + len(next)
		for _, x := range next {
			if _, ok := seen[x]; !ok {
				seen[x] = struct{}{}
				queue = append(queue, x)
			}
		}
	}
	return len(seen) > maxImplied+1
}

// count adds the declared nodes to a report.
func (c *checker) count(r *ImportReport) {
	for id, s := range c.subjects {
		bundle := s.has(ontology.ClassBundle) || strings.HasPrefix(c.d.terms[id].Value, string(ontology.BundleNS))
		switch {
		case s.has(ontology.ClassRuntime):
			r.Runtimes++
		case bundle && (s.has(ontology.ClassBundle) || len(s.values[ontology.PropImplies]) > 0):
			r.Bundles++
		case s.has(ontology.ClassModule), s.has(ontology.ClassCapability), len(s.values[ontology.PropImplies]) > 0:
			r.Capabilities++
		}
	}
}
