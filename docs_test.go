package banyan_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestEveryDirectDependencyHasItsLine holds docs/DEPENDENCIES.md to go.mod, in
// both directions.
func TestEveryDirectDependencyHasItsLine(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("docs/DEPENDENCIES.md")
	if err != nil {
		t.Fatal(err)
	}
	direct := map[string]bool{}
	for line := range strings.Lines(string(mod)) {
		if m := regexp.MustCompile(`^\t(\S+) v\S+\s*$`).FindStringSubmatch(line); m != nil {
			direct[m[1]] = true
			if !strings.Contains(string(doc), "| "+m[1]+" |") {
				t.Errorf("%s is required directly and has no line", m[1])
			}
		}
	}
	if len(direct) == 0 {
		t.Fatal("no direct dependency was found in go.mod")
	}
	for _, m := range regexp.MustCompile(`(?m)^\| (\S+\.\S+/\S+) \|`).FindAllStringSubmatch(string(doc), -1) {
		if !direct[m[1]] {
			t.Errorf("%s has a line and is not required directly", m[1])
		}
	}
}

// TestDocumentsLinkToWhatIsThere follows every relative link of the documents.
func TestDocumentsLinkToWhatIsThere(t *testing.T) {
	links := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	files := []string{"README.md"}
	entries, err := os.ReadDir("docs")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		files = append(files, "docs/"+e.Name())
	}
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		dir := strings.TrimSuffix(file, file[strings.LastIndex(file, "/")+1:])
		for _, m := range links.FindAllStringSubmatch(string(text), -1) {
			found++
			if _, err := os.Stat(dir + m[1]); err != nil {
				t.Errorf("%s links to %s, which is not there", file, m[1])
			}
		}
	}
	if found == 0 {
		t.Error("no link was found")
	}
}
