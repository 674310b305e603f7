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
			why = patternFault(p)
		}
		if why != "" {
			f.add("/artifacts/", i, "", "artifact pattern "+quote(p)+" "+why)
		}
	}
	return f.err("check artifact patterns")
}

// patternFault says what is wrong with a pattern, "" if nothing is. It asks
// more than path.Match: runtimes match with means of their own, to which a
// range that runs backwards, or a letter with a meaning of its own behind a
// backslash, is an error, and none of them may fail for a pattern let through.
func patternFault(pattern string) string {
	if strings.Count(pattern, "**") > 1 {
		return `has "**" more than once`
	}
	for segment := range strings.SplitSeq(pattern, "/") {
		if _, err := path.Match(segment, "x"); err != nil {
			return "is not a pattern"
		}
		if why := classFault(segment); why != "" {
			return why
		}
	}
	return ""
}

// classFault looks at the [classes] of a segment that path.Match takes.
func classFault(segment string) string {
	rest := segment
	for rest != "" {
		c := rest[0]
		rest = rest[1:]
		switch c {
		case '\\':
			_, n := utf8.DecodeRuneInString(rest)
			rest = rest[n:]
		case '[':
			var why string
			if why, rest = rangesFault(strings.TrimPrefix(rest, "^")); why != "" {
				return why
			}
		}
	}
	return ""
}

// rangesFault looks at the ranges of a class up to its bracket, and returns
// what is behind it.
func rangesFault(s string) (why, rest string) {
	for first := true; s != "" && (first || s[0] != ']'); first = false {
		lo, escaped, behind := classRune(s)
		hi := lo
		if strings.HasPrefix(behind, "-") {
			var e bool
			hi, e, behind = classRune(behind[1:])
			escaped = escaped || e
		}
		if escaped {
			return "has a letter or digit behind a backslash in brackets; leave the backslash out", ""
		}
		if hi < lo {
			return "has a range in brackets that runs backwards", ""
		}
		s = behind
	}
	return "", strings.TrimPrefix(s, "]")
}

// classRune reads one character of a class. Escaped says that it is a letter or
// digit behind a backslash.
func classRune(s string) (r rune, escaped bool, rest string) {
	slash := strings.HasPrefix(s, `\`)
	if slash {
		s = s[1:]
	}
	r, n := utf8.DecodeRuneInString(s)
	return r, slash && (unicode.IsLetter(r) || unicode.IsDigit(r)), s[n:]
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
