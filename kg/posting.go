package kg

import (
	"cmp"
	"math"
	"slices"
)

// posting is a set of a segment's ordinals: words if it is dense, else a
// sorted list.
type posting struct {
	words []uint64
	list  []uint16
	count int
}

// at reports whether an ordinal is in the posting. It is asked with rising
// ordinals: of a list, what lies before is dropped.
func (p *posting) at(ord uint16) bool {
	if p.words != nil {
		return p.words[ord/64]>>(ord%64)&1 == 1
	}
	p.list = p.list[gallop(p.list, ord):]
	return len(p.list) > 0 && p.list[0] == ord
}

// word returns the posting's ordinals from 64*w on, one bit each. It is asked
// with rising w, as at is.
func (p *posting) word(w int) (bits uint64) {
	if p.words != nil {
		return p.words[w]
	}
	p.list = p.list[gallop(p.list, uint16(w*64)):]
	for len(p.list) > 0 && int(p.list[0]/64) == w {
		bits |= 1 << (p.list[0] % 64)
		p.list = p.list[1:]
	}
	return bits
}

// gallop returns how many numbers at the list's beginning are below ord: steps
// that double, then a search between the last two (Bentley and Yao, 1976).
func gallop(list []uint16, ord uint16) int {
	if len(list) == 0 || list[0] >= ord {
		return 0
	}
	lo, hi := 0, 1 // list[lo] < ord
	for hi < len(list) && list[hi] < ord {
		lo, hi = hi, hi*2
	}
	hi = min(hi, len(list))
	i, _ := slices.BinarySearch(list[lo+1:hi], ord)
	return lo + 1 + i
}

// postings are the postings of a segment by symbol, in three arrays rather
// than a map, since most segments are small and most postings are short.
type postings struct {
	entries []entry // by symbol
	ords    []uint16
	words   []uint64
	width   int    // words of a dense posting
	limit   uint32 // a posting of more ordinals is dense
}

// entry says where the posting of a symbol is: from off on in ords, or the row
// off of words.
type entry struct{ sym, off, count uint32 }

// sparse is the limit for postings that are always lists.
const sparse = math.MaxUint32

// find returns the posting of a symbol; ok is false if it is empty.
func (p *postings) find(sym uint32) (posting, bool) {
	i, ok := slices.BinarySearchFunc(p.entries, sym, func(e entry, sym uint32) int { return cmp.Compare(e.sym, sym) })
	if !ok {
		return posting{}, false
	}
	e := p.entries[i]
	if e.count > p.limit {
		return posting{words: p.words[int(e.off)*p.width:][:p.width], count: int(e.count)}, true
	}
	return posting{list: p.ords[e.off:][:e.count], count: int(e.count)}, true
}

// tally counts symbols. It is for one goroutine, and used over and over, so
// that a small segment does not pay for the number of all symbols.
type tally struct {
	counts []uint32 // by symbol; all zero between uses
	seen   []uint32 // the symbols whose count is not zero
}

// grow makes room for symbols.
func (t *tally) grow(symbols int) {
	if symbols > len(t.counts) {
		t.counts = make([]uint32, symbols+symbols/4)
	}
}

func (t *tally) add(sym uint32) {
	if t.counts[sym] == 0 {
		t.seen = append(t.seen, sym)
	}
	t.counts[sym]++
}

// reset makes all counts zero.
func (t *tally) reset() {
	for _, c := range t.seen {
		t.counts[c] = 0
	}
	t.seen = t.seen[:0]
}

// layout turns the counts into postings of that size, which are to be filled
// through the returned filler, and then the tally reset.
func (t *tally) layout(nodes int, limit uint32) (*postings, *filler) {
	slices.Sort(t.seen)
	p := &postings{entries: make([]entry, len(t.seen)), width: (nodes + 63) / 64, limit: limit}
	f := &filler{p: p, index: t.counts, next: make([]uint32, len(t.seen))}
	var lists, rows uint32
	for i, sym := range t.seen {
		e := entry{sym: sym, off: lists, count: t.counts[sym]}
		if e.count > limit {
			e.off = rows
			rows++
		} else {
			lists += e.count
		}
		p.entries[i], f.next[i] = e, e.off
		t.counts[sym] = uint32(i) + 1 // from here on the index, and never zero
	}
	p.ords = make([]uint16, lists)
	p.words = make([]uint64, int(rows)*p.width)
	return p, f
}

// filler puts ordinals into postings that have room for them.
type filler struct {
	p     *postings
	index []uint32 // by symbol, one more than the index of its entry
	next  []uint32
}

// put adds an ordinal to a symbol's posting. Ordinals come in rising order, or
// in the order that a list is to have.
func (f *filler) put(sym uint32, ord uint16) {
	i := f.index[sym] - 1
	if e := &f.p.entries[i]; e.count > f.p.limit {
		f.p.words[int(e.off)*f.p.width+int(ord/64)] |= 1 << (ord % 64)
		return
	}
	f.p.ords[f.next[i]] = ord
	f.next[i]++
}
