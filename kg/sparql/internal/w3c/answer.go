package w3c

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strconv"

	"github.com/seed-ff860830/banyan/kg/sparql/results"
	"github.com/seed-ff860830/banyan/ttl"
)

// Answer is what a query gives: a set for SELECT and ASK, else a graph.
type Answer struct {
	Set   *results.Set
	Graph []ttl.Triple
}

// Expected is an answer as a test's file has it.
type Expected struct {
	Answer
	Ordered bool           // the rows' order counts
	Lax     bool           // duplicates may be fewer
	Plain   bool           // the format keeps no types
	Format  results.Format // the format that a set stood in
}

// Expected reads the expected answer of a test.
func (f Files) Expected(t Test) (*Expected, error) {
	text, err := f.Text(t.Text)
	if err != nil {
		return nil, err
	}
	e := &Expected{Ordered: orders(text), Lax: t.Lax}
	ext := path.Ext(t.Result)
	if format, ok := results.FormatByName(ext); ok {
		data, err := f.read(t.Result)
		if err != nil {
			return nil, err
		}
		e.Set, err = results.Read(bytes.NewReader(data), format, results.Limits{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Result, err)
		}
		e.Format, e.Plain = format, format == results.CSV
		return e, nil
	}
	ts, err := f.Graph(t.Result, "r")
	if err != nil {
		return nil, err
	}
	x := indexOf(ts)
	for s := range x {
		if x.one(s, ttl.RDFType).Value == rsNS+"ResultSet" {
			set, indexed, err := x.resultSet(s)
			e.Set, e.Ordered = set, e.Ordered && indexed
			return e, err
		}
	}
	e.Graph, e.Ordered = ts, false
	return e, nil
}

// resultSet reads a set in the vocabulary of the first working group, and says
// whether its rows are numbered.
func (x index) resultSet(root ttl.Term) (set *results.Set, indexed bool, err error) {
	if b := x.one(root, rsNS+"boolean"); !b.IsZero() {
		yes, err := strconv.ParseBool(b.Value)
		return &results.Set{Boolean: &yes}, false, err
	}
	set = &results.Set{}
	column := map[string]int{}
	for _, v := range x[root][rsNS+"resultVariable"] {
		column[v.Value] = len(set.Vars)
		set.Vars = append(set.Vars, v.Value)
	}
	type numbered struct {
		n   int
		row []ttl.Term
	}
	var rows []numbered
	indexed = true
	for _, solution := range x[root][rsNS+"solution"] {
		r := numbered{row: make([]ttl.Term, len(set.Vars))}
		if n := x.one(solution, rsNS+"index"); n.IsZero() {
			indexed = false
		} else if r.n, err = strconv.Atoi(n.Value); err != nil {
			return nil, false, err
		}
		for _, b := range x[solution][rsNS+"binding"] {
			i, ok := column[x.one(b, rsNS+"variable").Value]
			if !ok {
				return nil, false, fmt.Errorf("a binding of a variable that is not declared: %v", x[b])
			}
			r.row[i] = x.one(b, rsNS+"value")
		}
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b numbered) int { return a.n - b.n })
	for _, r := range rows {
		set.Rows = append(set.Rows, r.row)
	}
	return set, indexed, nil
}

// orders reports whether a query orders its own rows: whether it says ORDER BY
// outside of all braces, strings, IRIs and comments.
func orders(text string) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '{':
			depth++
		case '}':
			depth--
		case '"', '\'', '<', '#':
			i = skipToken(text, i)
		case 'O', 'o':
			if depth == 0 && len(text) > i+5 && equalFoldASCII(text[i:i+5], "order") {
				return true
			}
		}
	}
	return false
}

func equalFoldASCII(s, lower string) bool {
	for i := range len(lower) {
		if s[i]|0x20 != lower[i] {
			return false
		}
	}
	return true
}

// skipToken returns the last byte of the string, IRI or comment at i, or i if
// what stands there is none.
func skipToken(text string, i int) int {
	end := map[byte]byte{'"': '"', '\'': '\'', '<': '>', '#': '\n'}[text[i]]
	for j := i + 1; j < len(text); j++ {
		switch c := text[j]; {
		case c == end:
			return j
		case c == '\\':
			j++
		case c == '\n', text[i] == '<' && c == ' ':
			return i
		}
	}
	return i
}
