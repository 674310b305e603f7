package forkserver

import (
	"maps"
	"slices"
)

// baseEnv is the environment of every parent and so of every job. It is all:
// nothing of the daemon's own environment reaches a parent. Numeric libraries
// are held to one thread, since a parent with threads cannot be forked.
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

// environ returns the environment of a parent whose spec adds extra.
func environ(extra map[string]string) []string {
	all := maps.Clone(baseEnv)
	maps.Copy(all, extra)
	out := make([]string, 0, len(all))
	for _, k := range slices.Sorted(maps.Keys(all)) {
		out = append(out, k+"="+all[k])
	}
	return out
}
