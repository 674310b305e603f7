package sparql

import (
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
)

// Options bound a query or an update and name its dataset. A field of zero
// takes its default. A bound that is passed is an error, never a shorter
// answer.
type Options struct {
	// Base is what relative IRIs are resolved against until the text has BASE.
	Base string
	// DefaultGraphs and NamedGraphs are the dataset that the protocol names;
	// if either is given, they stand in place of what the text says. For an
	// update they are its USING graphs, and the text may name none.
	DefaultGraphs, NamedGraphs []ontology.IRI
	// StandardDataset makes the unnamed graph the default graph. Without it
	// the default graph is the union of all graphs.
	StandardDataset bool
	// AllowSystem lets an update change Banyan's own graphs.
	AllowSystem bool

	// Timeout bounds the whole run. Default 30 s.
	Timeout time.Duration
	// MaxRows bounds the solutions or triples of a result. Default 1 million.
	MaxRows int
	// MaxMemory bounds the bytes that a run holds in tables, groups, orders
	// and terms of its own, as far as it can reckon them. Default 512 MiB.
	MaxMemory int64
	// MaxPathSteps bounds the nodes that all property paths visit. Default 10
	// million.
	MaxPathSteps int64
	// MaxChanges bounds the statements that one update adds or removes.
	// Default 1 million; the store's own bound on a transaction may be less.
	MaxChanges int
	// MaxBytes, MaxDepth and MaxParts are ParseOptions'.
	MaxBytes, MaxDepth, MaxParts int
	// Now is the clock of NOW(); nil is time.Now.
	Now func() time.Time

	// bottomUp evaluates every operand on its own, as the specification
	// defines it: what tests compare the faster way with.
	bottomUp bool
	// hashAfter is what a test wants in place of the constant.
	hashAfter int
	// seen counts the operators that ran, for tests.
	seen *coverage
}

// Validate reports a bound that is negative.
func (o Options) Validate() error {
	for _, f := range [...]struct {
		name string
		n    int64
	}{
		{"Timeout", int64(o.Timeout)},
		{"MaxRows", int64(o.MaxRows)},
		{"MaxMemory", o.MaxMemory},
		{"MaxPathSteps", o.MaxPathSteps},
		{"MaxChanges", int64(o.MaxChanges)},
		{"MaxBytes", int64(o.MaxBytes)},
		{"MaxDepth", int64(o.MaxDepth)},
		{"MaxParts", int64(o.MaxParts)},
	} {
		if f.n < 0 {
			return errs.New(errs.Invalid, "the bound %s is negative", f.name)
		}
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.MaxRows == 0 {
		o.MaxRows = 1_000_000
	}
	if o.MaxMemory == 0 {
		o.MaxMemory = 512 << 20
	}
	if o.MaxPathSteps == 0 {
		o.MaxPathSteps = 10_000_000
	}
	if o.MaxChanges == 0 {
		o.MaxChanges = 1_000_000
	}
	if o.hashAfter == 0 {
		o.hashAfter = hashAfter
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func (o Options) parse() ParseOptions {
	return ParseOptions{Base: o.Base, MaxBytes: o.MaxBytes, MaxDepth: o.MaxDepth, MaxParts: o.MaxParts}
}
