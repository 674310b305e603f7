package kg

import (
	"cmp"
	"time"

	"github.com/seed-ff860830/banyan/ontology"
)

// node is one snapshot in memory, kept small since there may be a million.
// Nodes are immutable once they are shown; a change makes another.
type node struct {
	id       ontology.SnapshotID
	parent   ontology.SnapshotID
	shard    *shardKey // one for all nodes of the shard
	specKey  ontology.SpecKey
	host     string
	why      string
	iri      ID       // of the term that is the snapshot's node in the graph
	declares []uint32 // sorted symbols
	provides []uint32
	warm     float64
	saved    float64 // warm-up of the snapshot and all its ancestors, milliseconds
	bytes    int64
	created  int64 // instants as milliseconds since 1970
	expires  int64
	changed  int64
	state    ontology.SnapshotState
	mark     uint8 // how far saveAll has come with it; not used later
}

// newNode makes the node of a snapshot; its shard is to be set yet, and its
// savings to be summed. The caller gives the numbers of what it declares and
// provides.
func newNode(sn *Snapshot, iri ID, declares, provides []uint32) *node {
	return &node{
		id: sn.ID, parent: sn.DerivedFrom, specKey: sn.SpecKey, host: sn.Node, why: sn.StateReason, iri: iri,
		declares: declares, provides: provides,
		warm: sn.WarmMillis, bytes: sn.ResidentBytes,
		created: sn.CreatedAt.UnixMilli(), expires: sn.ExpiresAt.UnixMilli(), changed: sn.StateChangedAt.UnixMilli(),
		state: sn.State,
	}
}

// snapshot returns a node as its typed form.
func (v *View) snapshot(n *node) Snapshot {
	return Snapshot{
		ID: n.id, DerivedFrom: n.parent, Rung: n.shard.rung, Runtime: n.shard.runtime,
		SpecKey: n.specKey, State: n.state,
		Declares: v.syms.list(n.declares), Provides: v.syms.list(n.provides),
		WarmMillis: n.warm, ResidentBytes: n.bytes,
		// The zero instant comes back as itself.
		CreatedAt: time.UnixMilli(n.created).UTC(), ExpiresAt: time.UnixMilli(n.expires).UTC(),
		Node: n.host, StateChangedAt: time.UnixMilli(n.changed).UTC(), StateReason: n.why,
	}
}

// forkable reports whether the planner may be shown the snapshot.
func (n *node) forkable() bool {
	return n.state == ontology.StateLive || n.state == ontology.StateStored
}

// compareTie orders nodes that cost the same.
func compareTie(a, b *node) int {
	return cmp.Or(cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.id, b.id))
}

// compareCost orders nodes as a segment does: fewest declared capabilities,
// then fewest resident bytes, then id.
func compareCost(a, b *node) int {
	return cmp.Or(cmp.Compare(len(a.declares), len(b.declares)), compareTie(a, b))
}

// compareSaved orders nodes by how much warm-up they save, most first.
func compareSaved(a, b *node) int {
	return cmp.Or(cmp.Compare(b.saved, a.saved), compareTie(a, b))
}

// once keeps one copy of each of a few texts. It forgets all of them when they
// become many, which costs memory and nothing else.
type once map[string]string

// maxOnce bounds the texts.
const maxOnce = 1 << 12

func (o *once) one(s string) string {
	if kept, ok := (*o)[s]; ok {
		return kept
	}
	if *o == nil || len(*o) >= maxOnce {
		*o = once{}
	}
	(*o)[s] = s
	return s
}
