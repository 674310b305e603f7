package ttl

import (
	"bytes"
	"strconv"
)

// newBlank makes a node with a label that no document can write: see
// IsGenerated.
func (r *Reader) newBlank() Term {
	r.blanks++
	return Term{Kind: Blank, Value: generatedMark + strconv.FormatInt(r.blanks, 10)}
}

// push opens a bracket, which stands at a place and whose node is n.
func (r *Reader) push(asSubject bool, n Term, at Position) bool {
	if len(r.stack) >= r.lim.Depth {
		return r.overLimitAt("Depth", at)
	}
	f := frame{mode: r.mode, asSubject: asSubject, subj: r.subj, pred: r.pred}
	if asSubject {
		f.subj = n
	}
	r.stack = append(r.stack, f)
	return true
}

// pop closes a bracket and reports whether it was a subject.
func (r *Reader) pop() (asSubject bool) {
	f := r.stack[len(r.stack)-1]
	r.stack = r.stack[:len(r.stack)-1]
	r.mode, r.subj, r.pred = f.mode, f.subj, f.pred
	r.afterObject()
	return f.asSubject
}

// openBrackets reads '[', and the ']' of an empty pair.
func (r *Reader) openBrackets(asSubject bool) bool {
	at := r.here()
	r.pos++
	node := r.newBlank()
	c, _ := r.skip()
	switch empty := c == ']'; {
	case empty && asSubject:
		r.pos++
		return r.setSubject(node)
	case empty:
		r.pos++
		return r.setObject(node, at)
	case !r.push(asSubject, node, at):
		return false
	case !asSubject && !r.setObject(node, at):
		return false
	}
	r.mode, r.subj, r.state = inBrackets, node, atVerb
	return true
}

// openList reads '(', and the ')' of an empty pair.
func (r *Reader) openList(asSubject bool) bool {
	at := r.here()
	r.pos++
	c, _ := r.skip()
	if c == ')' {
		r.pos++
		if asSubject {
			return r.setSubject(termNil)
		}
		return r.setObject(termNil, at)
	}
	cell := r.newBlank()
	if !r.push(asSubject, cell, at) || !asSubject && !r.setObject(cell, at) {
		return false
	}
	r.mode, r.subj, r.pred, r.state = inList, cell, termFirst, atFirstItem
	return true
}

// readItem reads an item of a collection into a new cell, or its end.
func (r *Reader) readItem() bool {
	c, _ := r.skip()
	at := r.here()
	switch {
	case c == ')':
		r.pos++
		last := r.subj
		if r.pop() {
			r.state = atVerb
		}
		return r.emit(Triple{last, termRest, termNil}, at)
	case r.state == atItem && !r.startsObject(c):
		return r.unexpected("an item or ')'")
	case r.state == atItem:
		cell := r.newBlank()
		if !r.emit(Triple{r.subj, termRest, cell}, at) {
			return false
		}
		r.subj = cell
	}
	return r.readObject()
}

// startsObject reports whether an object may begin with c.
func (r *Reader) startsObject(c byte) bool {
	return is(c, classAlpha|classDigit) || c >= 0x80 || bytes.IndexByte([]byte("<\"':+-._[("), c) >= 0
}
