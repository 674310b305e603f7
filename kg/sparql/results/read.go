package results

import (
	"io"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// Limits bound what one document may make a reader hold. A field of zero takes
// its default.
type Limits struct {
	// Bytes is the size of the document. Default 64 MiB.
	Bytes int64
	// Rows is the number of solutions. Default 1 million.
	Rows int
	// Vars is the number of variables. Default 1,000.
	Vars int
	// Cells is rows times variables: a row of "{}" takes two bytes in JSON,
	// but as many terms as there are variables here. Default 2 million.
	Cells int
	// Depth is how deep JSON may nest, in parts that are passed over too.
	// Default 64. The other formats have a fixed depth.
	Depth int
}

// DefaultLimits returns the limits that hold where none are named.
func DefaultLimits() Limits {
	return Limits{Bytes: 64 << 20, Rows: 1_000_000, Vars: 1000, Cells: 2_000_000, Depth: 64}
}

// Validate reports a negative limit.
func (l Limits) Validate() error {
	if l.Bytes < 0 || l.Rows < 0 || l.Vars < 0 || l.Cells < 0 || l.Depth < 0 {
		return errs.New(errs.Invalid, "a limit for reading results is negative")
	}
	return nil
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	if l.Bytes == 0 {
		l.Bytes = d.Bytes
	}
	if l.Rows == 0 {
		l.Rows = d.Rows
	}
	if l.Vars == 0 {
		l.Vars = d.Vars
	}
	if l.Cells == 0 {
		l.Cells = d.Cells
	}
	if l.Depth == 0 {
		l.Depth = d.Depth
	}
	return l
}

// Read reads one document. What it returns can be written again in the same
// format, and is the same set then (in CSV every value comes back as a plain
// string, or as a blank node where it has the form of one). Its errors are of
// Kind Invalid for a document that is not in its format, TooLarge for one
// over a limit, and what src returns. To bound time, let src fail.
func Read(src io.Reader, f Format, l Limits) (*Set, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	read := map[Format]func([]byte, *table) error{JSON: readJSON, XML: readXML, CSV: readCSV, TSV: readTSV}[f]
	if read == nil {
		return nil, errs.New(errs.Unsupported, "there is no such format for results")
	}
	l = l.withDefaults()
	data, err := io.ReadAll(io.LimitReader(src, l.Bytes+1))
	if err != nil {
		return nil, errs.Wrap(errs.KindOf(err), err, "the result could not be read")
	}
	if int64(len(data)) > l.Bytes {
		return nil, errs.New(errs.TooLarge, "the result is larger than %d bytes", l.Bytes)
	}
	if !utf8.Valid(data) {
		return nil, errs.New(errs.Invalid, "the result is not UTF-8")
	}
	t := &table{limits: l}
	if err := read(data, t); err != nil {
		return nil, err
	}
	return &t.set, nil
}

// table is a set that is being read.
type table struct {
	set    Set
	limits Limits
}

// head sets the variables.
func (t *table) head(vars []string) error {
	if len(vars) > t.limits.Vars {
		return errs.New(errs.TooLarge, "the result has more than %d variables", t.limits.Vars)
	}
	t.set.Vars = vars
	return checkVars(vars)
}

// row returns a new row, all unbound.
func (t *table) row() ([]ttl.Term, error) {
	n := len(t.set.Rows) + 1
	if n > t.limits.Rows || n*len(t.set.Vars) > t.limits.Cells {
		return nil, errs.New(errs.TooLarge, "the result has more than %d rows", n-1)
	}
	row := make([]ttl.Term, len(t.set.Vars))
	t.set.Rows = append(t.set.Rows, row)
	return row, nil
}

// columns returns the index of each variable by its name.
func (t *table) columns() map[string]int {
	index := make(map[string]int, len(t.set.Vars))
	for i, v := range t.set.Vars {
		index[v] = i
	}
	return index
}

// literal makes a literal of what a document says of it.
func literal(value, lang, datatype string) (ttl.Term, error) {
	t := ttl.NewTyped(value, datatype)
	if lang != "" {
		if datatype != "" && datatype != ttl.RDFLangString {
			return t, errs.New(errs.Invalid, "a literal has both a language and a datatype")
		}
		t = ttl.NewLang(value, lang)
	}
	return t, t.Validate()
}

// blank makes a blank node of a label.
func blank(label string) (ttl.Term, error) {
	t := ttl.NewBlank(label)
	return t, t.Validate()
}

// iri makes an IRI, which has to be absolute.
func iri(value string) (ttl.Term, error) {
	t := ttl.NewIRI(value)
	return t, t.Validate()
}
