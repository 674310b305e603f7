package ttl

// readLine reads one statement of N-Triples or N-Quads, which is a line of its
// own. Unlike in Turtle, a statement does not go over a line's end, and
// another may not follow on the same line.
func (r *Reader) readLine() bool {
	if !r.toStatement() {
		return false
	}
	var t Triple
	var ok bool
	if t.S, ok = r.lineNode("a subject: an IRI or a blank node"); !ok {
		return false
	}
	if c, _ := r.skipBlanks(); c != '<' {
		return r.unexpected("a predicate: an IRI")
	}
	t.P.Kind = IRI
	if t.P.Value, ok = r.readIRIRef(); !ok {
		return false
	}
	c, _ := r.skipBlanks()
	at := r.here()
	if c == '"' {
		t.O, ok = r.readLiteral()
	} else {
		t.O, ok = r.lineNode("an object: an IRI, a blank node or a literal")
	}
	if !ok {
		return false
	}
	r.graph = Term{}
	if c, _ := r.skipBlanks(); r.format == NQuads && (c == '<' || c == '_') {
		if r.graph, ok = r.lineNode("a graph"); !ok {
			return false
		}
		r.termBytes += int64(len(r.graph.Value))
	}
	return r.toLineEnd() && r.emit(t, at)
}

// toStatement passes over empty lines and comments.
func (r *Reader) toStatement() bool {
	for {
		switch c, ok := r.skipBlanks(); {
		case !ok:
			return r.finish()
		case c == '\n' || c == '\r':
			r.advance(r.pos + 1)
		case c == '#':
			if !r.comment() {
				return r.failUTF8(r.pos)
			}
		default:
			return true
		}
	}
}

// toLineEnd reads the dot and what may follow it on its line.
func (r *Reader) toLineEnd() bool {
	if c, _ := r.skipBlanks(); c != '.' {
		return r.unexpected("'.' at the end of the statement")
	}
	r.pos++
	c, ok := r.skipBlanks()
	if ok && c == '#' {
		if !r.comment() {
			return r.failUTF8(r.pos)
		}
		c, ok = r.skipBlanks()
	}
	if ok && c != '\n' && c != '\r' {
		return r.unexpected("the end of the line after '.'")
	}
	return true
}

// lineNode reads an IRI or a blank node.
func (r *Reader) lineNode(want string) (Term, bool) {
	switch c, _ := r.skipBlanks(); c {
	case '<':
		s, ok := r.readIRIRef()
		return Term{Kind: IRI, Value: s}, ok
	case '_':
		s, ok := r.readBlankLabel()
		return Term{Kind: Blank, Value: s}, ok
	}
	return Term{}, r.unexpected(want)
}
