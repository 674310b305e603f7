package rungs_test

import (
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/rungs"
)

// FuzzCheckPath holds the check against the standard library's own idea of a
// path that stays where it is.
func FuzzCheckPath(f *testing.F) {
	for _, p := range []string{"a", "../x", "a/b", "a/../b", "", ".", "..", "/a", "a//b", "a/", "..a/b..", "a\x00", "ü", "\\..\\x", "a\xff"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		err := rungs.CheckPath(p)
		if err == nil && (!filepath.IsLocal(p) || path.Clean(p) != p || strings.ContainsRune(p, 0)) {
			t.Errorf("%q was accepted", p)
		}
		if err != nil && len(err.Error()) > 600 {
			t.Errorf("the error about it has %d bytes", len(err.Error()))
		}
	})
}

// FuzzMatchArtifact holds the linear match against one that tries everything.
func FuzzMatchArtifact(f *testing.F) {
	for _, c := range [][2]string{{"*.png", "a.png"}, {"**/*.png", "d/a.png"}, {"d/**", "d"}, {"d/**/x", "d/x"}, {"[", "x"}, {"a?b", "a/b"}} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, pattern, p string) {
		if rungs.CheckPatterns([]string{pattern}) != nil || rungs.CheckPath(p) != nil {
			return
		}
		want := slowMatch(strings.Split(pattern, "/"), strings.Split(p, "/"))
		if got := rungs.MatchArtifact(pattern, p); got != want {
			t.Errorf("MatchArtifact(%q, %q) = %v, want %v", pattern, p, got, want)
		}
	})
}

func slowMatch(pattern, p []string) bool {
	if len(pattern) == 0 {
		return len(p) == 0
	}
	if pattern[0] == "**" {
		for i := range len(p) + 1 {
			if slowMatch(pattern[1:], p[i:]) {
				return true
			}
		}
		return false
	}
	if len(p) == 0 {
		return false
	}
	ok, err := path.Match(pattern[0], p[0])
	return err == nil && ok && slowMatch(pattern[1:], p[1:])
}
