package results_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan/kg/sparql/results"
	"github.com/seed-ff860830/banyan/ttl"
)

// fuzzReader checks that a reader neither crashes nor passes its limits, and
// that what it takes is the same set when it is written and read again.
func fuzzReader(f *testing.F, format results.Format) {
	for _, doc := range broken[format] {
		if len(doc) < 10_000 {
			f.Add([]byte(doc))
		}
	}
	for _, c := range oneTerm {
		if c.format == format {
			f.Add([]byte(c.doc))
		}
	}
	f.Add([]byte(map[results.Format]string{results.JSON: sampleJSON, results.XML: sampleXML, results.CSV: sampleCSV, results.TSV: sampleTSV}[format]))
	limits := results.Limits{Bytes: 1 << 16, Rows: 1000, Vars: 50, Cells: 5000, Depth: 20}
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := results.Read(bytes.NewReader(data), format, limits)
		if err != nil {
			return
		}
		if len(first.Vars) > limits.Vars || len(first.Rows) > limits.Rows {
			t.Fatalf("%d variables and %d rows", len(first.Vars), len(first.Rows))
		}
		var out bytes.Buffer
		if err := first.Write(&out, format); err != nil {
			t.Fatalf("what was read cannot be written: %v\n%+v", err, first)
		}
		doc := out.String()
		second, err := results.Read(&out, format, results.Limits{})
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%q", err, doc)
		}
		if diff := cmp.Diff(normal(relabel(first)), normal(second)); diff != "" {
			t.Fatalf("(-want +got):\n%s\n%q", diff, doc)
		}
	})
}

// relabel gives blank nodes the labels that writers give them.
func relabel(s *results.Set) *results.Set {
	for _, row := range s.Rows {
		for i, t := range row {
			if t.Kind == ttl.Blank {
				row[i] = ttl.NewBlank(ttl.WritableLabel(t.Value))
			}
		}
	}
	return s
}

func FuzzReadJSON(f *testing.F) { fuzzReader(f, results.JSON) }
func FuzzReadXML(f *testing.F)  { fuzzReader(f, results.XML) }
func FuzzReadCSV(f *testing.F)  { fuzzReader(f, results.CSV) }
func FuzzReadTSV(f *testing.F)  { fuzzReader(f, results.TSV) }

func FuzzNegotiate(f *testing.F) {
	f.Add(`text/csv;q=0.5, */*;q=.1, x/y;a="\","`)
	f.Fuzz(func(t *testing.T, accept string) {
		offers := results.Formats()
		if f, ok := results.Negotiate(accept, offers); ok && f.MediaType() == "" {
			t.Fatal("a format that was not offered")
		}
	})
}
