package errs_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seed-ff860830/banyan/internal/errs"
)

func TestEveryKindHasATableEntry(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range errs.Kinds() {
		if k.String() == "" || seen[k.String()] {
			t.Errorf("kind %d: name %q is empty or used twice", k, k)
		}
		seen[k.String()] = true
		if s := k.HTTPStatus(); s < 400 || s > 599 {
			t.Errorf("kind %s: HTTP status %d is not an error", k, s)
		}
		if c := k.ExitCode(); c < 1 || c > 5 {
			t.Errorf("kind %s: exit code %d is not one of banyan's own", k, c)
		}
		if got := errs.ParseKind(k.String()); got != k {
			t.Errorf("ParseKind(%q) = %s", k, got)
		}
	}
}

func TestUnclassifiedErrorsAreInternalAndHidden(t *testing.T) {
	err := fmt.Errorf("open /etc/secret: %w", errors.New("permission denied"))
	if k := errs.KindOf(err); k != errs.Internal {
		t.Errorf("KindOf = %s, want internal", k)
	}
	if s := errs.Public(err); s == err.Error() {
		t.Errorf("Public shows the text of an unclassified error: %q", s)
	}
}

func TestPublicShowsTheSentenceNotTheCause(t *testing.T) {
	err := fmt.Errorf("outer: %w", errs.Wrap(errs.Invalid, errors.New("secret path"), "bad file name %q", "../x").WithHint("rename it"))
	if got, want := errs.Public(err), `bad file name "../x"`; got != want {
		t.Errorf("Public = %q, want %q", got, want)
	}
	if got := errs.HintOf(err); got != "rename it" {
		t.Errorf("HintOf = %q", got)
	}
	if !errors.Is(err, &errs.Error{Kind: errs.Invalid}) || errors.Is(err, &errs.Error{Kind: errs.NotFound}) {
		t.Error("errors.Is does not match by kind")
	}
}
