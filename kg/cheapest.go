package kg

import "math/bits"

// planes count, for each of 64 ordinals, how many sets it is in: bit i of the
// count of ordinal j is bit j of plane i. Adding a set to all 64 counts is one
// ripple-carry addition (bit-slicing, as of O'Neil and Quass, 1997). A count is
// never more than the closure holds, and that is far below the million that the
// planes can count.
type planes struct {
	bits [20]uint64
	used int
}

// add counts one more for the ordinals of a word.
func (p *planes) add(carry uint64) {
	for i := 0; carry != 0 && i < len(p.bits); i++ {
		p.bits[i], carry = p.bits[i]^carry, p.bits[i]&carry
		p.used = max(p.used, i+1)
	}
}

// count returns the count of one ordinal.
func (p *planes) count(ord int) (n int) {
	for i := range p.used {
		n |= int(p.bits[i]>>ord&1) << i
	}
	return n
}

// least returns the ordinals whose count is n or more.
func (p *planes) least(n int) uint64 {
	if n <= 0 {
		return ^uint64(0)
	}
	if n>>p.used != 0 {
		return 0
	}
	more, same := uint64(0), ^uint64(0)
	for i := p.used - 1; i >= 0; i-- {
		if n>>i&1 == 1 {
			same &= p.bits[i]
		} else {
			more |= same & p.bits[i]
			same &^= p.bits[i]
		}
	}
	return more | same
}

// cheapest calls offer with the live ordinals whose nodes provide all of need
// and declare at most bound() capabilities beyond the closure, and with how
// many those are. bound may fall with what was offered. What a node declares
// beyond is told from postings, so that of the many that are too dear none is
// fetched.
func (g *segment) cheapest(need, closure []uint32, bound func() int, offer func(ord uint16, extra int)) {
	ps, ok := g.gather(need)
	if !ok {
		return
	}
	var inside []posting
	for _, c := range closure {
		if p, ok := g.declares.find(c); ok {
			inside = append(inside, p)
		}
	}
	if len(ps) > 0 && ps[0].words == nil {
		g.filterList(ps[0].list, ps[1:], func(ord uint16) bool {
			extra, most := int(g.sizes[ord]), bound()
			if extra-len(inside) > most {
				return false // and so are all that follow
			}
			for i := range inside {
				if inside[i].at(ord) {
					extra--
				}
			}
			if extra <= most {
				offer(ord, extra)
			}
			return true
		})
		return
	}
	for w := range g.dead {
		word := g.both(ps, w)
		if word == 0 {
			continue
		}
		size, most := int(g.sizes[w*64]), bound() // no node of the word declares less
		if size-len(inside) > most {
			return
		}
		var in planes
		for i := range inside {
			in.add(inside[i].word(w) & word)
		}
		for word &= in.least(size - most); word != 0; word &= word - 1 {
			at := bits.TrailingZeros64(word)
			ord := uint16(w*64 + at)
			if extra := int(g.sizes[ord]) - in.count(at); extra <= bound() {
				offer(ord, extra)
			}
		}
	}
}
