package sparql

import (
	"iter"
	"slices"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// indexed takes the patterns of a star that the capability index answers, those
// of bn:provides, where the index is that of the graph that is looked in. It
// returns the subjects that match them, and the patterns that are left; found
// is nil if the index has no say.
func (x *exec) indexed(rays []*step, num kg.ID) (found iter.Seq2[kg.ID, error], rest []*step, err error) {
	if num != 0 {
		snapshots, _, ok, err := graphOf(x, ttl.NewIRI(string(ontology.GraphSnapshots)))
		if err != nil || !ok || num != snapshots {
			return nil, rays, err
		}
	} else if !x.ds.all {
		return nil, rays, nil // some graphs, but not all
	}
	provides, ok, err := x.sc.Find(ttl.NewIRI(string(ontology.PropProvides)))
	if err != nil || !ok {
		return nil, rays, err
	}
	var caps []kg.ID
	for _, ray := range rays {
		if ray.p.id == provides {
			caps = append(caps, ray.o.id)
		} else {
			rest = append(rest, ray)
		}
	}
	if len(caps) == 0 {
		return nil, rays, nil
	}
	if found, ok = x.sc.Providers(caps); !ok {
		return nil, rays, nil
	}
	x.o.seen.index()
	return found, rest, nil
}

// The subjects that the index finds are sorted in batches, so that the cursors
// go through their ranges in order; the first batch is small for a query that
// needs just a few.
const (
	firstBatch = 256
	lastBatch  = 1 << 16
)

// sift emits those of the index's subjects that the star's other patterns
// match as well.
func (r *starRun) sift(found iter.Seq2[kg.ID, error]) error {
	size := firstBatch
	if len(r.cursors) == 0 {
		size = 1
	}
	var batch []kg.ID
	for s, err := range found {
		if err == nil {
			err = r.x.tick()
		}
		if err != nil {
			return err
		}
		if batch = append(batch, s); len(batch) < size {
			continue
		}
		if err := r.check(batch); err != nil {
			return err
		}
		batch = batch[:0]
		if size > 1 {
			size = min(2*size, lastBatch)
		}
	}
	return r.check(batch)
}

// check emits the subjects of a batch that every cursor has.
func (r *starRun) check(batch []kg.ID) error {
	slices.Sort(batch)
next:
	for _, s := range batch {
		if err := r.x.tick(); err != nil {
			return err
		}
		for _, c := range r.cursors {
			at, ok, err := c.Seek(s)
			if err != nil {
				return err
			}
			if !ok || at != s {
				continue next
			}
		}
		if err := r.emit(s); err != nil {
			return err
		}
	}
	return nil
}
