package main

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cleanLine makes text from elsewhere safe to print on one line of a terminal:
// control characters, which could move the cursor or forge lines, and the
// invisible ones that reorder text are replaced.
func cleanLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == 0x2028, r == 0x2029:
			return utf8.RuneError
		}
		return r
	}, s)
}

// count writes how many there are of a thing.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// shellQuote writes s so that a POSIX shell reads it back as one word.
func shellQuote(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=:,@%+", r))
	})
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// table prints rows: aligned under a header on a terminal, separated by tabs
// and without header elsewhere, so that cut and awk can read them.
func (a *app) table(header []string, rows [][]string) error {
	var b strings.Builder
	if !a.tty {
		for _, row := range rows {
			for i, cell := range row {
				if i > 0 {
					b.WriteByte('\t')
				}
				b.WriteString(cleanLine(cell))
			}
			b.WriteByte('\n')
		}
		return a.printf("%s", b.String())
	}
	all := append([][]string{header}, rows...)
	width := make([]int, len(header))
	for _, row := range all {
		for i := range row {
			row[i] = cleanLine(row[i])
			width[i] = max(width[i], utf8.RuneCountInString(row[i]))
		}
	}
	for n, row := range all {
		line := alignRow(row, width)
		if n == 0 {
			line = a.paint(bold, line)
		}
		b.WriteString(line + "\n")
	}
	return a.printf("%s", b.String())
}

// alignRow pads all cells but the last.
func alignRow(row []string, width []int) string {
	var b strings.Builder
	for i, cell := range row {
		b.WriteString(cell)
		if i < len(row)-1 {
			b.WriteString(strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)+2))
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// The styles, as SGR parameters.
const (
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
)

// paint styles text on a terminal that can show it and whose user wants it.
func (a *app) paint(style, s string) string {
	if !a.tty || a.env("NO_COLOR") != "" || a.env("TERM") == "dumb" {
		return s
	}
	return "\x1b[" + style + "m" + s + "\x1b[0m"
}
