package ttl

import "github.com/seed-ff860830/banyan/internal/errs"

// Limits bound what one document may make a Reader hold or hand out. A field
// of zero takes its default; there is no "unlimited", but a caller that trusts
// its input may name any number it likes. A line has no bound of its own,
// because no line is ever held: only the token in hand is.
type Limits struct {
	// Bytes is the size of the whole document. Default 256 MiB.
	Bytes int64
	// Triples is the number of statements. Default 10 million.
	Triples int64
	// Depth is how deep '[' and '(' may nest. Default 256.
	Depth int
	// LiteralBytes is the size of one string or number as it is written
	// between its quotes. Default 1 MiB.
	LiteralBytes int
	// IRIBytes is the size of one IRI as written and, after its prefix or
	// base was put in, as handed out; it bounds names, blank node labels and
	// language tags too. Default 8 KiB.
	IRIBytes int
	// Prefixes is the number of prefixes in force. Default 1,000.
	Prefixes int
	// TermBytes is the text of all terms handed out, together. A long prefix
	// makes much text of few bytes, so Bytes alone does not bound what a
	// store has to take. Default 4 GiB.
	TermBytes int64
}

// DefaultLimits returns the limits that hold where none are named.
func DefaultLimits() Limits {
	return Limits{
		Bytes:        256 << 20,
		Triples:      10_000_000,
		Depth:        256,
		LiteralBytes: 1 << 20,
		IRIBytes:     8 << 10,
		Prefixes:     1000,
		TermBytes:    4 << 30,
	}
}

// Validate reports a negative limit.
func (l Limits) Validate() error {
	for _, f := range []struct {
		name string
		n    int64
	}{
		{"Bytes", l.Bytes},
		{"Triples", l.Triples},
		{"Depth", int64(l.Depth)},
		{"LiteralBytes", int64(l.LiteralBytes)},
		{"IRIBytes", int64(l.IRIBytes)},
		{"Prefixes", int64(l.Prefixes)},
		{"TermBytes", l.TermBytes},
	} {
		if f.n < 0 {
			return errs.New(errs.Invalid, "limit %s is negative", f.name)
		}
	}
	return nil
}

// withDefaults returns l with the zero fields filled in.
func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	if l.Bytes == 0 {
		l.Bytes = d.Bytes
	}
	if l.Triples == 0 {
		l.Triples = d.Triples
	}
	if l.Depth == 0 {
		l.Depth = d.Depth
	}
	if l.LiteralBytes == 0 {
		l.LiteralBytes = d.LiteralBytes
	}
	if l.IRIBytes == 0 {
		l.IRIBytes = d.IRIBytes
	}
	if l.Prefixes == 0 {
		l.Prefixes = d.Prefixes
	}
	if l.TermBytes == 0 {
		l.TermBytes = d.TermBytes
	}
	return l
}
