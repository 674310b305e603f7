package results_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg/sparql/results"
	"github.com/seed-ff860830/banyan/ttl"
)

// all reads a stream to its end.
func all(src io.Reader, l results.Limits) (*results.Set, error) {
	r, err := results.NewTSVReader(src, l)
	if err != nil {
		return nil, err
	}
	set := &results.Set{Vars: r.Vars()}
	for {
		row, err := r.Row()
		if errors.Is(err, io.EOF) {
			return set, nil
		}
		if err != nil {
			return set, err
		}
		set.Rows = append(set.Rows, row)
	}
}

// The stream is read as the whole document is.
func TestTSVReaderAgreesWithRead(t *testing.T) {
	for _, doc := range []string{
		"", "\n", "?x\n", "?x\t?y\n<http://e/a>\t\"a\\tb\\n\"@en\n\t12\n", "?x\r\n_:b\r\ntrue", "?x\n\n\n1",
		"\n\n\n", "?x\n" + strings.Repeat("\"long\"\n", 30_000), "?x\n\"" + strings.Repeat("z", 200_000) + "\"\n",
		"?x\n1\t2\n", "x\n", "?x\t?x\n", "?x\n<no\n", "?x\n\xff\n",
	} {
		whole, werr := results.Read(strings.NewReader(doc), results.TSV, results.Limits{})
		got, err := all(iotest.HalfReader(strings.NewReader(doc)), results.Limits{})
		if errs.KindOf(werr) != errs.KindOf(err) || (werr == nil) != (err == nil) {
			t.Errorf("%.40q: %v; Read says %v", doc, err, werr)
			continue
		}
		if werr == nil {
			if diff := cmp.Diff(whole, got); diff != "" {
				t.Errorf("%.40q: -Read +TSVReader\n%s", doc, diff)
			}
		}
	}
}

func TestTSVReaderTellsABrokenStream(t *testing.T) {
	broken := errs.New(errs.Unavailable, "cut off")
	src := io.MultiReader(strings.NewReader("?x\n1\n2\n"), iotest.ErrReader(broken))
	got, err := all(src, results.Limits{})
	if !errors.Is(err, broken) || errs.KindOf(err) != errs.Unavailable {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([][]ttl.Term{{ttl.NewTyped("1", ttl.XSDInteger)}, {ttl.NewTyped("2", ttl.XSDInteger)}}, got.Rows); diff != "" {
		t.Error(diff)
	}
	if _, err := all(iotest.ErrReader(broken), results.Limits{}); !errors.Is(err, broken) {
		t.Errorf("in the head: %v", err)
	}
}

func TestTSVReaderIsBounded(t *testing.T) {
	endless := io.MultiReader(strings.NewReader("?x\n\""), zeros{})
	if _, err := all(endless, results.Limits{Bytes: 1 << 20}); errs.KindOf(err) != errs.TooLarge {
		t.Errorf("an endless line: %v", err)
	}
	if _, err := all(strings.NewReader("?a\t?b\t?c\n"), results.Limits{Vars: 2}); errs.KindOf(err) != errs.TooLarge {
		t.Errorf("too many variables: %v", err)
	}
	if _, err := all(strings.NewReader(""), results.Limits{Vars: -1}); errs.KindOf(err) != errs.Invalid {
		t.Errorf("a negative limit: %v", err)
	}
}

// zeros is an endless stream of the digit 0.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}
