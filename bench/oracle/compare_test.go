package oracle

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/ttl"
	"github.com/seed-ff860830/banyan/ttl/rdfgraph"
)

// answer is what an engine said: rows of a SELECT, statements of a CONSTRUCT or
// a dataset (a set then), or the truth of an ASK as one row.
type answer struct {
	vars    []string
	rows    [][]ttl.Term
	set     bool
	refused string // why there is no answer
}

// widened returns the answer with unbound columns for the variables it lacks.
func (a answer) widened(vars []string) answer {
	out := a
	out.vars = slices.Clone(a.vars)
	for _, v := range vars {
		if !slices.Contains(a.vars, v) {
			out.vars = append(out.vars, v)
		}
	}
	out.rows = make([][]ttl.Term, len(a.rows))
	for i, row := range a.rows {
		out.rows[i] = append(slices.Clone(row), make([]ttl.Term, len(out.vars)-len(a.vars))...)
	}
	return out
}

// ordered reports whether two answers are the same lists.
func ordered(a, b answer) bool {
	a, b = a.normal(), b.normal()
	return slices.Equal(a.vars, b.vars) && slices.EqualFunc(a.rows, b.rows, slices.Equal[[]ttl.Term])
}

// same reports whether two answers are the same multisets (or sets) of rows
// but for the names of blank nodes.
func same(a, b answer) (bool, error) {
	a, b = a.normal(), b.normal()
	if !slices.Equal(a.vars, b.vars) || (!a.set && len(a.rows) != len(b.rows)) {
		return false, nil
	}
	return rdfgraph.Isomorphic(a.graph(), b.graph())
}

// graph writes each distinct row as a blank node with its terms and with how
// often it comes.
func (a answer) graph() []ttl.Triple {
	times := map[string]int{}
	first := map[string][]ttl.Term{}
	for _, row := range a.rows {
		k := fmt.Sprintf("%#v", row)
		times[k]++
		first[k] = row
	}
	var out []ttl.Triple
	n := 0
	for k, row := range first {
		n++
		node := ttl.NewBlank(fmt.Sprintf("row%d", n))
		count := times[k]
		if a.set {
			count = 1
		}
		out = append(out, ttl.Triple{S: node, P: ttl.NewIRI("row:times"), O: ttl.NewString(strconv.Itoa(count))})
		for i, t := range row {
			switch t.Kind {
			case ttl.None:
				continue
			case ttl.Blank:
				t.Value = "term" + t.Value
			}
			out = append(out, ttl.Triple{S: node, P: ttl.NewIRI("row:" + strconv.Itoa(i)), O: t})
		}
	}
	return out
}

// normal returns the answer with the columns in the order of their names, and
// with computed numbers in one form: the specification fixes the value of
// 1.0 + 1, not how it is written. A computed column is one whose name begins
// with n; other columns must agree to the letter.
func (a answer) normal() answer {
	order := make([]int, len(a.vars))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return strings.Compare(a.vars[i], a.vars[j]) })
	out := answer{set: a.set, vars: make([]string, len(order)), rows: make([][]ttl.Term, len(a.rows))}
	for i, from := range order {
		out.vars[i] = a.vars[from]
	}
	for r, row := range a.rows {
		out.rows[r] = make([]ttl.Term, len(order))
		for i, from := range order {
			t := row[from]
			if strings.HasPrefix(out.vars[i], "n") {
				t = canonical(t)
			}
			t.Lang = strings.ToLower(t.Lang)
			out.rows[r][i] = t
		}
	}
	return out
}

// canonical gives a number, a concatenation or a list one form. Digits beyond
// what a division must give do not count.
func canonical(t ttl.Term) ttl.Term {
	if t.Kind != ttl.Literal {
		return t
	}
	switch strings.TrimPrefix(t.Datatype, ttl.XSD) {
	case "integer", "decimal":
		if f, ok := new(big.Float).SetPrec(200).SetString(t.Value); ok {
			t.Value = f.Text('g', 12)
		}
	case "double":
		t.Value = float(t.Value, 64, 12)
	case "float":
		t.Value = float(t.Value, 32, 5)
	case "dateTime":
		t.Value = strings.Replace(t.Value, ".000", "", 1)
	case "": // the order of what GROUP_CONCAT joins is not fixed
		if strings.Contains(t.Value, separator) {
			parts := strings.Split(t.Value, separator)
			slices.Sort(parts)
			t.Value = strings.Join(parts, separator)
		}
	}
	return t
}

// separator stands between what GROUP_CONCAT joins, and nowhere else.
const separator = "¦"

func float(s string, bits, digits int) string {
	f, err := strconv.ParseFloat(strings.Replace(s, "INF", "Inf", 1), bits)
	if err != nil {
		return s
	}
	return strconv.FormatFloat(f, 'g', digits, bits)
}

// TestCompareCanFail: the comparer tells apart what differs in one thing.
func TestCompareCanFail(t *testing.T) {
	b := func(l string) ttl.Term { return ttl.NewBlank(l) }
	i := func(l string) ttl.Term { return ttl.NewIRI("http://e/" + l) }
	n := func(l, dt string) ttl.Term { return ttl.NewTyped(l, ttl.XSD+dt) }
	one := func(vars string, rows ...[]ttl.Term) answer { return answer{vars: strings.Fields(vars), rows: rows} }
	row := func(ts ...ttl.Term) []ttl.Term { return ts }
	for _, c := range []struct {
		name string
		a, b answer
		want bool
	}{
		{"other order of rows", one("x", row(i("a")), row(i("b"))), one("x", row(i("b")), row(i("a"))), true},
		{"other order of columns", one("x y", row(i("a"), i("b"))), one("y x", row(i("b"), i("a"))), true},
		{"other name of a column", one("x", row(i("a"))), one("y", row(i("a"))), false},
		{"one row twice", one("x", row(i("a")), row(i("a"))), one("x", row(i("a"))), false},
		{"the other row twice", one("x", row(i("a")), row(i("a")), row(i("b"))), one("x", row(i("a")), row(i("b")), row(i("b"))), false},
		{"blank renamed", one("x y", row(b("1"), b("2"))), one("x y", row(b("2"), b("1"))), true},
		{"blank shared", one("x y", row(b("1"), b("1"))), one("x y", row(b("1"), b("2"))), false},
		{"blank shared between rows", one("x y", row(b("1"), i("a")), row(b("1"), i("b"))), one("x y", row(b("1"), i("a")), row(b("2"), i("b"))), false},
		{"blank is no IRI", one("x", row(b("a"))), one("x", row(ttl.NewIRI("a"))), false},
		{"unbound", one("x y", row(i("a"), ttl.Term{})), one("x y", row(i("a"), i("a"))), false},
		{"unbound elsewhere", one("x y", row(i("a"), ttl.Term{})), one("x y", row(ttl.Term{}, i("a"))), false},
		{"lexical form of data", one("x", row(n("1", "integer"))), one("x", row(n("01", "integer"))), false},
		{"lexical form of a result", one("n1", row(n("1.0", "decimal"))), one("n1", row(n("1", "decimal"))), true},
		{"value of a result", one("n1", row(n("1.0", "decimal"))), one("n1", row(n("1.1", "decimal"))), false},
		{"datatype of a result", one("n1", row(n("1", "decimal"))), one("n1", row(n("1", "integer"))), false},
		{"language", one("x", row(ttl.NewLang("a", "en"))), one("x", row(ttl.NewString("a"))), false},
		{"joined in another order", one("n1", row(ttl.NewString("a¦b"))), one("n1", row(ttl.NewString("b¦a"))), true},
		{"joined of other things", one("n1", row(ttl.NewString("a¦b"))), one("n1", row(ttl.NewString("a¦a"))), false},
		{"no row", one("x"), one("x", row(ttl.Term{})), false},
	} {
		got, err := same(c.a, c.b)
		if err != nil || got != c.want {
			t.Errorf("%s: same is %v, %v, want %v", c.name, got, err, c.want)
		}
		if back, _ := same(c.b, c.a); back != got {
			t.Errorf("%s: not symmetric", c.name)
		}
	}
	if ordered(one("x", row(i("a")), row(i("b"))), one("x", row(i("b")), row(i("a")))) {
		t.Error("another order is the same list")
	}
}
