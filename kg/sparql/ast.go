package sparql

import (
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ttl"
)

// Kind tells the forms of queries apart.
type Kind uint8

// The forms of queries.
const (
	Select Kind = iota
	Ask
	Construct
	Describe
)

// String returns the form's keyword.
func (k Kind) String() string {
	return [...]string{"SELECT", "ASK", "CONSTRUCT", "DESCRIBE"}[k&3]
}

// Query is a parsed query. It is immutable and safe for concurrent use.
type Query struct {
	body *selectQuery
	kind Kind
	base string
	uses map[string]int // how often the text writes each variable
}

// Kind returns the query's form.
func (q *Query) Kind() Kind { return q.kind }

// Vars returns the variables of a SELECT's result in order; none for the
// other forms.
func (q *Query) Vars() []string {
	if q.kind != Select {
		return nil
	}
	return q.body.columns()
}

// UpdateRequest is a parsed update request. It is immutable and safe for
// concurrent use.
type UpdateRequest struct {
	ops  []updateOp
	uses map[string]int // how often the text writes each variable
}

// NamesDataset reports whether an operation says WITH, USING or USING NAMED,
// which the protocol's own dataset parameters exclude.
func (u *UpdateRequest) NamesDataset() bool {
	for _, op := range u.ops {
		if op.with != nil || op.using.given() {
			return true
		}
	}
	return false
}

// node is a term of a pattern: a variable if name is not empty. Blank nodes of
// patterns are variables whose names begin with a mark no variable can have.
type node struct {
	name string
	term ttl.Term
}

// blankMark begins the names of variables that blank nodes and paths make.
const blankMark = "_:"

func variable(name string) node { return node{name: name} }

func (n node) isVar() bool     { return n.name != "" }
func (n node) isBlank() bool   { return len(n.name) > 2 && n.name[:2] == blankMark }
func (n node) isUserVar() bool { return n.name != "" && !n.isBlank() }

// triplePat is a triple pattern; path is nil for a plain one.
type triplePat struct {
	s, p, o node
	path    *path
}

// quadPat is a triple in a template, with its graph; the zero graph is the
// default one.
type quadPat struct {
	triplePat
	g     node
	named bool
}

// pathOp tells the forms of property paths apart.
type pathOp uint8

const (
	pathLink pathOp = iota
	pathInverse
	pathSeq
	pathAlt
	pathZeroOrMore
	pathOneOrMore
	pathZeroOrOne
	pathNegated // link holds nothing; fwd and inv are what is excluded
)

type path struct {
	op       pathOp
	link     ttl.Term
	args     []*path
	fwd, inv []ttl.Term
	hasFwd   bool // a negated set looks forward
	hasInv   bool // and backward
}

// elemKind tells the elements of a group apart.
type elemKind uint8

const (
	elemTriples elemKind = iota
	elemFilter
	elemOptional
	elemUnion // of one branch: a nested group
	elemMinus
	elemGraph
	elemService
	elemBind
	elemValues
	elemSelect
)

type elem struct {
	kind    elemKind
	at      int
	triples []triplePat
	expr    *expr
	groups  []*group
	graph   node
	name    string // BIND's variable
	values  *values
	sub     *selectQuery
}

// group is a group graph pattern, with its variables in scope, in order of
// their first place (section 18.2.1).
type group struct {
	elems []elem
	vars  []string
	has   map[string]bool
}

// values is inline data; a zero term is UNDEF.
type values struct {
	vars []string
	rows [][]ttl.Term
}

// projection is a column of SELECT or a key of GROUP BY.
type projection struct {
	name string
	expr *expr // nil for a plain variable
	at   int
}

type orderKey struct {
	expr *expr
	desc bool
}

// dataset is what FROM and FROM NAMED, or USING, name.
type datasetClause struct{ from, named []ttl.Term }

func (d datasetClause) given() bool { return len(d.from)+len(d.named) > 0 }

type selectQuery struct {
	kind     Kind
	distinct bool
	reduced  bool
	star     bool
	project  []projection
	template []triplePat
	describe []node
	dataset  datasetClause
	where    *group
	groupBy  []projection
	having   []*expr
	orderBy  []orderKey
	limit    int64 // -1 if there is none
	offset   int64
	values   *values
}

// columns returns the names that the query projects.
func (q *selectQuery) columns() []string {
	var names []string
	if q.star {
		return q.where.vars
	}
	for _, p := range q.project {
		names = append(names, p.name)
	}
	return names
}

// aggregated reports whether the query groups its solutions.
func (q *selectQuery) aggregated() bool {
	if len(q.groupBy) > 0 || len(q.having) > 0 {
		return true
	}
	for _, p := range q.project {
		if p.expr.hasAggregate() {
			return true
		}
	}
	for _, k := range q.orderBy {
		if k.expr.hasAggregate() {
			return true
		}
	}
	return false
}

// exprOp tells the forms of expressions apart.
type exprOp uint8

const (
	exVar exprOp = iota
	exConst
	exOr
	exAnd
	exNot
	exCompare // name is the operator
	exArith   // name is the operator
	exNegate
	exPlus
	exIn // args[0] in the rest
	exNotIn
	exCall // name is the built-in
	exCast // name is the function's IRI
	exExists
	exNotExists
	exAggregate // name is the aggregate
)

type expr struct {
	op       exprOp
	name     string
	slot     int
	term     ttl.Term
	args     []*expr
	ids      map[kg.ID]bool // IN's list, where all of it are IRIs
	group    *group
	plan     plan
	fn       function
	distinct bool
	star     bool
	sep      string
}

func (e *expr) hasAggregate() bool {
	if e == nil {
		return false
	}
	if e.op == exAggregate {
		return true
	}
	for _, a := range e.args {
		if a.hasAggregate() {
			return true
		}
	}
	return false
}

// updateKind tells update operations apart.
type updateKind uint8

const (
	opInsertData updateKind = iota
	opDeleteData
	opModify
	opLoad
	opClear
	opDrop
	opCreate
	opAdd
	opMove
	opCopy
)

// target names graphs of a graph operation.
type target struct {
	all, named, deflt bool
	graph             ttl.Term
}

type updateOp struct {
	kind     updateKind
	silent   bool
	quads    []quadPat // INSERT DATA, DELETE DATA
	del, ins []quadPat
	with     *ttl.Term
	using    datasetClause
	where    *group
	from, to target
	source   string // LOAD
	base     string
}
