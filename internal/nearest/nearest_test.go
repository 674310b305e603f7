package nearest_test

import (
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/internal/nearest"
)

func TestOf(t *testing.T) {
	known := []string{"timeout", "limits", "code", "args"}
	for _, c := range []struct{ name, want string }{
		{"timeuot", "timeout"},
		{"TIMEOUT", "timeout"},
		{"limit", "limits"},
		{"cod", "code"},
		{"arg", "args"},
		{"stdin", ""},
		{"", ""},
		{strings.Repeat("a", nearest.MaxLen+1), ""},
	} {
		if got := nearest.Of(c.name, known); got != c.want {
			t.Errorf("Of(%q) = %q, want %q", c.name, got, c.want)
		}
	}
	if got := nearest.Of("x", nil); got != "" {
		t.Errorf("of nothing: %q", got)
	}
	if got := nearest.Of("code", []string{strings.Repeat("c", nearest.MaxLen+1), "code"}); got != "code" {
		t.Errorf("beside a long name: %q", got)
	}
}
