package results

import (
	"io"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/internal/rdfchars"
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

// validVar reports whether name is a VARNAME of the SPARQL 1.1 grammar.
func validVar(name string) bool {
	for i, c := range name {
		start := c == '_' || rdfchars.IsDigit(c) || rdfchars.IsBase(c)
		if !start && (i == 0 || !rdfchars.IsVarChar(c)) {
			return false
		}
	}
	return name != "" && utf8.ValidString(name)
}
