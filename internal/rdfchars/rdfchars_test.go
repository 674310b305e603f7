package rdfchars_test

import (
	"testing"

	"github.com/seed-ff860830/banyan/internal/rdfchars"
)

// TestClasses tries both ends of every range of the grammar, and what stands
// just outside.
func TestClasses(t *testing.T) {
	for _, c := range []struct {
		r                   rune
		base, varChar, name bool
	}{
		{0, false, false, false},
		{'-', false, false, true},
		{'/', false, false, false},
		{'0', false, true, true},
		{'9', false, true, true},
		{':', false, false, false},
		{'@', false, false, false},
		{'A', true, true, true},
		{'Z', true, true, true},
		{'[', false, false, false},
		{'_', false, true, true},
		{'`', false, false, false},
		{'a', true, true, true},
		{'z', true, true, true},
		{0x7F, false, false, false},
		{0xB7, false, true, true},
		{0xBF, false, false, false},
		{0xC0, true, true, true},
		{0xD7, false, false, false},
		{0xF7, false, false, false},
		{0x2FF, true, true, true},
		{0x300, false, true, true},
		{0x36F, false, true, true},
		{0x370, true, true, true},
		{0x37E, false, false, false},
		{0x2000, false, false, false},
		{0x200C, true, true, true},
		{0x203F, false, true, true},
		{0x2041, false, false, false},
		{0x2190, false, false, false},
		{0x3000, false, false, false},
		{0x3001, true, true, true},
		{0xD7FF, true, true, true},
		{0xE000, false, false, false},
		{0xFDCF, true, true, true},
		{0xFDD0, false, false, false},
		{0xFFFD, true, true, true},
		{0xFFFE, false, false, false},
		{0x10000, true, true, true},
		{0xEFFFF, true, true, true},
		{0xF0000, false, false, false},
		{-1, false, false, false},
	} {
		if got := rdfchars.IsBase(c.r); got != c.base {
			t.Errorf("IsBase(%#x) = %v", c.r, got)
		}
		if got := rdfchars.IsVarChar(c.r); got != c.varChar {
			t.Errorf("IsVarChar(%#x) = %v", c.r, got)
		}
		if got := rdfchars.IsName(c.r); got != c.name {
			t.Errorf("IsName(%#x) = %v", c.r, got)
		}
	}
}
