package w3c

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// Engine is what is under test. Each call stands for itself: Query and Update
// begin with a store that holds the dataset and nothing else, and relative
// IRIs resolve against base, which is the IRI of the text's file.
type Engine interface {
	ParseQuery(text, base string) error
	ParseUpdate(text, base string) error
	Query(ctx context.Context, before Dataset, text, base string) (Answer, error)
	Update(ctx context.Context, before Dataset, text, base string) (Dataset, error)
}

// Outcome is what became of a test.
type Outcome struct {
	Err     error    // why the test failed; nil if it passed
	Mutants int      // the wrong answers that the judge was shown, if it passed
	Unseen  []string // those of them that it let pass
}

// Run puts a test to an engine. If it passes, the judge is shown mutations of
// the engine's own answer.
func (f Files) Run(ctx context.Context, e Engine, t Test) Outcome {
	text, err := f.Text(t.Text)
	if err != nil {
		return Outcome{Err: err}
	}
	switch t.Kind {
	case QuerySyntax:
		return Outcome{Err: parsed(e.ParseQuery(text, t.Text), t.Bad)}
	case UpdateSyntax:
		return Outcome{Err: parsed(e.ParseUpdate(text, t.Text), t.Bad)}
	}
	before, err := f.Dataset(t.Before)
	if err != nil {
		return Outcome{Err: err}
	}
	if t.Kind == UpdateEval {
		return f.runUpdate(ctx, e, t, before, text)
	}
	return f.runQuery(ctx, e, t, before, text)
}

// parsed judges what a parser says. An error of another kind than Invalid,
// such as a limit, does not say that the text is no SPARQL.
func parsed(err error, bad bool) error {
	switch {
	case !bad:
		return err
	case err == nil:
		return errors.New("it parses, and must not")
	case errs.KindOf(err) != errs.Invalid:
		return fmt.Errorf("refused for another reason than its syntax: %w", err)
	}
	return nil
}

func (f Files) runQuery(ctx context.Context, e Engine, t Test, before Dataset, text string) (o Outcome) {
	want, err := f.Expected(t)
	if err != nil {
		return Outcome{Err: err}
	}
	got, err := e.Query(ctx, before, text, t.Text)
	if err != nil {
		return Outcome{Err: err}
	}
	if o.Err = want.Compare(got); o.Err != nil {
		return o
	}
	for name, wrong := range Mutations(got) {
		o.Mutants++
		if want.Compare(wrong) == nil {
			o.Unseen = append(o.Unseen, name)
		}
	}
	return o
}

func (f Files) runUpdate(ctx context.Context, e Engine, t Test, before Dataset, text string) (o Outcome) {
	want, err := f.Dataset(t.After)
	if err != nil {
		return Outcome{Err: err}
	}
	got, err := e.Update(ctx, before, text, t.Text)
	if err != nil {
		return Outcome{Err: err}
	}
	if o.Err = CompareDatasets(got, want); o.Err != nil {
		return o
	}
	for name, wrong := range MutateDataset(got) {
		o.Mutants++
		if CompareDatasets(wrong, want) == nil {
			o.Unseen = append(o.Unseen, name)
		}
	}
	return o
}
