package w3c_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg/sparql/internal/w3c"
	"github.com/seed-ff860830/banyan/ttl"
)

// fake is an engine with fixed answers.
type fake struct {
	parse error
	w3c.Answer
	after w3c.Dataset
	err   error
}

func (f fake) ParseQuery(string, string) error  { return f.parse }
func (f fake) ParseUpdate(string, string) error { return f.parse }

func (f fake) Query(context.Context, w3c.Dataset, string, string) (w3c.Answer, error) {
	return f.Answer, f.err
}

func (f fake) Update(_ context.Context, before w3c.Dataset, text, base string) (w3c.Dataset, error) {
	if len(before[""]) != 1 || text != "update" || !strings.HasSuffix(base, "/u.ru") {
		return nil, errors.New("the test was handed on wrongly")
	}
	return f.after, f.err
}

func TestRunJudgesEveryKindOfTest(t *testing.T) {
	f := fixture(t, map[string]string{
		"q.rq": "query", "u.ru": "update", "d.ttl": head + ":a :b :c .", "r.tsv": "?x\n1\n",
	})
	const b = w3c.Base
	good, bad := w3c.Test{Text: b + "q.rq"}, w3c.Test{Text: b + "q.rq", Bad: true}
	update := w3c.Test{Kind: w3c.UpdateSyntax, Text: b + "u.ru", Bad: true}
	query := w3c.Test{Kind: w3c.Evaluation, Text: b + "q.rq", Result: b + "r.tsv"}
	data := w3c.DatasetFiles{Default: []string{b + "d.ttl"}}
	change := w3c.Test{Kind: w3c.UpdateEval, Text: b + "u.ru", Before: data, After: data}
	same, err := f.Dataset(data)
	if err != nil {
		t.Fatal(err)
	}
	invalid, limit := errs.New(errs.Invalid, "x"), errs.New(errs.TooLarge, "x")
	for name, c := range map[string]struct {
		test   w3c.Test
		engine fake
		pass   bool
	}{
		"a good text":              {good, fake{}, true},
		"a good text refused":      {good, fake{parse: invalid}, false},
		"a bad text":               {bad, fake{parse: invalid}, true},
		"a bad text taken":         {bad, fake{}, false},
		"a bad text over a limit":  {bad, fake{parse: limit}, false},
		"a bad update":             {update, fake{parse: invalid}, true},
		"a bad update taken":       {update, fake{}, false},
		"the right answer":         {query, fake{Answer: w3c.Answer{Set: rows(t, "?x", "1")}}, true},
		"a wrong answer":           {query, fake{Answer: w3c.Answer{Set: rows(t, "?x", "2")}}, false},
		"no answer":                {query, fake{}, false},
		"an error":                 {query, fake{err: limit}, false},
		"the right change":         {change, fake{after: same}, true},
		"the wrong change":         {change, fake{after: w3c.Dataset{"": {{S: ttl.NewIRI("x:a"), P: ttl.NewIRI("x:b"), O: ttl.NewIRI("x:c")}}}}, false},
		"an error of an update":    {change, fake{err: limit}, false},
		"a text that is not there": {w3c.Test{Text: b + "none.rq"}, fake{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := f.Run(t.Context(), c.engine, c.test)
			if (o.Err == nil) != c.pass {
				t.Errorf("%v, want a pass: %t", o.Err, c.pass)
			}
			judged := c.test.Kind >= w3c.Evaluation && c.pass
			if (o.Mutants > 0) != judged || len(o.Unseen) > 0 {
				t.Errorf("%d mutations, %v not seen", o.Mutants, o.Unseen)
			}
		})
	}
}
