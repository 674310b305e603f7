package ttl

// readName reads a prefixed name. If there is a word without a colon instead,
// it returns the word, valid until the next read, and leaves pos before it.
func (r *Reader) readName() (iri string, word []byte, ok bool) {
	i, wide, ok := r.scanPrefix()
	if !ok {
		return "", nil, false
	}
	if r.buf[i] != ':' {
		return "", r.buf[r.pos:i], true
	}
	colon := i - r.pos
	i, escaped, wideLocal, ok := r.scanLocal(i + 1)
	if !ok {
		return "", nil, false
	}
	raw := r.buf[r.pos:i]
	if len(raw) > r.lim.IRIBytes {
		return "", nil, r.overLimit("IRIBytes")
	}
	if iri, ok = r.expand(raw, colon, escaped); !ok {
		return "", nil, false
	}
	r.pass(i, wide || wideLocal)
	return iri, nil, true
}

// scanPrefix passes over a PN_PREFIX, which may be empty, and returns the
// index behind it, always inside the buffer or at its end.
func (r *Reader) scanPrefix() (i int, wide, ok bool) {
	i = r.pos
	for is(r.buf[i], className) {
		i++
	}
	switch c := r.buf[i]; {
	case c == ':' && i-r.pos <= r.lim.IRIBytes:
		return i, false, true
	case c != '.' && c < 0x80 && i != r.end:
		return i, false, true
	}
	good := i - r.pos // the word's length without dots at its end
	for {
		if good > r.lim.IRIBytes {
			return 0, false, r.overLimit("IRIBytes")
		}
		switch c := r.buf[i]; {
		case is(c, className):
			i++
			good = i - r.pos
		case c == '.':
			i++
		case c == 0 && i == r.end:
			if i, ok = r.more(i); !ok {
				return r.pos + good, wide, true
			}
		case c >= 0x80:
			ch, n, at := r.rune(i)
			if n == 0 {
				return 0, false, r.failUTF8(at)
			}
			i = at
			if i == r.pos && !isNameStart(ch) || !isNameChar(ch) {
				return r.pos + good, wide, true
			}
			wide = true
			i += n
			good = i - r.pos
		default:
			return r.pos + good, wide, true
		}
		if i-r.pos > good+r.lim.IRIBytes {
			return 0, false, r.overLimit("IRIBytes")
		}
	}
}

// scanLocal passes over a PN_LOCAL from index i, which may be empty.
func (r *Reader) scanLocal(i int) (end int, escaped, wide, ok bool) {
	start := i - r.pos
	if r.buf[i] != '-' {
		for is(r.buf[i], classLocal) {
			i++
		}
		if c := r.buf[i]; c < 0x80 && c != '.' && c != '%' && c != '\\' && i != r.end {
			return i, false, false, true
		}
	}
	good := i - r.pos // the length without dots at the end
	for {
		rel := i - r.pos
		switch c := r.buf[i]; {
		case is(c, classLocal) && (c != '-' || rel > start):
			i++
			good = rel + 1
		case c == '.' && rel > start:
			i++
		case c == '%' || c == '\\':
			n, ok := r.localEscape(rel)
			if !ok {
				return 0, false, false, false
			}
			escaped = escaped || c == '\\'
			good = rel + n
			i = r.pos + good
		case c == 0 && i == r.end:
			if i, ok = r.more(i); !ok {
				return r.pos + good, escaped, wide, true
			}
		case c >= 0x80:
			ch, n, at := r.rune(i)
			if n == 0 {
				return 0, false, false, r.failUTF8(at)
			}
			if rel == start && !isNameStart(ch) || !isNameChar(ch) {
				return r.pos + good, escaped, wide, true
			}
			wide = true
			good = rel + n
			i = at + n
		default:
			return r.pos + good, escaped, wide, true
		}
		if rel > r.lim.IRIBytes+escapeSlack {
			return 0, false, false, r.overLimit("IRIBytes")
		}
	}
}

// escapeSlack is how far a scanner may run past a limit before it looks.
const escapeSlack = 16

// localEscape checks the escape rel bytes behind pos in a local name, "%" and
// two digits or "\\" and a sign, and returns its length.
func (r *Reader) localEscape(rel int) (int, bool) {
	if r.at(rel) == '%' {
		if is(r.at(rel+1), classHex) && is(r.at(rel+2), classHex) {
			return 3, true
		}
		return 0, r.fail(r.pos+rel, "'%%' in a name must be followed by two hexadecimal digits")
	}
	if is(r.at(rel+1), classEscape) {
		return 2, true
	}
	return 0, r.fail(r.pos+rel, "this is no escape that a name may hold")
}

// expand turns a prefixed name, as written, into its IRI.
func (r *Reader) expand(raw []byte, colon int, escaped bool) (string, bool) {
	prefix, local := raw[:colon], raw[colon+1:]
	var e *cached
	if !escaped && len(raw) <= cacheText {
		e = r.names.slot(raw)
		if e.gen == r.names.gen && e.key == string(prefix) && e.text[e.from:] == string(local) {
			return e.text, true
		}
	}
	ns, ok := r.prefixes[string(prefix)]
	if !ok {
		return "", r.fail(r.pos, "the prefix \"%s:\" is not declared", clip(prefix))
	}
	if escaped {
		r.scratch = unescapeLocal(r.scratch[:0], local)
		local = r.scratch
	}
	if len(ns.iri)+len(local) > r.lim.IRIBytes {
		return "", r.overLimit("IRIBytes")
	}
	iri := ns.iri + string(local)
	if e != nil {
		r.names.put(e, ns.name, iri, len(ns.iri))
	}
	return iri, true
}

// readBlankLabel reads "_:" and a label, and returns the label.
func (r *Reader) readBlankLabel() (string, bool) {
	if r.at(1) != ':' {
		return "", r.fail(r.pos, "a blank node's label begins with \"_:\"")
	}
	i, wide, good := r.pos+2, false, 2
	for {
		rel := i - r.pos
		if rel > r.lim.IRIBytes+escapeSlack {
			return "", r.overLimit("IRIBytes")
		}
		switch c := r.buf[i]; {
		case is(c, className) && (c != '-' || rel > 2):
			i++
			good = rel + 1
			continue
		case c == '.' && rel > 2:
			i++
			continue
		case c == 0 && i == r.end:
			var ok bool
			if i, ok = r.more(i); ok {
				continue
			}
		case c >= 0x80:
			ch, n, at := r.rune(i)
			if n == 0 {
				return "", r.failUTF8(at)
			}
			if i = at; rel == 2 && isNameStart(ch) || rel > 2 && isNameChar(ch) {
				wide = true
				i += n
				good = rel + n
				continue
			}
		}
		break
	}
	if good == 2 {
		return "", r.fail(r.pos+2, "a blank node's label must begin with a letter, a digit or '_'")
	}
	if good-2 > r.lim.IRIBytes {
		return "", r.overLimit("IRIBytes")
	}
	label := r.labels.plain(r.buf[r.pos+2 : r.pos+good])
	r.pass(r.pos+good, wide)
	return label, true
}
