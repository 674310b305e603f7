package kg

import (
	"slices"
	"sync"

	"github.com/seed-ff860830/banyan/ontology"
)

// symbols numbers the capabilities that snapshots hold, so that the index
// compares numbers. Numbers are never taken back; the whole table is made anew
// when the index is. Safe for concurrent use.
type symbols struct {
	mu    sync.RWMutex
	ids   map[ontology.Capability]uint32
	names []ontology.Capability
	named int // the first so many numbers are in the order of names
}

func newSymbols() *symbols { return &symbols{ids: map[ontology.Capability]uint32{}} }

// numberAll makes a table of capabilities that are distinct and sorted.
func numberAll(names []ontology.Capability) *symbols {
	s := &symbols{ids: make(map[ontology.Capability]uint32, len(names)), names: names, named: len(names)}
	for i, c := range names {
		s.ids[c] = uint32(i)
	}
	return s
}

// intern returns the numbers of capabilities, sorted and without duplicates.
func (s *symbols) intern(cs []ontology.Capability) []uint32 {
	out := make([]uint32, 0, len(cs))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range cs {
		id, ok := s.ids[c]
		if !ok {
			id = uint32(len(s.names))
			s.ids[c] = id
			s.names = append(s.names, c)
		}
		out = append(out, id)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// find returns the numbers of the capabilities that have one, sorted; all is
// false if some have none, which no snapshot can hold.
func (s *symbols) find(cs []ontology.Capability) (ids []uint32, all bool) {
	all = true
	ids = make([]uint32, 0, len(cs))
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, c := range cs {
		if id, ok := s.ids[c]; ok {
			ids = append(ids, id)
		} else {
			all = false
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), all
}

// list returns the capabilities of sorted numbers, sorted by name.
func (s *symbols) list(ids []uint32) []ontology.Capability {
	out := make([]ontology.Capability, len(ids))
	s.mu.RLock()
	for i, id := range ids {
		out[i] = s.names[id]
	}
	named := len(ids) == 0 || int(ids[len(ids)-1]) < s.named
	s.mu.RUnlock()
	if !named {
		slices.Sort(out)
	}
	return out
}

// len returns how many capabilities have a number.
func (s *symbols) len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.names)
}

// subset reports whether every number of a is in b; both are sorted.
func subset(a, b []uint32) bool {
	if len(a) > len(b) {
		return false
	}
	for _, x := range a {
		i, ok := slices.BinarySearch(b, x)
		if !ok {
			return false
		}
		b = b[i+1:]
	}
	return true
}

// common returns how many numbers a and b share; both are sorted.
func common(a, b []uint32) (n int) {
	if len(a) > len(b) {
		a, b = b, a
	}
	for _, x := range a {
		i, ok := slices.BinarySearch(b, x)
		if ok {
			n++
			i++
		}
		b = b[i:]
	}
	return n
}
