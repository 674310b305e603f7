package w3c_test

import (
	"path"
	"testing"

	"github.com/seed-ff860830/banyan/kg/sparql/internal/w3c"
)

// TestW3CSuitesAreReadWhole reads every manifest, every data file and every
// expected answer, and shows the judge on each of these without any engine:
// the answer itself passes, and none of its mutations does.
func TestW3CSuitesAreReadWhole(t *testing.T) {
	files := w3c.Open(t)
	judged, mutants, rdfxml := 0, 0, map[string]bool{}
	for _, suite := range w3c.Suites() {
		tests, err := files.Load(suite.Manifest)
		if err != nil {
			t.Fatal(err)
		}
		if len(tests) != suite.Tests {
			t.Errorf("%s: %d tests, want %d", suite.Manifest, len(tests), suite.Tests)
		}
		for _, test := range tests {
			note(rdfxml, test)
			n, err := selfJudge(files, test)
			if err != nil {
				t.Errorf("%s/%s: %v", test.Folder, test.Name, err)
			}
			if n > 0 {
				judged++
			}
			mutants += n
		}
	}
	t.Logf("%d expected answers judged right, %d mutations of them wrong; %d files in RDF/XML", judged, mutants, len(rdfxml))
	if judged != 613 || len(rdfxml) != 16 {
		t.Errorf("%d answers were judged and %d files in RDF/XML read, want %d and 16", judged, len(rdfxml), 613)
	}
}

func note(rdfxml map[string]bool, test w3c.Test) {
	files := append([]string{test.Result}, test.Before.Default...)
	for _, g := range test.Before.Named {
		files = append(files, g.File)
	}
	for _, f := range files {
		if path.Ext(f) == ".rdf" {
			rdfxml[f] = true
		}
	}
}

// selfJudge compares a test's expected answer with itself and its mutations,
// and returns how many of these there were.
func selfJudge(files w3c.Files, test w3c.Test) (mutants int, err error) {
	if _, err := files.Text(test.Text); err != nil {
		return 0, err
	}
	if _, err := files.Dataset(test.Before); err != nil {
		return 0, err
	}
	switch test.Kind {
	case w3c.UpdateEval:
		want, err := files.Dataset(test.After)
		if err != nil {
			return 0, err
		}
		return judgeDataset(want)
	case w3c.Evaluation, w3c.CSVResult:
		want, err := files.Expected(test)
		if err != nil {
			return 0, err
		}
		return judgeAnswer(want)
	}
	return 0, nil
}
