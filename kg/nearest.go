package kg

import (
	"strings"

	"github.com/seed-ff860830/banyan/ontology"
)

// nearest returns the local name of the vocabulary that a mistyped one most
// likely meant, "" if none is near: a third of the letters may differ.
func nearest(name string) string {
	if len(name) > 64 {
		return ""
	}
	best, at := "", len(name)/3+1
	for _, t := range ontology.Terms {
		local, _ := cutBase(t)
		if d := distance(strings.ToLower(name), strings.ToLower(local)); d < at || d == at && best == "" {
			best, at = local, d
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
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
