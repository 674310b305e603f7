package kg

import "encoding/binary"

// checkCounts recounts the rows of each predicate under each graph number, and
// holds them against the counts that are kept. The rows come by predicate, so
// no more than one predicate's counts are in memory.
func (d *deepCheck) checkCounts() error {
	var kept, found digest
	var entry [3 * 8]byte
	err := d.each(tagCount, true, func(key, value []byte) error {
		if len(key) != 17 || len(value) != 8 {
			return errLost("a count of the store is damaged")
		}
		copy(entry[:16], key[1:])
		copy(entry[16:], value)
		kept.add(entry[:])
		return nil
	})
	if err != nil {
		return err
	}
	var p ID
	rows := map[ID]uint64{} // of p, by graph
	flush := func() {
		for g, n := range rows {
			for i, id := range [...]uint64{uint64(p), uint64(g), n} {
				binary.BigEndian.PutUint64(entry[8*i:], id)
			}
			found.add(entry[:])
		}
		clear(rows)
	}
	err = d.each(tagPOSG, false, func(key, _ []byte) error {
		w, ok := parseRow(key)
		if !ok {
			return errLost("a row of the store is damaged")
		}
		if w.p != p {
			flush()
			p = w.p
		}
		rows[w.g]++
		return nil
	})
	flush()
	if err == nil && kept != found {
		err = errLost("the counts of the predicates are not those of the rows")
	}
	return err
}
