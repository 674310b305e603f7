package sparql

import "github.com/seed-ff860830/banyan/kg"

// table holds the solutions of a plan, found by the values of its key slots.
type table struct {
	slots []int       // what a row of the table holds
	on    []int       // the key: slots that every row on both sides has bound
	at    map[int]int // where each slot stands in a row of the table
	rows  map[string][][]kg.ID
	bytes int
}

// keptTable is a table with the values that it was made for.
type keptTable struct {
	key string
	t   *table
}

// table returns the solutions of a plan for a base row. It is made once, and
// anew when the base row has other values in what the plan looks at.
func (x *exec) table(p plan, on []int, base []kg.ID) (*table, error) {
	f := p.facts()
	key := string(appendKey(nil, base, f.mentions.list()))
	kept := x.tables[p]
	if kept != nil && kept.key == key {
		return kept.t, nil
	}
	if kept != nil {
		x.release(kept.t.bytes)
	}
	t := &table{slots: f.possible.list(), on: on, rows: map[string][][]kg.ID{}}
	row := append([]kg.ID(nil), base...)
	err := p.run(x, row, func() error { return t.add(x, row) })
	if err != nil {
		return nil, err
	}
	x.tables[p] = &keptTable{key: key, t: t}
	return t, nil
}

// add keeps a row.
func (t *table) add(x *exec, row []kg.ID) error {
	if err := x.tick(); err != nil {
		return err
	}
	vals := make([]kg.ID, len(t.slots))
	for i, s := range t.slots {
		vals[i] = row[s]
	}
	key := string(appendKey(nil, row, t.on))
	t.rows[key] = append(t.rows[key], vals)
	n := 64 + 8*len(vals) + len(key)
	t.bytes += n
	return x.charge(n)
}

// join calls next with each row of the table that agrees with a row.
func (t *table) join(x *exec, row []kg.ID, next func() error) error {
	for _, vals := range t.rows[string(appendKey(nil, row, t.on))] {
		if err := x.tick(); err != nil {
			return err
		}
		if err := merge(row, t.slots, vals, next); err != nil {
			return err
		}
	}
	return nil
}

// takesAway reports whether a row of the table agrees with a row, and has a
// bound variable in common with it.
func (t *table) takesAway(x *exec, row []kg.ID, shared []int) (bool, error) {
	if t.at == nil {
		t.at = make(map[int]int, len(t.slots))
		for i, s := range t.slots {
			t.at[s] = i
		}
	}
	for _, vals := range t.rows[string(appendKey(nil, row, t.on))] {
		if err := x.tick(); err != nil {
			return false, err
		}
		agree, common := true, false
		for _, s := range shared {
			v := vals[t.at[s]]
			if v == 0 || row[s] == 0 {
				continue
			}
			agree = agree && v == row[s]
			common = true
		}
		if agree && common {
			return true, nil
		}
	}
	return false, nil
}
