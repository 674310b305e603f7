package planner_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan/planner"
)

// oracle reads a JSON list of programs and answers, for each, the modules that
// Python's own parser finds imported, in order, or null for a syntax error.
const oracle = `
import ast, json, sys, warnings
warnings.simplefilter("ignore")
sys.setrecursionlimit(5000)
def names(code):
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, node.col_offset, i, a.name) for i, a in enumerate(node.names)]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.append((node.lineno, node.col_offset, 0, node.module))
    return list(dict.fromkeys(n for _, _, _, n in sorted(found) if n.isascii()))
json.dump([names(code) for code in json.load(sys.stdin)], sys.stdout)
`

// library lists the source files of Python's library, and of numpy if it is there.
const library = `
import glob, importlib.util, json, os
roots = [os.path.dirname(os.__file__)]
numpy = importlib.util.find_spec("numpy")
if numpy: roots += numpy.submodule_search_locations
print(json.dumps([f for r in roots for f in sorted(glob.glob(r + "/**/*.py", recursive=True))][:400]))
`

// python runs a script in the reference Python, or skips the test.
func python(t *testing.T, script string, stdin []byte) []byte {
	t.Helper()
	bin := os.Getenv("BANYAN_PYTHON")
	if bin == "" {
		bin = "/usr/bin/python3"
	}
	if _, err := os.Stat(bin); err != nil {
		t.Skipf("no reference Python to compare with: %v; set BANYAN_PYTHON", err)
	}
	cmd := exec.CommandContext(t.Context(), bin, "-I", "-c", script)
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the oracle failed: %v", err)
	}
	return out
}

// compare holds Imports against the oracle and returns how many programs were valid.
func compare(t *testing.T, programs []string) (valid int) {
	t.Helper()
	in, err := json.Marshal(programs)
	if err != nil {
		t.Fatal(err)
	}
	var want [][]string
	if err := json.Unmarshal(python(t, oracle, in), &want); err != nil || len(want) != len(programs) {
		t.Fatalf("%d answers to %d programs: %v", len(want), len(programs), err)
	}
	wrong := 0
	for i, code := range programs {
		if want[i] == nil {
			continue // a syntax error: there is nothing to agree on
		}
		valid++
		got := append([]string{}, planner.Imports("python", code)...)
		if diff := cmp.Diff(want[i], got); diff != "" {
			if wrong++; wrong <= 5 {
				t.Errorf("program %d (-python +ours):\n%s\n%.2000q", i, diff, code)
			}
		}
	}
	return valid
}

func TestPythonImportsAgreeWithPythonOnTheTable(t *testing.T) {
	var programs []string
	for _, tc := range pythonCases {
		programs = append(programs, tc.code)
	}
	// A name that Python folds to ASCII is the one thing we leave out and it does not.
	programs = slices.DeleteFunc(programs, func(p string) bool { return strings.Contains(p, "\uFB01") })
	if valid := compare(t, programs); valid < len(programs)/2 {
		t.Errorf("only %d of %d cases are programs", valid, len(programs))
	}
}

func TestPythonImportsAgreeWithPythonOnItsLibrary(t *testing.T) {
	var files []string
	if err := json.Unmarshal(python(t, library, nil), &files); err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		files = files[:min(len(files), 200)]
	}
	var programs []string
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err == nil && utf8.Valid(b) && len(b) <= planner.MaxImportBytes {
			programs = append(programs, string(b))
		}
	}
	valid := compare(t, programs)
	if valid < 50 {
		t.Errorf("only %d of %d files are programs", valid, len(programs))
	}
	t.Logf("%d files agree", valid)
}

func TestPythonImportsAgreeWithPythonOnMadeUpPrograms(t *testing.T) {
	n := 4000
	if testing.Short() {
		n = 500
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	g := maker{rand.New(rand.NewPCG(seed, 1))}
	programs := make([]string, n)
	for i := range programs {
		programs[i] = g.program()
	}
	valid := compare(t, programs)
	if valid < n/3 {
		t.Errorf("only %d of %d made-up programs are valid", valid, n)
	}
	t.Logf("%d of %d programs are valid, and agree", valid, n)
}

// maker makes up programs that are hard to read: import statements in every
// dress, and every place where one only seems to be.
type maker struct{ *rand.Rand }

func (m maker) pick(of ...string) string { return of[m.IntN(len(of))] }

func (m maker) program() string {
	var b strings.Builder
	for range 1 + m.IntN(6) {
		b.WriteString(m.statement(""))
	}
	return b.String()
}

// statement makes a statement with its line end, at an indent.
func (m maker) statement(indent string) string {
	end := m.pick("\n", "\n", "\r\n", " # import no\n", "\n\n", ";\n")
	switch m.IntN(8) {
	case 0, 1, 2:
		return indent + m.simple() + end
	case 3:
		return indent + m.simple() + m.pick(";", " ; ") + m.simple() + end
	case 4:
		return indent + m.head() + m.pick("", " ") + m.simple() + "\n"
	case 5, 6:
		if len(indent) > 8 {
			return indent + m.simple() + end
		}
		body := ""
		for range 1 + m.IntN(2) {
			body += m.statement(indent + "  ")
		}
		return indent + m.head() + m.pick("\n", " # from no import x\n", "\n\n") + body
	default:
		return indent + "try:" + m.simple() + "\n" + indent + "except X:" + m.simple() + "\n"
	}
}

func (m maker) head() string {
	return m.pick("if x:", "while "+m.expr()+":", "for i in "+m.expr()+":", "def f(a: int = 1, *b) -> c:", "class C(a.b):",
		"with a as b:", "if (n := 1):", "async def f():", "if x[1:2] == {1: 2}:", "if"+m.str()+":")
}

func (m maker) simple() string {
	switch m.IntN(7) {
	case 0, 1:
		return m.importing()
	case 2:
		return "x = " + m.expr()
	case 3:
		return m.expr()
	case 4:
		return m.pick("pass", "x: int = 1", "f = lambda a, b=1: a", "raise X from y", "assert "+m.expr(), "import_ = 1", "del from_, x")
	case 5:
		return "f(" + m.gap() + m.expr() + "," + m.gap() + m.expr() + m.gap() + ")"
	default:
		return "x = {" + m.expr() + ":" + m.gap() + m.expr() + "}[" + m.expr() + ":" + m.expr() + "]"
	}
}

func (m maker) importing() string {
	if m.IntN(2) == 0 {
		s := "import" + m.sep() + m.dotted() + m.as()
		for range m.IntN(3) {
			s += m.blank() + "," + m.blank() + m.dotted() + m.as()
		}
		return s
	}
	from := m.pick("", "", "", ".", "..", ". . ", "...")
	what := m.pick("x", "x as y", "x, y as z", "*", "(x)", "(\n x, # import no\n y,\n)", "(x as\n y)")
	if from != "" && m.IntN(3) == 0 {
		return "from" + m.blank() + from + m.blank() + "import " + what
	}
	return "from" + m.sep() + from + m.dotted() + m.sep() + "import" + m.sep() + what
}

func (m maker) dotted() string {
	s := m.word()
	for range m.IntN(3) {
		s += m.blank() + "." + m.blank() + m.word()
	}
	return s
}

func (m maker) word() string {
	return m.pick("a", "b", "c1", "_d", "numpy", "imports", "fromage", "f", "rb", "asx", "é", "X")
}

func (m maker) as() string {
	return m.pick("", "", m.sep()+"as"+m.sep()+m.word())
}

func (m maker) sep() string   { return m.pick(" ", " ", "  ", "\t", " \\\n", "\\\n ", "\f ", " \\\r\n ") }
func (m maker) blank() string { return m.pick("", "", "", " ", "\\\n", "\t") }

// gap is what may stand between tokens inside brackets.
func (m maker) gap() string { return m.pick("", " ", "\n", " # import no\n", "\r\n", "\n\nimport_,") }

func (m maker) expr() string {
	return m.pick("x", "1", "0x1f", "1.5e3", "a.b", "not x", "(yield_)", "(x if y else z)", m.str(), m.str(), m.str()+m.str(), m.fstr(0), m.fstr(0), "["+m.str()+", x]")
}

// str makes a plain string with treacherous content.
func (m maker) str() string {
	quote := m.pick("'", "\"", "'''", "\"\"\"")
	var b strings.Builder
	for range m.IntN(4) {
		b.WriteString(m.pick("import no", ";import no", "\\"+quote[:1], "\\\\", "#", "{", "}", "\\\nimport no", "x", " ", "\\n"))
		if len(quote) == 3 {
			b.WriteString(m.pick("\nimport no\n", quote[:1]+"x", "'x", "\"x", "\r\nfrom no import x\r\n"))
		} else {
			b.WriteString(m.pick("", map[string]string{"'": "\"", "\"": "'"}[quote]))
		}
	}
	return m.pick("", "", "r", "R", "b", "Br", "rB", "u") + quote + b.String() + quote
}

// fstr makes an f-string that is valid before Python 3.12 too.
func (m maker) fstr(depth int) string {
	quote := []string{"'''", "\"\"\"", "'", "\""}[min(depth, 2)+m.IntN(1+min(1, depth))]
	if depth == 0 {
		quote = m.pick("'", "\"", "'''", "\"\"\"")
	}
	var b strings.Builder
	for range m.IntN(5) {
		b.WriteString(m.pick("import no", ";import no;", "{{", "}}", "#", " ", "\\n", "\\N{DIGIT ONE}", "\\"+quote[:1], "x"))
		b.WriteString(m.pick("", "{x}", "{x!r}", "{x:>10}", "{x:{w}.{p}}", "{x=}", "{ {1:2}[1] }", "{(lambda a: a)(1)}", "{x:%H:%M}", "{(n:=1)}", "{a[1:2]}", "{x!r:^{w}}", "{x:{{}}}"))
		if len(quote) == 3 {
			b.WriteString(m.pick("", "\nimport no\n", "{\nx\n}", "{d['}']}", "{d[\"{\"]}"))
		}
		if depth == 0 && m.IntN(4) == 0 && len(quote) == 3 {
			b.WriteString("{" + m.fstr(2) + "}")
		}
	}
	return m.pick("f", "F", "fr", "Rf", "rF") + quote + b.String() + quote
}
