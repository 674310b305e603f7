package main

import (
	"bufio"
	"fmt"
	"iter"
	"slices"
	"unicode/utf8"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// printAnswer evaluates a query and prints its answer as it comes.
func (a *app) printAnswer(res *banyan.QueryResult, o *queryOptions) error {
	format := o.format
	graph := res.Kind == banyan.QueryConstruct || res.Kind == banyan.QueryDescribe
	if format == "" {
		format = "table"
		if graph {
			format = "turtle"
		}
	}
	switch {
	case format == "table" && graph:
		return a.printRows([]string{"subject", "predicate", "object"}, tripleRows(res.Triples), "triple", "triples")
	case format == "table" && res.Kind == banyan.QueryAsk:
		return a.printf("%s\n", yesNo(res.Bool))
	case format == "table":
		return a.printRows(variables(res.Vars), res.Rows, "row", "rows")
	case res.Kind == banyan.QueryAsk && (format == "csv" || format == "tsv"):
		// The recommendation for CSV and TSV has no form for a truth.
		return a.printf("%t\n", res.Bool)
	case !slices.Contains(res.Formats(), format):
		return errs.New(errs.Invalid, "the answer to %s cannot be written as %s", kindName(res.Kind), format).
			WithHint("banyan query --format %s …", res.Formats()[0])
	}
	out := bufio.NewWriterSize(a.screen(), 32<<10)
	if err := res.Write(out, format); err != nil {
		// What came before the error is shown, as the user may be watching; the
		// exit code says that it is not all.
		_ = out.Flush()
		return err
	}
	return wrote(out.Flush())
}

// kindName is a form of query as it is written.
func kindName(k banyan.QueryKind) string {
	switch k {
	case banyan.QueryAsk:
		return "an ASK"
	case banyan.QueryConstruct:
		return "a CONSTRUCT"
	case banyan.QueryDescribe:
		return "a DESCRIBE"
	}
	return "a SELECT"
}

// variables are the names with their question mark.
func variables(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = "?" + n
	}
	return out
}

// tripleRows makes a row of each triple.
func tripleRows(all iter.Seq2[ttl.Triple, error]) iter.Seq2[[]ttl.Term, error] {
	return func(yield func([]ttl.Term, error) bool) {
		for t, err := range all {
			if !yield([]ttl.Term{t.S, t.P, t.O}, err) {
				return
			}
		}
	}
}

// The bounds of a table: a cell is cut at so many characters, and the columns
// are as wide as the first rows want; the rows behind are printed as they come.
const (
	maxCell   = 60
	tableRows = 200
)

// printRows prints rows of terms, aligned, under a header; how many there were
// goes to standard error.
func (a *app) printRows(header []string, rows iter.Seq2[[]ttl.Term, error], one, many string) error {
	t := &termTable{a: a, out: bufio.NewWriterSize(a.stdout, 32<<10), head: make([]string, len(header))}
	for i, h := range header {
		t.head[i] = cutCell(h)
	}
	n := 0
	for row, err := range rows {
		if err != nil {
			_ = t.end() // the error is what matters
			if n > 0 {
				fmt.Fprintf(a.stderr, "banyan: the answer broke off after %s\n", count(n, one, many))
			}
			return err
		}
		n++
		if err := t.add(row); err != nil {
			return wrote(err)
		}
	}
	if err := t.end(); err != nil {
		return wrote(err)
	}
	fmt.Fprintln(a.stderr, count(n, one, many))
	return nil
}

// termTable prints rows in columns. It holds the first rows until it knows how
// wide the columns have to be.
type termTable struct {
	a     *app
	out   *bufio.Writer
	head  []string
	first [][]string // rows that wait
	width []int      // nil as long as rows wait
}

func (t *termTable) add(row []ttl.Term) error {
	cells := make([]string, len(row))
	for i, term := range row {
		cells[i] = cutCell(termText(term))
	}
	if t.width != nil {
		return t.line(cells)
	}
	if t.first = append(t.first, cells); len(t.first) < tableRows {
		return nil
	}
	return t.start()
}

// start prints the header and the rows that waited.
func (t *termTable) start() error {
	t.width = make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.first...) {
		for i, cell := range row {
			t.width[i] = max(t.width[i], columns(cell))
		}
	}
	if _, err := t.out.WriteString(t.a.paint(bold, alignRow(t.head, t.width)) + "\n"); err != nil {
		return err
	}
	for _, row := range t.first {
		if err := t.line(row); err != nil {
			return err
		}
	}
	t.first = nil
	return nil
}

func (t *termTable) line(cells []string) error {
	_, err := t.out.WriteString(alignRow(cells, t.width) + "\n")
	return err
}

// end prints what is left.
func (t *termTable) end() error {
	if t.width == nil {
		if err := t.start(); err != nil {
			return err
		}
	}
	return t.out.Flush()
}

// cutCell bounds the width of a cell.
func cutCell(s string) string {
	if len(s) <= maxCell {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == maxCell {
			if columns(s[i:]) == 1 {
				return s
			}
			return s[:i] + "…"
		}
	}
	return s
}

// columns counts the code points of a cell.
func columns(s string) int { return utf8.RuneCountInString(s) }
