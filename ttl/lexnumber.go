package ttl

// numberShape reads a number at the start of s, as Turtle writes it bare, and
// returns its length and datatype; length 0 if there is none. It takes the
// longest token, so "1." is the integer "1" and "1.e0" a double.
func numberShape(at func(int) byte) (n int, datatype string) {
	digits := func(i int) int {
		for is(at(i), classDigit) {
			i++
		}
		return i
	}
	start := 0
	if c := at(0); c == '+' || c == '-' {
		start = 1
	}
	n = digits(start)
	whole := n > start
	if whole {
		datatype = XSDInteger
	}
	mantissa := n // where an exponent may begin
	canExp := whole
	if at(n) == '.' {
		if end := digits(n + 1); end > n+1 {
			n, datatype, mantissa, canExp = end, XSDDecimal, end, true
		} else if whole {
			mantissa = n + 1
		}
	}
	if !canExp {
		return 0, ""
	}
	if e := at(mantissa); e == 'e' || e == 'E' {
		i := mantissa + 1
		if c := at(i); c == '+' || c == '-' {
			i++
		}
		if end := digits(i); end > i {
			return end, XSDDouble
		}
	}
	return n, datatype
}

// readNumber reads a bare number.
func (r *Reader) readNumber() (Term, bool) {
	over := false
	n, datatype := numberShape(func(i int) byte {
		if i > r.lim.LiteralBytes {
			over = true
			return 0
		}
		return r.at(i)
	})
	switch {
	case over:
		return Term{}, r.overLimit("LiteralBytes")
	case n == 0 && r.buf[r.pos] == '.':
		return Term{}, r.unexpected("an object")
	case n == 0:
		return Term{}, r.fail(r.pos, "expected digits behind this sign")
	}
	t := Term{Kind: Literal, Value: r.text(r.buf[r.pos : r.pos+n]), Datatype: datatype}
	r.pos += n
	return t, true
}

// bareNumber reports whether a literal may be written bare: its lexical form
// is just what the grammar reads as a number of its datatype.
func bareNumber(lexical, datatype string) bool {
	n, d := numberShape(func(i int) byte {
		if i < len(lexical) {
			return lexical[i]
		}
		return 0
	})
	return n > 0 && n == len(lexical) && d == datatype
}
