package main

import (
	"os/exec"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestCleanLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 漢":         "plain é 漢",
		"a\tb\nc\r":         "a b c ",
		"\x1b[31mred\x07":   "\uFFFD[31mred\uFFFD",
		"\u202Eevil\u2066":  "\uFFFDevil\uFFFD",
		"c1 \u009b31m":      "c1 \uFFFD31m",
		"two\u2028lines":    "two\uFFFDlines",
		"invalid \xff text": "invalid \uFFFD text",
	} {
		if got := cleanLine(in); got != want {
			t.Errorf("cleanLine(%q) = %q; want %q", in, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		if strings.ContainsFunc(cleanLine(s), unicode.IsControl) {
			t.Fatalf("cleanLine(%q) keeps a control character", s)
		}
	})
}

// What is quoted comes back from a shell as it was.
func TestShellQuote(t *testing.T) {
	for in, want := range map[string]string{"": "''", "a.py": "a.py", "print(6*7)": "'print(6*7)'", "it's": `'it'\''s'`} {
		if got := shellQuote(in); got != want {
			t.Errorf("shellQuote(%q) = %s; want %s", in, got, want)
		}
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh: ", err)
	}
	for _, in := range []string{"$(id) `id` \\ \"x\" 'y' !", "a\nb", "*", "~", "-n", "é"} {
		out, err := exec.Command(sh, "-c", "printf %s "+shellQuote(in)).Output()
		if err != nil || string(out) != in {
			t.Errorf("%q came back as %q, %v", in, out, err)
		}
	}
}

func TestTables(t *testing.T) {
	ta := newTestApp(t)
	rows := func() [][]string { return [][]string{{"é", "two\twords"}, {"long", ""}} }
	if err := ta.table([]string{"A", "B"}, rows()); err != nil {
		t.Fatal(err)
	}
	if got, want := ta.out.String(), "A     B\né     two words\nlong\n"; got != want {
		t.Errorf("on a terminal: %q; want %q", got, want)
	}
	ta.out.Reset()
	ta.tty = false
	if err := ta.table([]string{"A", "B"}, rows()); err != nil {
		t.Fatal(err)
	}
	if got, want := ta.out.String(), "é\ttwo words\nlong\t\n"; got != want {
		t.Errorf("in a pipe: %q; want %q", got, want)
	}
}

func TestColourIsForTerminalsOnlyAndCanBeTurnedOff(t *testing.T) {
	for _, tc := range []struct {
		tty   bool
		vars  map[string]string
		plain bool
	}{
		{true, nil, false},
		{true, map[string]string{"NO_COLOR": "1"}, true},
		{true, map[string]string{"TERM": "dumb"}, true},
		{false, nil, true},
	} {
		ta := newTestApp(t)
		delete(ta.vars, "NO_COLOR")
		ta.tty = tc.tty
		for k, v := range tc.vars {
			ta.vars[k] = v
		}
		if got := ta.paint(red, "x") == "x"; got != tc.plain {
			t.Errorf("%+v: plain = %t", tc, got)
		}
	}
}
