package kg

import (
	"strings"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// arguments checks the list behind bn:arguments: whole, of strings, not
// circular, and not too long.
func (c *checker) arguments(w docRow) {
	if c.lists == nil {
		c.indexLists()
	}
	seen := map[uint32]bool{}
	for cell := w.o; c.d.terms[cell].Value != ttl.RDFNil; {
		links := c.lists[cell]
		if seen[cell] || len(links[0]) != 1 || len(links[1]) != 1 {
			c.fault(w, ontology.PropArguments, "the list of bn:arguments is broken")
			return
		}
		seen[cell] = true
		if len(seen) > maxArguments {
			c.fault(w, ontology.PropArguments, "bn:arguments has too many items")
			return
		}
		s, ok := plain(c.d, links[0][0])
		if !ok || len(s) > maxPath || strings.Contains(s, "\x00") {
			c.fault(w, ontology.PropArguments, "bn:arguments is a list of short strings, and not of "+c.d.show(links[0][0]))
			return
		}
		cell = links[1][0]
	}
}

// indexLists finds the cells of all lists.
func (c *checker) indexLists() {
	c.lists = map[uint32][2][]uint32{}
	for _, w := range c.d.rows {
		var i int
		switch c.d.terms[w.p].Value {
		case ttl.RDFFirst:
			i = 0
		case ttl.RDFRest:
			i = 1
		default:
			continue
		}
		links := c.lists[w.s]
		links[i] = append(links[i], w.o)
		c.lists[w.s] = links
	}
}
