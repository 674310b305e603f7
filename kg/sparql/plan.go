package sparql

import (
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ttl"
)

// plan is an operator of the algebra, ready to run. Running it with a row
// yields each solution that agrees with the row: the solution stands in the
// row while emit is called, and the row is as before when run returns. A nil
// error means that all solutions were emitted.
type plan interface {
	run(x *exec, row []kg.ID, emit func() error) error
	// facts returns what is known of the operator's variables.
	facts() *varFacts
}

// varFacts are the variables of an operator by what is known of them.
type varFacts struct {
	certain  slotSet // bound in every solution
	possible slotSet // bound in some
	mentions slotSet // looked at anywhere inside, filters and all
	// pipes says that running with a row is cheap and, as far as the
	// operator itself goes, the same as joining with it.
	pipes bool
}

func (f *varFacts) facts() *varFacts { return f }

// graphRef says where a pattern looks: the default graph, a named one, or the
// graph whose name stands in a slot.
type graphRef struct {
	kind graphKind
	name kg.ID
	slot int
}

type graphKind uint8

const (
	inDefault graphKind = iota
	inNamed
	inSlot
)

// place is a term of a pattern: a slot, or a constant's id if slot is < 0.
type place struct {
	slot int
	id   kg.ID
}

// value returns the place's id in a row, 0 if it is unbound.
func (p place) value(row []kg.ID) kg.ID {
	if p.slot < 0 {
		return p.id
	}
	return row[p.slot]
}

// fixed returns a constant's id, 0 for a variable.
func (p place) fixed() kg.ID {
	if p.slot < 0 {
		return p.id
	}
	return 0
}

// step is a triple pattern or, with a path, a path pattern.
type step struct {
	s, p, o place
	graph   graphRef
	path    *walk
	star    []*step     // patterns with the same subject, in place of s, p and o
	count   int         // rows that fit the constants, -1 if not yet counted
	hash    [4]*hashing // by the ends that are bound; see runhash.go
}

// slots returns the variables of the step.
func (s *step) slots() []int {
	var out []int
	for _, p := range [...]place{s.s, s.p, s.o} {
		if p.slot >= 0 {
			out = append(out, p.slot)
		}
	}
	if s.graph.kind == inSlot {
		out = append(out, s.graph.slot)
	}
	return out
}

// The operators. Those that hold filters apply them as early as they can.
type (
	planBGP struct {
		*varFacts
		steps   []*step
		filters []*filter
		orders  []*bgpOrder // made so far
		vars    []int       // its variables
	}
	planJoin struct {
		*varFacts
		parts   []plan
		filters []*filter
		modes   []joinMode
		at      [][]*filter // the filters behind each part
	}
	planLeft struct {
		*varFacts
		left, right plan
		cond        []*filter
		pipe        bool
		on          []int // certain on both sides: the table's key
	}
	planUnion struct {
		*varFacts
		parts []plan
	}
	planMinus struct {
		*varFacts
		left, right plan
		pipe        bool
		on          []int
		shared      []int
		hidden      slotSet
	}
	planFilter struct {
		*varFacts
		in      plan
		filters []*filter
	}
	planExtend struct {
		*varFacts
		in   plan
		slot int
		expr *expr
	}
	planValues struct {
		*varFacts
		slots []int
		rows  [][]kg.ID
	}
	planGraph struct {
		*varFacts
		in     plan
		active int // the slot that holds the graph's name inside
		slot   int // the variable's
		direct bool
	}
	planGroup struct {
		*varFacts
		in   plan
		keys []groupKey
		aggs []*aggregate
	}
	planOrder struct {
		*varFacts
		in   plan
		keys []orderKey
		keep []int
		top  int64 // rows wanted, -1 for all
	}
	planDistinct struct {
		*varFacts
		in    plan
		slots []int
	}
	planSlice struct {
		*varFacts
		in            plan
		offset, limit int64
	}
	planProject struct {
		*varFacts
		in    plan
		slots []int
	}
	planNone struct{ *varFacts }
)

// filter is an expression that must hold. slots are all that it looks at,
// need those of them that its group can bind: once they are bound, its answer
// is final.
type filter struct {
	expr        *expr
	slots, need slotSet
	all         *forAll // the same as a pattern, if there is one
}

type groupKey struct {
	expr *expr // nil for the variable itself
	slot int
}

// aggregate is a set function with the slot for its result.
type aggregate struct {
	expr *expr
	slot int
}

// joinMode says how a part of a join gets the rows before it.
type joinMode struct {
	pipe bool  // run it with each row; else once, into a table
	on   []int // the table's key
}

// walk is a property path with its links as ids.
type walk struct {
	op       pathOp
	link     kg.ID
	args     []*walk
	fwd, inv map[kg.ID]bool
	hasFwd   bool
	hasInv   bool
}

// Row is a solution: one term for each of the result's variables, the zero
// term where the variable is unbound.
type Row []ttl.Term
