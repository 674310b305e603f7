package banyan_test

import (
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
)

func TestErrorsOfAnImportWithoutANameSayWhere(t *testing.T) {
	e := open(t, banyan.Config{})
	_, err := e.Import(t.Context(), strings.NewReader("<http://e/a> ."), banyan.ImportOptions{Graph: "http://e/g"})
	if text := errs.Public(err); errs.KindOf(err) != errs.Invalid || !strings.HasPrefix(text, "document:1:") {
		t.Errorf("error %q (%s)", text, errs.KindOf(err))
	}
}
