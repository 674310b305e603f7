package kg

import (
	"context"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// PutRung records what this host found out about a rung, in place of what the
// graph knew of it.
func (s *Store) PutRung(ctx context.Context, f RungFacts) error {
	if !f.Name.Valid() || f.Isolation > ontology.IsolationMicroVM || len(f.Label) > maxText || len(f.Reason) > 16*maxText {
		return errs.New(errs.Invalid, "a rung needs a name, a level of isolation and short texts")
	}
	for _, text := range [...]string{f.Label, f.Reason} {
		if err := checkLiteral(ttl.NewString(text)); err != nil {
			return err
		}
	}
	return s.write(ctx, func(t *Tx) error {
		if err := t.removeAll(ttl.Quad{S: iri(f.Name.IRI()), G: iri(ontology.GraphHost)}); err != nil {
			return err
		}
		for _, q := range f.quads() {
			if err := t.add(q); err != nil {
				return err
			}
		}
		return nil
	})
}

// quads returns a rung's statements, all in GraphHost.
func (f RungFacts) quads() (qs []ttl.Quad) {
	add := func(p ontology.IRI, o ttl.Term) {
		qs = append(qs, ttl.Quad{S: iri(f.Name.IRI()), P: iri(p), O: o, G: iri(ontology.GraphHost)})
	}
	add(ontology.RDFType, iri(ontology.ClassRung))
	add(ontology.DCTermsIdentifier, ttl.NewString(string(f.Name)))
	if f.Label != "" {
		add(ontology.RDFSLabel, ttl.NewString(f.Label))
	}
	add(ontology.PropRank, integer(int64(f.Rank)))
	add(ontology.PropIsolation, ttl.NewString(f.Isolation.String()))
	if f.Isolation > ontology.IsolationNone {
		add(ontology.PropHasCapability, iri(ontology.ClassSandboxExecutionCapability))
	}
	if f.WarmFork {
		add(ontology.PropHasCapability, iri(ontology.ClassWarmForkFanoutCapability))
	}
	available := "false"
	if f.Available {
		available = "true"
	}
	add(ontology.PropAvailable, ttl.NewTyped(available, ttl.XSDBoolean))
	if !f.Available && f.Reason != "" {
		add(ontology.PropUnavailableBecause, ttl.NewString(f.Reason))
	}
	return qs
}

// PutCosts records what importing capabilities was measured to cost here, in
// milliseconds. It counts more than what an imported file declares.
func (s *Store) PutCosts(ctx context.Context, costs map[ontology.Capability]float64) error {
	return s.write(ctx, func(t *Tx) error {
		for c, ms := range costs {
			if !(ms >= 0 && ms <= maxMillis) {
				return errs.New(errs.Invalid, "the cost of %s is finite and not below zero", quote(c.Short()))
			}
			q := ttl.Quad{S: iri(c.IRI()), P: iri(ontology.PropWarmMillis), G: iri(ontology.GraphHost)}
			if err := t.removeAll(q); err != nil {
				return err
			}
			q.O = decimal(ms)
			if err := t.Add(q); err != nil {
				return err
			}
		}
		return nil
	})
}
