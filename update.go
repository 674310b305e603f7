package banyan

import (
	"context"
	"time"

	"github.com/seed-ff860830/banyan/kg/sparql"
	"github.com/seed-ff860830/banyan/ontology"
)

// UpdateOptions name an update's dataset and narrow its bounds.
type UpdateOptions struct {
	// Base is what relative IRIs are resolved against until the text has BASE.
	Base string
	// UsingGraphs and UsingNamedGraphs are the dataset of the protocol for the
	// WHERE of each operation; a text that says USING or WITH refuses them.
	UsingGraphs, UsingNamedGraphs []ontology.IRI
	// StandardDataset makes the unnamed graph the default graph.
	StandardDataset bool
	// Timeout bounds the update; zero, or more than the engine's own bound, is
	// the engine's.
	Timeout time.Duration
}

// UpdateReport says what an update asked of the store: the operations, the
// statements that they inserted and deleted, whether or not they were there
// before, and the graphs that were cleared.
type UpdateReport struct {
	Operations int `json:"operations"`
	Inserted   int `json:"inserted"`
	Deleted    int `json:"deleted"`
	Cleared    int `json:"cleared"`
}

// Update runs a SPARQL 1.1 update request as one transaction: all of it or
// nothing. Banyan's own graphs are refused (Denied), LOAD and SERVICE are
// Unsupported. An update can declare executables that the engine starts: who
// may call it is who may import.
func (e *Engine) Update(ctx context.Context, text string, o UpdateOptions) (UpdateReport, error) {
	if e.closing.Load() {
		return UpdateReport{}, errClosing()
	}
	u, err := sparql.ParseUpdate(text, sparql.ParseOptions{Base: o.Base})
	if err != nil {
		return UpdateReport{}, syntax(err)
	}
	leave, err := e.updates.enter(ctx)
	if err != nil {
		return UpdateReport{}, err
	}
	defer leave()
	rep, err := u.Apply(ctx, e.store, sparql.Options{
		Base: o.Base, DefaultGraphs: o.UsingGraphs, NamedGraphs: o.UsingNamedGraphs, StandardDataset: o.StandardDataset,
		Timeout: within(o.Timeout, e.cfg.QueryTimeout), MaxMemory: e.cfg.MaxQueryMemory,
	})
	if err != nil {
		return UpdateReport{}, err
	}
	e.cannot.clear() // what could not be loaded may now be declared otherwise
	return UpdateReport(rep), nil
}
