package planner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
)

// pythonCases are programs and what they import, as a space-separated list.
var pythonCases = []struct{ name, code, want string }{
	{"empty", "", ""},
	{"plain", "import numpy", "numpy"},
	{"list and as", "import a.b as c, d,e as f", "a.b d e"},
	{"order, each once", "import b\nimport a\nimport b\nfrom a import x", "b a"},
	{"from", "from matplotlib import pyplot as plt\nfrom a.b import (\n  c, # import x\n  d,\n)\nimport z", "matplotlib a.b z"},
	{"from star", "from os.path import *", "os.path"},
	{"relative", "from . import a\nfrom .b import c\nfrom ...d.e import f\nfrom . b import c\nfrom ... import x\nimport y", "y"},
	{"blanks between", "import\ta . b\\\n .c\f as d , e\nfrom x\\\r\n.y import(z)", "a.b.c e x.y"},
	{"no blank behind", "from.a import b\nfrom a import(b)\nimport\\\nc", "a c"},
	{"semicolons", "x = 1; import a; from b import c;import d", "a b d"},
	{"one-line bodies", "try: import a\nexcept ImportError: import b\nelse:import c\nif x: y = 1; import d", "a b c d"},
	{"indented", "def f():\n    import a\n    class C:\n\timport b\n", "a b"},
	{"conditional", "if TYPE_CHECKING:\n    from a import b\nelif x:\n    import c", "a c"},
	{"words like it", "important = 1\nimport_x = 2\nx.import_module('a')\n__import__('b')\nfrom_ = 3", ""},
	{"from elsewhere", "def f():\n  yield from a\n  raise X from b\n  x = (yield\n from c)", ""},
	{"comment", "# import a\nx = 1 # import b\n#\\\nimport c", "c"},
	{"strings", "'import a'\n\"import b\"\n'''\nimport c\n'''\n\"\"\"\nimport d\n\"\"\"\nimport e", "e"},
	{"string prefixes", "r'\\\\'\nimport a\nb\"x\"\nRb'''\nimport b\n'''\nimport c", "a c"},
	{"raw keeps its quote", "x = r'\\'; import a'\nimport b", "b"},
	{"escapes", "x = '\\\\'; import a\ny = '\\'; import b'\nz = 'x\\\nimport c'\nimport d", "a d"},
	{"empty strings", "x = ''; import a\ny = \"\"; import b\nz = ''''''; import c", "a b c"},
	{"quotes in triple", "x = '''a'b''c\\''''; import a\ny = \"\"\"\"\nimport b\"\"\"", "a"},
	{"joined strings", "x = 'a' 'import b' \"c\"; import d", "d"},
	{"keyword before a string", "if'a':import b\nx = 1 if\"c\"else'd'; import e\nassert'f'or\"g\"; import h", "b e h"},
	{"f-string", "x = f'{a}import b{c!r:>{w}}'; import d", "d"},
	{"f-string braces", "x = f'{{'; import a\ny = f'}}{{{b}}}'; import c\nz = f'{ {1:2}[1] }'; import d", "a c d"},
	{"f-string triple", "x = f'''\nimport a\n{\nb\n}'''\nimport c", "c"},
	{"f-string other quotes", "x = f\"{d['}']}{e['\\\"']}\"; import a", "a"},
	{"f-string named character", "x = f'\\N{LEFT CURLY BRACKET}'; import a\ny = fr'\\N{b}'; import c", "a c"},
	{"f-string raw is no named character", "x = fr\"\\N{d['{']}\"; import a", "a"},
	{"f-string escape in a format", "x = f'{a:\\'};import b'; import c", "c"},
	{"f-string format never closed", "x = f'{a:b\nimport c", "c"},
	{"f-string format ends with the string", "x = f'{a:b'; import c", "c"},
	{"as nothing", "import a as\nimport b", "b"},
	{"f-string backslash", "x = f'\\{a}\\n\\'{b}'; import c\ny = rf'\\{a}\\''; import d", "c d"},
	{"f-string same quotes, 3.12", "x = f'{a['b']}{f'{f'{1}'}'}'; import c", "c"},
	{"f-string comment, 3.12", "x = f'''{\na # }'''\n}import b'''\nimport c", "c"},
	{"f-string format", "x = f'{a:{b}{c}}:{d:%H:%M}'; import e", "e"},
	{"t-string, 3.14", "x = t'{a['b']}'; import c", "c"},
	{"brackets over lines", "x = [\nimport_,\n1, # import b\n]\nimport a", "a"},
	{"colons in brackets", "x = a[1:2]; y = {1:2}\nz: int = 1\nf = lambda: 0\nif (n := 1): import a", "a"},
	{"old print", "print('x'); import a\n", "a"},
	{"decorator", "@a.b(c)\ndef f(): import d", "d"},
	{"line ends", "import a\r\nimport b\rimport c\n\rimport d", "a b c d"},
	{"byte order mark", "\uFEFFimport a", "a"},
	{"form feed", "\fimport a\n\f\nimport b", "a b"},
	{"no name", "import\nimport 1\nfrom import x\nimport ,\nimport a", "a"},
	{"two words", "import a b\nimport c", "c"},
	{"half a list", "import a,\nimport b", "a b"},
	{"beyond ASCII is left out", "import h\u00e9llo, a\nfrom \uFB01le import b\nimport c", "a c"},
	{"string never closed", "x = 'abc\nimport a", "a"},
	{"triple never closed", "x = '''abc\nimport a", ""},
	{"bracket never closed", "x = (\nimport a", ""},
	{"bracket too many", "x = )\nimport a", "a"},
	{"NUL ends it", "import a\n\x00import b", "a"},
	{"backslash at the end", "import a\\", "a"},
	{"stray backslash", "import a \\ b\nimport c", "a c"},
	{"future", "from __future__ import annotations", "__future__"},
	{"keyword inside a dotted name", "x.import_\nx = y .from_", ""},
}

func TestPythonImports(t *testing.T) {
	for _, tc := range pythonCases {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(strings.Fields(tc.want), append([]string{}, planner.Imports("python", tc.code)...)); diff != "" {
				t.Errorf("%q (-want +got):\n%s", tc.code, diff)
			}
		})
	}
}

func TestImportsOfAnUnknownSyntax(t *testing.T) {
	if got := planner.Imports("cobol", "import a"); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestImportsAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 2 * planner.MaxImportNames {
		b.WriteString("import m" + strings.Repeat("x", i) + "\n")
	}
	got := planner.Imports("python", b.String())
	if len(got) > planner.MaxImportNames {
		t.Errorf("%d names", len(got))
	}
	for _, n := range got {
		if len(n) > ontology.MaxNameLen {
			t.Errorf("a name of %d bytes", len(n))
		}
	}
	// What stands behind the bound is not read, and no name is cut in two.
	long := "import a\n" + strings.Repeat(" ", planner.MaxImportBytes-len("import a\nimport bc")) + "import bcd\n"
	if diff := cmp.Diff([]string{"a"}, planner.Imports("python", long)); diff != "" {
		t.Error(diff)
	}
	if got := planner.Imports("python", strings.Repeat("x", 2*planner.MaxImportBytes)); len(got) != 0 {
		t.Errorf("got %v of one endless line", got)
	}
}

// Deep nesting must neither overflow the stack nor take quadratic time: a
// program is a stranger's text.
func TestImportsSurviveDeepNesting(t *testing.T) {
	n := planner.MaxImportBytes / 8
	for name, unit := range map[string]string{
		"f-strings": "f'{", "alternating": "f\"{f'{", "formats": "{x:", "brackets": "([{", "backslashes": "\\\n",
		"quotes": "'''", "commas": "import a,", "dots": "import a.", "from dots": "from .", "colons": ":", "named": "f'\\N{",
	} {
		t.Run(name, func(t *testing.T) {
			planner.Imports("python", strings.Repeat(unit, n/len(unit)))
			planner.Imports("python", "f'"+strings.Repeat(unit, n/len(unit)))
		})
	}
}

func TestDropLocal(t *testing.T) {
	names := []string{"helper", "pkg.sub", "numpy", "native", "data"}
	files := []string{"helper.py", "pkg/__init__.py", "./native.cpython-311.so", "data.csv", "numpy.txt"}
	if diff := cmp.Diff([]string{"numpy", "data"}, planner.DropLocal(names, files)); diff != "" {
		t.Error(diff)
	}
	if names[0] != "helper" {
		t.Error("the argument was changed")
	}
}

func TestNeedFromImports(t *testing.T) {
	runtime := kg.Runtime{Namespace: ontology.PythonNS, StandardModules: []string{"os", "json", "xml"}}
	declared := map[string]kg.Capability{
		"numpy":             {ImportName: "numpy"},
		"matplotlib":        {ImportName: "matplotlib"},
		"matplotlib.pyplot": {ImportName: "matplotlib.pyplot"},
		"google.cloud":      {ImportName: "google.cloud"},
		"misnamed":          {ImportName: "other"},
		"os":                {ImportName: "os"},
		"packed":            {Bundle: true},
		"sklearn":           {ID: py("scikit-learn")[0], ImportName: "sklearn"},
	}
	known := func(c ontology.Capability) (kg.Capability, bool) {
		k, ok := declared[c.Module()]
		return k, ok
	}
	for _, tc := range []struct {
		name  string
		names string
		want  []ontology.Capability
	}{
		{"none", "", py()},
		{"declared", "numpy", py("numpy")},
		{"undeclared", "pandas", py("pandas")},
		{"standard", "os os.path json xml.etree", py()},
		{"never needed", "__future__ __main__ banyan banyan.x", py()},
		{"longest prefix", "matplotlib.pyplot matplotlib.pyplot.x matplotlib.cm", py("matplotlib.pyplot", "matplotlib")},
		{"prefix without its parent", "google.cloud.storage.blob google.auth", py("google.cloud", "google")},
		{"undeclared prefix", "a.b.c a.d", py("a")},
		{"declared under another import name", "misnamed.x", py("misnamed")},
		{"declared by another name", "sklearn.linear_model", py("scikit-learn")},
		{"a bundle is not imported", "packed.x", py("packed")},
		{"once, in order", "pandas numpy pandas.io", py("pandas", "numpy")},
		{"not a name", "1a a..b . " + strings.Repeat("x", 300), py("a")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := planner.NeedFromImports(strings.Fields(tc.names), runtime, known)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got := planner.NeedFromImports([]string{"a.b"}, runtime, nil); !slices.Equal(got, py("a")) {
		t.Errorf("without a graph: %v", got)
	}
}

func FuzzPythonImports(f *testing.F) {
	for _, tc := range pythonCases {
		f.Add(tc.code)
	}
	f.Fuzz(func(t *testing.T, code string) {
		names := planner.Imports("python", code)
		if len(names) > planner.MaxImportNames {
			t.Fatalf("%d names", len(names))
		}
		for i, n := range names {
			for part := range strings.SplitSeq(n, ".") {
				if part == "" || strings.Trim(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
					t.Fatalf("%q is not a module name", n)
				}
			}
			if slices.Contains(names[:i], n) {
				t.Fatalf("%q comes twice", n)
			}
			for part := range strings.SplitSeq(n, ".") {
				if !strings.Contains(code, part) {
					t.Fatalf("%q is not in the text", part)
				}
			}
		}
		// An import in front of a program is found, whatever follows.
		if got := planner.Imports("python", "import zzz\n"+strings.TrimPrefix(code, "\uFEFF")); len(got) == 0 || got[0] != "zzz" {
			t.Fatalf("an import in front is lost: %v", got)
		}
		planner.NeedFromImports(names, kg.Runtime{Namespace: ontology.PythonNS}, nil)
	})
}
