package ttl

// readAtDirective reads @prefix or @base, which end with a dot. Their names
// count case, other than those of the SPARQL form.
func (r *Reader) readAtDirective() bool {
	n := 1
	for is(r.at(n), classAlpha) && n <= len("@prefix") {
		n++
	}
	switch string(r.buf[r.pos : r.pos+n]) {
	case "@prefix":
		r.pos += n
		return r.readPrefix() && r.readDirectiveDot()
	case "@base":
		r.pos += n
		return r.readBase() && r.readDirectiveDot()
	}
	return r.fail(r.pos, "expected @prefix or @base")
}

func (r *Reader) readDirectiveDot() bool {
	if c, _ := r.skip(); c != '.' {
		return r.unexpected("'.' at the end of the directive")
	}
	r.pos++
	return true
}

// readPrefix reads the name and IRI of a prefix and puts it into force.
func (r *Reader) readPrefix() bool {
	const want = "a prefix's name and ':'"
	c, _ := r.skip()
	if c != ':' && !is(c, classAlpha) && c < 0x80 {
		return r.unexpected(want)
	}
	i, wide, ok := r.scanPrefix()
	if !ok {
		return false
	}
	if r.at(i-r.pos) != ':' {
		return r.fail(i, "expected %s", want)
	}
	name := string(r.buf[r.pos:i])
	if len(name) > r.lim.IRIBytes {
		return r.overLimit("IRIBytes")
	}
	r.pass(i+1, wide)
	if c, _ := r.skip(); c != '<' {
		return r.unexpected("the prefix's IRI in '<' and '>'")
	}
	iri, ok := r.readIRIRef()
	if !ok {
		return false
	}
	old, again := r.prefixes[name]
	switch {
	case again && old.iri != iri:
		r.names.forget()
	case !again && len(r.prefixes) >= r.lim.Prefixes:
		return r.overLimit("Prefixes")
	}
	r.prefixes[name] = namespace{name, iri}
	return true
}

// readBase reads a new base.
func (r *Reader) readBase() bool {
	if c, _ := r.skip(); c != '<' {
		return r.unexpected("the base's IRI in '<' and '>'")
	}
	iri, ok := r.readIRIRef()
	if ok {
		r.base = iri
	}
	return ok
}

// readLiteral reads a quoted literal with its language tag or datatype.
func (r *Reader) readLiteral() (Term, bool) {
	t := Term{Kind: Literal}
	var ok bool
	if t.Value, ok = r.readString(); !ok {
		return t, false
	}
	var c byte
	if r.format == Turtle {
		c, _ = r.skip()
	} else {
		c, _ = r.skipBlanks()
	}
	switch {
	case c == '@':
		t.Lang, ok = r.readLanguage()
	case c == '^':
		if r.at(1) != '^' {
			return t, r.fail(r.pos, "expected \"^^\" and a datatype")
		}
		r.pos += 2
		t.Datatype, ok = r.readDatatype()
		if t.Datatype == XSDString {
			t.Datatype = ""
		}
	}
	return t, ok
}

// readLanguage reads '@' and a language tag, which is kept as it is written.
func (r *Reader) readLanguage() (string, bool) {
	n, part, first := 1, 0, true // behind '@', in the first part of the tag
	for {
		c := r.at(n)
		switch {
		case is(c, classAlpha) || is(c, classDigit) && !first:
			part++
		case c == '-' && part > 0 && is(r.at(n+1), classAlpha|classDigit):
			part, first = 0, false
		case part == 0:
			return "", r.fail(r.pos, "a language tag begins with a letter")
		default:
			tag := r.labels.plain(r.buf[r.pos+1 : r.pos+n])
			r.pos += n
			return tag, true
		}
		if n++; n > r.lim.IRIBytes {
			return "", r.overLimit("IRIBytes")
		}
	}
}

// readDatatype reads the IRI behind "^^".
func (r *Reader) readDatatype() (string, bool) {
	const want = "the datatype's IRI"
	if r.format != Turtle {
		if c, _ := r.skipBlanks(); c != '<' {
			return "", r.unexpected(want)
		}
		return r.readIRIRef()
	}
	switch c, _ := r.skip(); {
	case c == '<':
		return r.readIRIRef()
	case c == ':' || is(c, classAlpha) || c >= 0x80:
		iri, word, ok := r.readName()
		if ok && word != nil {
			return "", r.badWord(word, want)
		}
		return iri, ok
	}
	return "", r.unexpected(want)
}
