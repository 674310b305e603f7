package sparql

import (
	"math/bits"

	"github.com/seed-ff860830/banyan/kg"
)

// slotSet is a set of slots: the places of variables in a row.
type slotSet []uint64

func (s slotSet) has(slot int) bool {
	return slot/64 < len(s) && s[slot/64]&(1<<(slot%64)) != 0
}

// with returns the set with some more slots.
func (s slotSet) with(slots ...int) slotSet {
	out := append(slotSet(nil), s...)
	for _, slot := range slots {
		for slot/64 >= len(out) {
			out = append(out, 0)
		}
		out[slot/64] |= 1 << (slot % 64)
	}
	return out
}

// union returns the slots of either set.
func (s slotSet) union(o slotSet) slotSet {
	if len(s) < len(o) {
		s, o = o, s
	}
	out := append(slotSet(nil), s...)
	for i, w := range o {
		out[i] |= w
	}
	return out
}

// common returns the slots of both sets.
func (s slotSet) common(o slotSet) slotSet {
	out := append(slotSet(nil), s[:min(len(s), len(o))]...)
	for i := range out {
		out[i] &= o[i]
	}
	return out
}

// without returns the slots that are not in another set.
func (s slotSet) without(o slotSet) slotSet {
	out := append(slotSet(nil), s...)
	for i := range min(len(s), len(o)) {
		out[i] &^= o[i]
	}
	return out
}

// within reports whether every slot is in another set.
func (s slotSet) within(o slotSet) bool {
	for i, w := range s {
		if i >= len(o) && w != 0 || i < len(o) && w&^o[i] != 0 {
			return false
		}
	}
	return true
}

func (s slotSet) empty() bool { return s.within(nil) }

// list returns the slots in order.
func (s slotSet) list() []int {
	var out []int
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			out = append(out, i*64+bits.TrailingZeros64(w))
		}
	}
	return out
}

// slotsOf is the set of some slots.
func slotsOf(slots ...int) slotSet { return slotSet(nil).with(slots...) }

// appendKey appends the values of some slots, as a key of a map.
func appendKey(key []byte, row []kg.ID, slots []int) []byte {
	for _, s := range slots {
		id := uint64(row[s])
		key = append(key, byte(id>>56), byte(id>>48), byte(id>>40), byte(id>>32), byte(id>>24), byte(id>>16), byte(id>>8), byte(id))
	}
	return key
}
