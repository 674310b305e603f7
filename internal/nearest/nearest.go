// Package nearest guesses which known name a mistyped one was meant to be.
package nearest

import "strings"

// MaxLen is the longest name, in bytes, that is compared: the comparison is
// quadratic, and the name comes from outside.
const MaxLen = 64

// Of returns the known name nearest to the given one, without regard to case,
// or "" if none is near: a third of its letters and one more may differ. Of
// several at the same distance it is the first.
func Of(name string, known []string) string {
	if len(name) > MaxLen {
		return ""
	}
	best, least := "", len(name)/3+2
	for _, k := range known {
		if len(k) > MaxLen {
			continue
		}
		if n := distance(strings.ToLower(name), strings.ToLower(k)); n < least {
			best, least = k, n
		}
	}
	return best
}

// distance is the edit distance of Levenshtein (1965), over bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
