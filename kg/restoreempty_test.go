package kg

import (
	"os"
	"path/filepath"
	"testing"
)

// A folder that was empty when the restore began may not be when it ends: what
// is in it by then is kept.
func TestRestoreRemovesOnlyAnEmptyFolder(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		gone  bool
	}{
		"empty":            {nil, true},
		"the owner's file": {[]string{ownerName}, true},
		"a foreign file":   {[]string{ownerName, "notes.txt"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, f := range c.files {
				if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := removeEmpty(dir); got != c.gone {
				t.Errorf("removed: %v, want %v", got, c.gone)
			}
			if _, err := os.Stat(filepath.Join(dir, "notes.txt")); !c.gone && err != nil {
				t.Errorf("the foreign file: %v", err)
			}
		})
	}
}
