// Package pyhost is what the rungs that start the Python agent on this host have
// in common: the clean environment, the search for an interpreter, the agent's
// source as a sealed memory file, the thread that starts processes, how a job's
// end is judged, and what a report of loaded modules means as capabilities.
package pyhost

import (
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// baseEnv is all of the environment that a job has beside its spec's and its
// own: nothing of the daemon's reaches it. Numeric libraries are held to one
// thread, since a parent with threads cannot be forked; a cold job gets the
// same, so that it computes the same.
var baseEnv = map[string]string{
	"HOME":                   "/tmp",
	"PATH":                   "/usr/local/bin:/usr/bin:/bin",
	"LANG":                   "C.UTF-8",
	"MPLBACKEND":             "Agg",
	"OPENBLAS_NUM_THREADS":   "1",
	"OMP_NUM_THREADS":        "1",
	"MKL_NUM_THREADS":        "1",
	"NUMEXPR_NUM_THREADS":    "1",
	"VECLIB_MAXIMUM_THREADS": "1",
}

// Environ returns the base environment with more laid over it, later ones
// last, as "name=value", sorted.
func Environ(more ...map[string]string) []string {
	all := maps.Clone(baseEnv)
	for _, m := range more {
		maps.Copy(all, m)
	}
	out := make([]string, 0, len(all))
	for _, k := range slices.Sorted(maps.Keys(all)) {
		out = append(out, k+"="+all[k])
	}
	return out
}

// searchPath is where a runtime's bare name is looked for: fixed, since the
// daemon's own PATH is whoever started it's.
var searchPath = []string{"/usr/local/bin", "/usr/bin", "/bin"}

// FindExecutable returns the absolute path of a runtime's executable, or an
// Unavailable error.
func FindExecutable(name string) (string, error) {
	candidates := []string{name}
	if !filepath.IsAbs(name) {
		candidates = candidates[:0]
		for _, dir := range searchPath {
			candidates = append(candidates, filepath.Join(dir, name))
		}
	}
	for _, path := range candidates {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", errs.New(errs.Unavailable, "there is no interpreter %q on this host", name).
		WithHint("apt-get install python3")
}
