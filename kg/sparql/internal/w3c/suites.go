package w3c

import "os"

// DirEnv names the folder of the suites; RequireEnv, if "1", makes their
// absence a failure.
const (
	DirEnv     = "BANYAN_W3C_DIR"
	RequireEnv = "BANYAN_REQUIRE_W3C"
)

// Suite is a manifest that is run, and how many tests are reached from it.
type Suite struct {
	Manifest string
	Tests    int
}

// Suites lists the manifests that are run. Not among them are the folders
// protocol and graph-store-protocol of SPARQL 1.1, which describe HTTP
// requests, sparql10/open-world/sameTerm-manifest.ttl, which no manifest
// includes and whose queries do not exist, and the one reading of
// sparql10/optional-filter that its manifest leaves out in favour of the other.
func Suites() []Suite {
	return []Suite{
		{"sparql10/manifest.ttl", 482},
		{"sparql10/sort/extended-manifest.ttl", 1},
		{"sparql11/manifest.ttl", 495},
		{"sparql11/syntax-fed/manifest.ttl", 3},
	}
}

// TB is what finding the suites needs of a test.
type TB interface {
	Helper()
	Skip(args ...any)
	Fatal(args ...any)
}

// Open returns the SPARQL suites' files, or skips the test with the reason.
func Open(t TB) Files {
	t.Helper()
	dir := os.Getenv(DirEnv)
	if dir == "" {
		const why = DirEnv + " does not name a copy of the W3C rdf-tests"
		if os.Getenv(RequireEnv) == "1" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	return Files{Dir: dir + "/sparql"}
}
