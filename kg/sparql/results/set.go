package results

import (
	"io"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// Set is one answer, held whole: the rows of a SELECT, or the truth of an ASK.
type Set struct {
	Vars []string     // names without the question mark, in order
	Rows [][]ttl.Term // each as long as Vars; a term of Kind None is unbound
	// Boolean is the answer of an ASK, and nil for a SELECT.
	Boolean *bool
}

// Write writes the set as one document. Its errors are those of Writer.
func (s *Set) Write(w io.Writer, f Format) error {
	out := NewWriter(w, f)
	if s.Boolean != nil {
		return out.Boolean(*s.Boolean)
	}
	if err := out.Begin(s.Vars); err != nil {
		return err
	}
	for _, row := range s.Rows {
		if err := out.Row(row); err != nil {
			return err
		}
	}
	return out.End()
}

// checkVars reports a variable that is no variable, or is there twice.
func checkVars(vars []string) error {
	seen := make(map[string]bool, len(vars))
	for _, v := range vars {
		if !validVar(v) {
			return errs.New(errs.Invalid, "%.100q is not the name of a variable", v)
		}
		if seen[v] {
			return errs.New(errs.Invalid, "the variable %.100q is there twice", v)
		}
		seen[v] = true
	}
	return nil
}

// varStart and varMore are the ranges of SPARQL 1.1's VARNAME beyond ASCII
// (PN_CHARS_U, and what may only follow).
var (
	varStart = [][2]rune{
		{0xC0, 0xD6},
		{0xD8, 0xF6},
		{0xF8, 0x2FF},
		{0x370, 0x37D},
		{0x37F, 0x1FFF},
		{0x200C, 0x200D},
		{0x2070, 0x218F},
		{0x2C00, 0x2FEF},
		{0x3001, 0xD7FF},
		{0xF900, 0xFDCF},
		{0xFDF0, 0xFFFD},
		{0x10000, 0xEFFFF},
	}
	varMore = [][2]rune{{0xB7, 0xB7}, {0x300, 0x36F}, {0x203F, 0x2040}}
)

// validVar reports whether name is a VARNAME of the SPARQL 1.1 grammar.
func validVar(name string) bool {
	for i, c := range name {
		switch {
		case c == '_', '0' <= c && c <= '9', 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z':
		case c >= 0x80 && within(c, varStart):
		case i > 0 && within(c, varMore):
		default:
			return false
		}
	}
	return name != "" && utf8.ValidString(name)
}

func within(c rune, ranges [][2]rune) bool {
	for _, r := range ranges {
		if r[0] <= c && c <= r[1] {
			return true
		}
	}
	return false
}
