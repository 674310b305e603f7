package kg

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// A comma or a colon behind the document is something behind the document.
func TestNothingStandsBehindAJSONDocument(t *testing.T) {
	for _, tc := range []struct {
		text string
		ok   bool
	}{
		{`{}`, true},
		{" {} \r\n\t", true},
		{`{},`, false},
		{`{}:`, false},
		{`{} ,,`, false},
		{`[],`, false},
		{`{}{}`, false},
		{`{} x`, false},
	} {
		if _, _, err := readJSON(t.Context(), strings.NewReader(tc.text)); (err == nil) != tc.ok {
			t.Errorf("%q: %v, want it taken: %v", tc.text, err, tc.ok)
		}
	}
}

// Places are the same in whatever order they are asked for.
func TestPlacesOfAJSONDocument(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString(`["`)
	for b.Len() < 20_000 {
		b.WriteString([]string{"é", "x", "long enough to leave a line", "𝄞", `", ` + "\n" + `"`}[rng.IntN(5)])
	}
	b.WriteString(`"]`)
	text := b.String()
	tree, _, err := readJSON(context.Background(), strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		at := rng.IntN(len(text) + 10)
		for at < len(text) && !utf8.RuneStart(text[at]) {
			at++
		}
		before := text[:min(at, len(text))]
		line := 1 + strings.Count(before, "\n")
		column := 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
		if l, c := tree.place(at); l != line || c != column {
			t.Fatalf("offset %d is at %d:%d, want %d:%d", at, l, c, line, column)
		}
	}
}
