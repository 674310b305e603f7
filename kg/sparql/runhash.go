package sparql

import "github.com/seed-ff860830/banyan/kg"

// A step that is run with many rows costs a seek in the store for each, about
// what reading hashWorth rows in order costs. So a step counts its seeks, and
// once they have cost what reading its whole range would, the range is read
// into a table and looked up there. Whatever the number of rows turns out to
// be, this takes at most about twice the better of the two ways, and needs no
// estimate.
const (
	hashAfter = 64 // seeks before a table is tried, then 4 times as many each time
	hashWorth = 12 // rows read for one seek
)

// tableRowBytes is what a row of a step's table costs, about.
const tableRowBytes = 112

// hashing is what a step knows of being run with its subject or object bound.
type hashing struct {
	seeks, at int
	never     bool // its range is too large to keep
	table     *stepTable
}

// stepTable holds the matches of a step's constants by the ends that are bound
// where it is looked up.
type stepTable struct {
	head map[[2]kg.ID]int32
	next []int32
	rows []quad
}

// hashKey returns the key of a row, and which of a step's ends are variables
// bound in it: 1 the subject, 2 the object.
func (s *step) hashKey(row []kg.ID) (key [2]kg.ID, ends int) {
	if s.s.slot >= 0 && row[s.s.slot] != 0 {
		key[0], ends = row[s.s.slot], 1
	}
	if s.o.slot >= 0 && row[s.o.slot] != 0 {
		key[1], ends = row[s.o.slot], ends|2
	}
	return key, ends
}

// hashed returns the step's table for a row like this one, nil if it is to be
// looked up in the store.
func (x *exec) hashed(s *step, row []kg.ID) (t *stepTable, key [2]kg.ID, err error) {
	if s.path != nil || s.p.slot >= 0 || s.graph.kind == inSlot || x.o.bottomUp {
		return nil, key, nil
	}
	key, ends := s.hashKey(row)
	if ends == 0 {
		return nil, key, nil
	}
	h := s.hash[ends]
	if h == nil {
		h = &hashing{at: x.o.hashAfter}
		s.hash[ends] = h
	}
	if h.table != nil || h.never {
		return h.table, key, nil
	}
	if h.seeks++; h.seeks < h.at {
		return nil, key, nil
	}
	h.at *= 4
	err = x.fillTable(s, h, ends, hashWorth*h.seeks)
	return h.table, key, err
}

// fillTable reads a step's range into a table, unless it has more rows than
// most or what it takes would leave too little of the run's memory.
func (x *exec) fillTable(s *step, h *hashing, ends, most int) error {
	room := (x.o.MaxMemory/2 - x.held) / tableRowBytes
	if s.onlyPredicate() && s.graph.kind == inDefault && x.ds.all {
		if kept, err := x.sc.PredicateCount(s.p.id); err != nil || kept > int64(most) {
			return err // not worth it yet; there is no need to read to know
		}
	}
	t := &stepTable{}
	for q, err := range x.scan(s.graph, nil, s.s.fixed(), s.p.fixed(), s.o.fixed()) {
		if err == nil {
			err = x.tick()
		}
		if err != nil {
			return err
		}
		if int64(len(t.rows)) >= room {
			h.never = true
			return nil
		}
		if len(t.rows) >= most {
			return nil
		}
		t.rows = append(t.rows, q)
	}
	t.index(ends)
	h.table = t
	x.o.seen.hash()
	x.lent = append(x.lent, h)
	bytes := tableRowBytes * len(t.rows)
	x.lentBytes += bytes
	return x.charge(bytes)
}

// index files the matches under their bound ends.
func (t *stepTable) index(ends int) {
	t.head = make(map[[2]kg.ID]int32, len(t.rows))
	t.next = make([]int32, len(t.rows))
	for i, q := range t.rows {
		var key [2]kg.ID
		if ends&1 != 0 {
			key[0] = q.s
		}
		if ends&2 != 0 {
			key[1] = q.o
		}
		before, ok := t.head[key]
		if !ok {
			before = -1
		}
		t.next[i], t.head[key] = before, int32(i)
	}
}

// each binds the matches of a key in turn.
func (t *stepTable) each(x *exec, s *step, key [2]kg.ID, row []kg.ID, next func() error) error {
	i, ok := t.head[key]
	for ; ok; i, ok = t.next[i], t.next[i] >= 0 {
		if err := x.tick(); err != nil {
			return err
		}
		if err := s.bind(row, t.rows[i], next); err != nil {
			return err
		}
	}
	// A seek would have looked at the context as well.
	return x.tick()
}

// takeBack gives up the tables of steps, which only save time, for memory that
// the query cannot do without.
func (x *exec) takeBack() {
	for _, h := range x.lent {
		h.table, h.never = nil, true
	}
	x.lent = nil
	x.release(x.lentBytes)
	x.lentBytes = 0
}
