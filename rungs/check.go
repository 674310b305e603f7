package rungs

import (
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// The bounds on what is handed to a job beside its files. The kernel takes at
// most 128 KiB in one argument or variable (MAX_ARG_STRLEN) and a quarter of
// the stack in all; these stay below on every platform.
const (
	MaxArgs          = 256       // arguments of one job
	MaxArgBytes      = 64 << 10  // one argument
	MaxArgsBytes     = 256 << 10 // all arguments together
	MaxEnv           = 256       // variables of one job
	MaxEnvNameBytes  = 256       // one variable's name
	MaxEnvValueBytes = 32 << 10  // one variable's value
	MaxEnvBytes      = 256 << 10 // all names and values together
	MaxPatterns      = 64        // artifact patterns of one job
)

// CheckArgs returns an Invalid error if args cannot be a program's arguments.
func CheckArgs(args []string) error {
	if len(args) > MaxArgs {
		return errs.New(errs.Invalid, "the job has %d arguments; at most %d are allowed", len(args), MaxArgs)
	}
	var f faults
	total := 0
	for i, a := range args {
		total += len(a)
		why := ""
		switch {
		case len(a) > MaxArgBytes:
			why = " has " + itoa(int64(len(a))) + " bytes; at most " + itoa(MaxArgBytes) + " are allowed"
		case hasNUL(a):
			why = " has a NUL in it"
		case !utf8.ValidString(a):
			why = " is not UTF-8"
		}
		if why != "" {
			f.add("/args/", i, "", "argument "+itoa(int64(i+1))+why)
		}
	}
	if total > MaxArgsBytes {
		f.add("/args", -1, "", "the arguments have "+itoa(int64(total))+" bytes together; at most "+itoa(MaxArgsBytes)+" are allowed")
	}
	return f.err("check arguments")
}

// CheckEnv returns an Invalid error if env cannot be a process's environment.
func CheckEnv(env map[string]string) error {
	if len(env) > MaxEnv {
		return errs.New(errs.Invalid, "there are %d environment variables; at most %d are allowed", len(env), MaxEnv)
	}
	var f faults
	total := 0
	for _, name := range slices.Sorted(maps.Keys(env)) {
		total += len(name) + len(env[name])
		if why := envFault(name, env[name]); why != "" {
			f.add("/env", -1, "", "environment variable "+quote(name)+" "+why)
		}
	}
	if total > MaxEnvBytes {
		f.add("/env", -1, "", "the environment has "+itoa(int64(total))+" bytes; at most "+itoa(MaxEnvBytes)+" are allowed")
	}
	return f.err("check environment")
}

func envFault(name, value string) string {
	switch {
	case name == "":
		return "has no name"
	case len(name) > MaxEnvNameBytes:
		return "has a name of " + itoa(int64(len(name))) + " bytes; at most " + itoa(MaxEnvNameBytes) + " are allowed"
	case strings.Contains(name, "="):
		return "has '=' in its name"
	case strings.ContainsFunc(name, unicode.IsControl) || !utf8.ValidString(name):
		return "has a name that is not text"
	case len(value) > MaxEnvValueBytes:
		return "has a value of " + itoa(int64(len(value))) + " bytes; at most " + itoa(MaxEnvValueBytes) + " are allowed"
	case hasNUL(value):
		return "has a NUL in its value"
	case !utf8.ValidString(value):
		return "has a value that is not UTF-8"
	}
	return ""
}

// CheckPatterns returns an Invalid error if a pattern cannot name artifacts.
// See MatchArtifact for what patterns mean.
func CheckPatterns(patterns []string) error {
	if len(patterns) > MaxPatterns {
		return errs.New(errs.Invalid, "the job has %d artifact patterns; at most %d are allowed", len(patterns), MaxPatterns)
	}
	var f faults
	for i, p := range patterns {
		why := pathFault(p)
		if why == "" {
			if _, err := path.Match(p, "x"); err != nil {
				why = "is not a pattern"
			} else if strings.Count(p, "**") > 1 {
				why = `has "**" more than once`
			}
		}
		if why != "" {
			f.add("/artifacts/", i, "", "artifact pattern "+quote(p)+" "+why)
		}
	}
	return f.err("check artifact patterns")
}

// MatchArtifact reports whether a pattern that CheckPatterns accepts asks for
// the file at p, both relative and slash-separated. "*", "?" and "[…]" are as
// in path.Match and do not cross a slash; a segment that is "**" stands for
// any number of segments, none included. Only one may stand in a pattern,
// which keeps the match linear in the length of p.
func MatchArtifact(pattern, p string) bool {
	want, have := strings.Split(pattern, "/"), strings.Split(p, "/")
	deep := slices.Index(want, "**")
	if deep < 0 {
		return len(want) == len(have) && matchSegments(want, have)
	}
	head, tail := want[:deep], want[deep+1:]
	if len(have) < len(head)+len(tail) {
		return false
	}
	return matchSegments(head, have[:len(head)]) && matchSegments(tail, have[len(have)-len(tail):])
}

func matchSegments(patterns, names []string) bool {
	for i, p := range patterns {
		if ok, err := path.Match(p, names[i]); err != nil || !ok {
			return false
		}
	}
	return true
}
