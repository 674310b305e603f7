package planner

import (
	"slices"
	"strings"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
)

// MaxImportNames bounds the names that Imports returns.
const MaxImportNames = 256

// MaxImportBytes bounds how much of a program Imports reads. What stands behind
// it is imported by the job itself: slower, never wrong.
const MaxImportBytes = 1 << 20

// scanners are the ways to read imports, by the name of the syntax.
var scanners = map[string]func(code string) []string{
	"python": pythonImports,
}

// Imports returns the modules that a program imports, as dotted names in order
// of appearance, each once ("matplotlib.pyplot", "numpy"). syntax names how the
// code is to be read ("python"); an unknown one yields none.
//
// It reads the program's text, it does not run it: an import inside a string or
// a comment does not count, one under an "if" does, and one by importlib is not
// seen. Relative imports and names that are not plain ASCII are left out. A
// program with a syntax error yields what was found. Time is linear in the text.
func Imports(syntax, code string) []string {
	scan, ok := scanners[syntax]
	if !ok {
		return nil
	}
	if len(code) > MaxImportBytes {
		// Cut at a line's end, so that half a name is never taken for a whole one.
		code = code[:strings.LastIndexByte(code[:MaxImportBytes], '\n')+1]
	}
	return scan(code)
}

// neverNeeded are names that no snapshot needs to hold: the program itself, the
// language's own switches, and the module through which a job speaks with
// Banyan, which every child has.
var neverNeeded = []string{"__main__", "__future__", "banyan"}

// DropLocal leaves out the names that a job's own files provide: "helper" for
// helper.py, "pkg" for anything under pkg/. They are modules of that job only.
func DropLocal(names, files []string) []string {
	own := make(map[string]bool, len(files))
	for _, f := range files {
		first, _, isFolder := strings.Cut(strings.TrimPrefix(f, "./"), "/")
		if stem, _, _ := strings.Cut(first, "."); isFolder || strings.HasSuffix(first, ".py") || strings.HasSuffix(first, ".so") {
			own[stem] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return own[topLevel(n)] })
}

// NeedFromImports turns imported names into capabilities of a runtime. Modules
// that come with the runtime are dropped: they are no reason for a snapshot.
// Of a dotted name, the longest prefix that known has a capability for is taken
// (known says so only where the capability's import name is that very prefix),
// else the top-level module. Order is kept, each capability comes once, and
// names that cannot be capabilities are dropped. known may be nil.
func NeedFromImports(names []string, runtime kg.Runtime, known func(ontology.Capability) (kg.Capability, bool)) []ontology.Capability {
	standard := make(map[string]bool, len(runtime.StandardModules)+len(neverNeeded))
	for _, m := range runtime.StandardModules {
		standard[m] = true
	}
	for _, m := range neverNeeded {
		standard[m] = true
	}
	need := make([]ontology.Capability, 0, len(names))
	seen := make(map[ontology.Capability]bool, len(names))
	for _, name := range names {
		if standard[topLevel(name)] || standard[name] {
			continue
		}
		if c, ok := capabilityOf(name, runtime.Namespace, known); ok && !seen[c] {
			seen[c] = true
			need = append(need, c)
		}
	}
	return need
}

// capabilityOf finds the capability that stands for an imported name.
func capabilityOf(name string, ns ontology.IRI, known Known) (ontology.Capability, bool) {
	if len(name) > ontology.MaxNameLen { // also bounds the loop below
		return "", false
	}
	for prefix := name; known != nil && prefix != ""; prefix = parentModule(prefix) {
		c, err := ontology.NewCapability(ns, prefix)
		if err != nil {
			continue
		}
		if k, ok := known(c); ok && !k.Bundle && k.ImportName == prefix {
			if k.ID != "" {
				c = k.ID // declared under another name than it is imported by
			}
			return c, true
		}
	}
	c, err := ontology.NewCapability(ns, topLevel(name))
	return c, err == nil
}

// topLevel returns "a" of "a.b.c".
func topLevel(name string) string {
	top, _, _ := strings.Cut(name, ".")
	return top
}

// parentModule returns "a.b" of "a.b.c", "" of "a".
func parentModule(name string) string {
	return name[:max(strings.LastIndexByte(name, '.'), 0)]
}
