package kg

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/seed-ff860830/banyan/ontology"
)

// loaded is what was read of the snapshots' graph: nodes with the numbers of
// names, which are sorted. whole is false if a subject that is no snapshot, or
// cannot be read, provides something.
type loaded struct {
	nodes []*node
	names []ontology.Capability
	whole bool
}

// telling are the properties that a snapshot is made of.
var telling = []ontology.IRI{
	ontology.PropDerivedFrom, ontology.PropRung, ontology.PropRuntime, ontology.PropSpecKey, ontology.PropState,
	ontology.PropDeclares, ontology.PropProvides, ontology.PropWarmMillis, ontology.PropResidentBytes,
	ontology.PropCreatedAt, ontology.PropExpiresAt, ontology.PropNode, ontology.PropStateChangedAt, ontology.PropStateReason,
}

// loader is what the goroutines that read the snapshots' graph share.
type loader struct {
	r     *ReadTx
	g     ID
	props map[ID]ontology.IRI
	nums  numbering
}

// loadSnapshots reads every snapshot of the view. The graph is read once, in
// the order of its subjects, in ranges that all processors share; terms are
// compared as ids, and the text of each capability is read once.
func (r *ReadTx) loadSnapshots() (*loaded, error) {
	all := &loaded{whole: true}
	l := &loader{r: r, props: map[ID]ontology.IRI{}}
	name, _, ok, err := r.s.dict.find(r.txn, iri(ontology.GraphSnapshots))
	if err != nil || !ok {
		return all, err
	}
	if l.g, ok = r.graphs.numberOf(name); !ok {
		return all, nil
	}
	for _, p := range telling {
		id, _, ok, err := r.s.dict.find(r.txn, iri(p))
		if err != nil {
			return nil, err
		}
		if ok {
			l.props[id] = p
		}
	}
	parts, err := l.readAll()
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		all.nodes = append(all.nodes, p.nodes...)
		all.whole = all.whole && p.whole
	}
	all.names, err = l.number(all.nodes)
	return all, err
}

// loadRange is how many subjects' numbers a goroutine takes at a time, at least.
const loadRange = 1 << 13

// readAll reads the graph in ranges of subjects.
func (l *loader) readAll() ([]*loading, error) {
	first := kindIRI << kindShift
	step := max(ID(l.r.meta.nextTerm)/64+1, loadRange)
	var parts []*loading
	group, ctx := errgroup.WithContext(l.r.ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for lo := first; lo < first+ID(l.r.meta.nextTerm)+1; lo += step {
		parts = append(parts, &loading{loader: l, lo: lo, hi: lo + step})
	}
	parts[0].lo, parts[len(parts)-1].hi = 0, math.MaxUint64 // blank nodes as well
	for _, p := range parts {
		group.Go(func() error { return p.read(ctx) })
	}
	return parts, group.Wait()
}

// number gives the capabilities numbers in the order of their names, and every
// node those numbers, sorted.
func (l *loader) number(nodes []*node) ([]ontology.Capability, error) {
	type named struct {
		name ontology.Capability
		was  int
	}
	found := make([]named, len(l.nums.list))
	terms := newTermReader(l.r.txn)
	defer terms.close()
	for i, id := range l.nums.list {
		t, err := terms.term(id)
		if err != nil {
			return nil, err
		}
		found[i] = named{ontology.Capability(t.Value), i}
	}
	slices.SortFunc(found, func(a, b named) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	names, now := make([]ontology.Capability, len(found)), make([]uint32, len(found))
	for i, f := range found {
		names[i], now[f.was] = f.name, uint32(i)
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for part := range slices.Chunk(nodes, loadRange) {
		group.Go(func() error {
			for _, n := range part {
				renumber(n.declares, now)
				renumber(n.provides, now)
			}
			return nil
		})
	}
	return names, group.Wait()
}

func renumber(held, now []uint32) {
	for i, c := range held {
		held[i] = now[c]
	}
	slices.Sort(held)
}

// numbering gives ids of capabilities numbers as they are seen. Safe for
// concurrent use.
type numbering struct {
	mu   sync.Mutex
	of   map[ID]uint32
	list []ID
}

func (n *numbering) number(id ID) uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	num, ok := n.of[id]
	if !ok {
		if n.of == nil {
			n.of = map[ID]uint32{}
		}
		num = uint32(len(n.list))
		n.of[id] = num
		n.list = append(n.list, id)
	}
	return num
}

// loading is the reading of one range of subjects.
type loading struct {
	*loader
	lo, hi ID
	nodes  []*node
	whole  bool

	terms *termReader
	nums  map[ID]uint32 // of the shared numbering, those met here
	kinds map[shardKey]*shardKey
	at    aboutOne
}

// read reads the range.
func (l *loading) read(ctx context.Context) error {
	l.whole, l.nums, l.kinds = true, map[ID]uint32{}, map[shardKey]*shardKey{}
	l.terms = newTermReader(l.r.txn)
	defer l.terms.close()
	prefix := prefixKey(tagGSPO, l.g)
	it := l.r.txn.NewIterator(iterateKeys(prefix))
	defer it.Close()
	n := 0
	for it.Seek(prefixKey(tagGSPO, l.g, l.lo)); it.ValidForPrefix(prefix); it.Next() {
		if n++; n%checkEvery == 0 && ctx.Err() != nil {
			return storeErr("read the snapshots", ctx.Err())
		}
		w, ok := parseRow(it.Item().Key())
		if !ok {
			return errLost("a row of the store is damaged")
		}
		if w.s >= l.hi {
			break
		}
		if w.s != l.at.id {
			if err := l.flush(); err != nil {
				return err
			}
			l.at.reset(w.s)
		}
		if p, ok := l.props[w.p]; ok {
			l.take(p, w.o)
		}
	}
	return l.flush()
}
